"""Offsets and hashes of archived text: the arithmetic behind every citation."""

from __future__ import annotations

import hashlib


def sha256_text(text: str) -> str:
    """Hex sha256 of the UTF-8 bytes of `text`. A lone surrogate has no UTF-8 form: UnicodeEncodeError."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def slice_matches(canonical: str, start: int, end: int, quote_sha256: str) -> bool:
    """Whether code points [start, end) of `canonical` are exactly the quoted text.

    False, never an exception, for offsets outside the text, reversed or empty ones. Python's negative
    offsets count from the end, which a citation never means.
    """
    if not 0 <= start < end <= len(canonical):
        return False
    return sha256_text(canonical[start:end]) == quote_sha256.lower()


def to_utf16(text: str, offset: int) -> int:
    """The UTF-16 code unit offset (JavaScript, Java) of a code point offset. ValueError outside the text."""
    if not 0 <= offset <= len(text):
        raise ValueError(f"offset {offset} is outside a text of {len(text)} code points")
    return offset + sum(char > "\uffff" for char in text[:offset])


def from_utf16(text: str, offset: int) -> int:
    """The code point offset of a UTF-16 code unit offset.

    ValueError outside the text, and in the middle of a surrogate pair: there is no character there.
    """
    units = 0
    for index, char in enumerate(text):
        if units == offset:
            return index
        units += 2 if char > "\uffff" else 1
    if units == offset:
        return len(text)
    raise ValueError(f"UTF-16 offset {offset} is outside the text or inside a surrogate pair")
