"""Folding that keeps every character in its place: half width, simplified Chinese, lower case.

Each step maps one code point to one code point, so an offset into the folded text is an offset into the
original. NFKC is not used because it changes lengths (… ½ ㎏ ﬁ).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache

from opencc import OpenCC

_FULL_WIDTH_OFFSET = 0xFEE0

# Blocks whose single-character compatibility forms are the same character drawn differently: PDF extraction
# yields the radicals (⽤ for 用), old encodings the compatibility ideographs, terminals the half-width kana.
_COMPATIBILITY_BLOCKS = ((0x2E80, 0x2FDF), (0xF900, 0xFAFF), (0xFF65, 0xFF9D), (0xFFE0, 0xFFE6))

_SPACES = (0x00A0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)
# Hyphen, non-breaking hyphen, small hyphens and the minus sign are typed for "-" in model numbers.
# The dashes (U+2013 to U+2015) are left: they are punctuation, and ranges need them.
_HYPHENS = (0x2010, 0x2011, 0x2212, 0xFE63)

_SURROGATE = re.compile("([\ud800-\udfff]+)")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")


def _width_table() -> dict[int, int]:
    table = {code: code - _FULL_WIDTH_OFFSET for code in range(0xFF01, 0xFF5F)}
    for first, last in _COMPATIBILITY_BLOCKS:
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(code))
            if len(plain) == 1 and ord(plain) != code:
                table[code] = ord(plain)
    table.update(dict.fromkeys(_SPACES, ord(" ")))
    table.update(dict.fromkeys(_HYPHENS, ord("-")))
    return table


_WIDTH = _width_table()
# Substituting the few wide characters is several times faster than str.translate over all of Chinese text.
_WIDE = re.compile("[" + "".join(map(chr, sorted(_WIDTH))) + "]")


@lru_cache(maxsize=1)
def _traditional_to_simplified() -> OpenCC:
    return OpenCC("t2s")


def fold_width(text: str) -> str:
    """Full-width and compatibility forms as their plain forms, one code point for one. Case is kept."""
    return text if text.isascii() else _WIDE.sub(lambda match: chr(_WIDTH[ord(match.group())]), text)


def fold(text: str) -> str:
    """Half width, simplified Chinese and lower case, with `len(fold(t)) == len(t)` and `fold(fold(t)) == fold(t)`.

    What has no one-to-one form stays as it is: 'İ' (two code points in lower case), '½', '…', '㎏'.
    """
    if text.isascii():
        return text.lower()
    return _simplify(_lower(fold_width(text)))


def _lower(text: str) -> str:
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := char.lower()) == 1 else char for char in text)


def _simplify(text: str) -> str:
    """t2s, repeated until nothing changes: a few characters take two steps (薴 → 苧 → 苎)."""
    for _ in range(4):
        simpler = "".join(
            part if _SURROGATE.fullmatch(part) else _simplify_once(part) for part in _SURROGATE.split(text)
        )
        if simpler == text:
            return text
        text = simpler
    return text


def _simplify_once(text: str) -> str:
    """One pass. Lone surrogates are kept from OpenCC by the caller: it takes UTF-8 only."""
    convert: Callable[[str], str] = _traditional_to_simplified().convert
    simpler = convert(text)
    if len(simpler) == len(text):
        return simpler
    return _NOT_ASCII.sub(lambda match: _same_length(match.group(), convert(match.group())), text)


def _same_length(before: str, after: str) -> str:
    return after if len(after) == len(before) else before
