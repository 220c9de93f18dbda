"""Bytes to text: Unicode first, GB18030 or Big5 where that fails; line ends made one. Nothing else is changed."""

from __future__ import annotations

import codecs
import re

from service.errors import SourceUnreadable

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINE_END = re.compile("\r\n?")
# Control characters that no text file has; form feed, tab and line feed are at home in text.
_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_MOST_BINARY = 0.001  # share of such characters above which a file is taken for binary
# Big5 bytes read as GB18030 are full of private characters (a fifth and more); real GB18030 has next to none.
_PRIVATE = re.compile("[\ue000-\uf8ff]")
_MOST_PRIVATE = 0.02


def decode(raw: bytes) -> str:
    """Text with LF line ends and without a byte order mark. Raises SourceUnreadable for what is not text."""
    text = _LINE_END.sub("\n", _decode(raw))
    if len(_BINARY.findall(text)) > _MOST_BINARY * len(text):
        raise SourceUnreadable("it is binary, not text; is its name right?")
    return text


def _decode(raw: bytes) -> str:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return raw.decode(encoding)
            except UnicodeDecodeError:
                raise SourceUnreadable(f"it begins like {encoding} and is not") from None
    for encoding in ("utf-8", "gb18030", "big5hkscs"):
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        if encoding == "utf-8" or len(_PRIVATE.findall(text)) <= _MOST_PRIVATE * len(text):
            return text
    raise SourceUnreadable("its encoding is neither UTF-8, UTF-16, GB18030 nor Big5; convert it to UTF-8")
