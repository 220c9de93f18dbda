"""Bytes to text, with how sure that is: Unicode first, GB18030 or Big5 where it is none; line ends made one.

Bytes of Big5 are mostly valid GB18030 and the reverse, and both may look like UTF-16; Latin-1 may look like any of
them. So each reading is judged by its characters: a text is made of common ones, a wrong reading of all kinds.
"""

from __future__ import annotations

import codecs
import itertools
import math
import re
from dataclasses import dataclass
from functools import cache

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
# Big5 has three dialects, of which each holds characters that the others lack.
_CANDIDATES = {
    "utf-16-le": ("utf-16-le",),
    "utf-16-be": ("utf-16-be",),
    "gb18030": ("gb18030",),
    "big5": ("big5hkscs", "cp950", "big5"),
}
_SAMPLE = 20_000  # characters that a reading is judged by; of a longer text its first
# Below it no reading is taken: real texts of 20 characters have 0.9 and more, Latin-1 read as Chinese under 0.5.
_PLAUSIBLE = 0.6
# Chinese letters stand together; accented Latin ones, read as Chinese, stand alone among ASCII letters.
_ALONE = re.compile("(?<=[A-Za-z])[^\x00-\x7f](?=[A-Za-z])")
_MOST_ALONE = 0.2


@dataclass(frozen=True, slots=True)
class Decoded:
    """A text, the encoding it was read in, and how sure that is: 1 where a mark or the bytes themselves say so, else
    between ½ (another reading is as good) and 1 (no other makes sense)."""

    text: str
    encoding: str
    confidence: float


def decode(raw: bytes) -> Decoded:
    """Text with LF line ends and without a byte order mark. Raises SourceUnreadable for what is not text."""
    found = _marked(raw) or _utf8(raw) or _judged(raw)
    text = _LINE_END.sub("\n", found.text)
    if len(_BINARY.findall(text)) > _MOST_BINARY * len(text):
        raise SourceUnreadable("it is binary, not text; is its name right?")
    return Decoded(text, found.encoding, found.confidence)


def _marked(raw: bytes) -> Decoded | None:
    for mark, encoding in _BOMS:
        if raw.startswith(mark):
            try:
                return Decoded(raw.decode(encoding), encoding.removesuffix("-sig"), 1.0)
            except UnicodeDecodeError:
                raise SourceUnreadable(f"it begins like {encoding} and is not") from None
    return None


def _utf8(raw: bytes) -> Decoded | None:
    """Nothing else is UTF-8 by chance but UTF-16 in ASCII letters: it is full of NUL."""
    if raw.count(0) > _MOST_BINARY * len(raw):
        return None
    try:
        return Decoded(raw.decode("utf-8"), "utf-8", 1.0)
    except UnicodeDecodeError:
        return None


def _judged(raw: bytes) -> Decoded:
    readings = []
    for encoding, codecs_of_it in _CANDIDATES.items():
        text = next(filter(None, (_read_as(raw, codec) for codec in codecs_of_it)), None)
        if text is not None:
            readings.append((_plausible(text), text, encoding))
    readings.sort(key=lambda reading: -reading[0])
    if not readings or readings[0][0] < _PLAUSIBLE:
        if raw.count(0):
            raise SourceUnreadable("it is binary, not text; is its name right?")
        raise SourceUnreadable("its encoding is neither UTF-8, UTF-16, GB18030 nor Big5; convert it to UTF-8")
    best, text, encoding = readings[0]
    lead = best - max(0.0, readings[1][0] if len(readings) > 1 else 0.0)
    # Each character is a piece of evidence as strong as the lead is wide.
    evidence = lead * min(_SAMPLE, sum(char > "\x7f" for char in text[:_SAMPLE]) or len(text))
    return Decoded(text, encoding, round(1 / (1 + math.exp(-evidence)), 3))


def _read_as(raw: bytes, codec: str) -> str | None:
    try:
        return raw.decode(codec)
    except UnicodeDecodeError:
        return None


def _plausible(text: str) -> float:
    """How much of a text that people write it is, up to 1: the mean weight of what is no ASCII, less for what no text
    has in it."""
    sample = text[:_SAMPLE]
    others = [char for char in sample if char > "\x7f"]
    controls = 10 * len(_BINARY.findall(sample)) / max(1, len(sample))
    if not others:
        return 1.0 - controls  # UTF-16 in ASCII letters
    if len(_ALONE.findall(sample)) > _MOST_ALONE * len(others):
        return 0.0
    weights = _weights()
    return sum(weights.get(char, _RARE) for char in others) / len(others) - controls


_RARE = 0.1  # any other letter: a name's, or that of another language
_SIGN = 0.5  # arrows, frames, numbers in circles
_NONE = -2.0  # private, unassigned, Hangul and Yi: half of what wrong readings give


@cache
def _weights() -> dict[str, float]:
    """Character → what it says for a reading. Common are the first levels of GB2312 and Big5: the characters of
    everyday text, 3755 simplified and 5401 traditional."""
    weights = dict.fromkeys(map(chr, (*range(0x2010, 0x2600), *range(0x3000, 0x3030))), _SIGN)
    weights |= dict.fromkeys(
        map(chr, (*range(0xE000, 0xF900), *range(0xA000, 0xD7B0), *range(0x80, 0xA0))), _NONE
    )
    for codec, leads, trails in (
        ("gb2312", range(0xB0, 0xD8), (*range(0xA1, 0xFF),)),
        ("big5", range(0xA4, 0xC6), (*range(0x40, 0x7F), *range(0xA1, 0xFF))),
        ("big5", range(0xC6, 0xC7), (*range(0x40, 0x7F),)),
    ):
        for code in itertools.product(leads, trails):
            weights |= dict.fromkeys(bytes(code).decode(codec, "ignore"), 1.0)
    weights |= dict.fromkeys(
        "　、。·—…‘’“”〈〉《》「」『』【】〔〕！（），：；？～％＋－０１２３４５６７８９", 1.0
    )
    return weights
