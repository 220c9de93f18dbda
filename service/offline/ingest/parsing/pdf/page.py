"""One page as PDFium has it: its words with place and style, and the lines drawn on it."""

from __future__ import annotations

import ctypes
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from service.domain.documents import Hyperlink, Span
from service.offline.ingest.parsing.pdf.annotations import Area, areas
from service.offline.ingest.parsing.pdf.drawing import rules
from service.offline.ingest.parsing.pdf.elements import Page, Style, Word, turned

# PDFium gives U+FFFE for a hyphen at the end of a line, and no line end behind it.
_TOKEN = re.compile("\n|\ufffe|[^\\s\ufffe]+")
_UNSEEN = dict.fromkeys((*range(32), *range(127, 160), 173, 8203, 65279, 65534, 65535))
_LETTERS = {
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st",
    # Bullets of Symbol and Wingdings, which Word writes into the private area.
    0xF0B7: "•", 0xF0A7: "▪", 0xF0A8: "▫", 0xF0D8: "➢", 0xF0FC: "✓", 0xF06F: "○",
}  # fmt: skip
_SHOWN = {**_UNSEEN, **_LETTERS}
_MONO = re.compile(r"mono|courier|consol|menlo|typewriter|fixed|cmtt|lucidacons|sourcecode|terminal", re.I)
_BOLD = re.compile(r"bold|black|heavy|semibd|demi\b", re.I)
_FIXED_PITCH, _FORCED_BOLD = 1, 1 << 18  # flags of a font descriptor


@dataclass(frozen=True, slots=True)
class _Look:
    """What the characters of one text object share."""

    style: Style
    angle: int  # degrees; text that runs upwards has 90


def read_page(raw: Any, document: Any, page: Any) -> Page:
    """`raw` is PDFium's C interface, `page` an opened page of the document."""
    handle = raw.FPDFText_LoadPage(page)
    if not handle:
        return Page((), (), (), 0, _shows_pictures(raw, page))
    try:
        text = _Text(raw, handle)
        upright, aside = text.words(areas(raw, document, page))
        scanned = not upright and not aside and _shows_pictures(raw, page)
        return Page(upright, aside, rules(raw, page, text.angle), text.count, scanned)
    finally:
        raw.FPDFText_ClosePage(handle)


def _shows_pictures(raw: Any, page: Any) -> bool:
    found = (raw.FPDFPage_GetObject(page, at) for at in range(raw.FPDFPage_CountObjects(page)))
    return any(raw.FPDFPageObj_GetType(one) != raw.FPDF_PAGEOBJ_TEXT for one in found)


class _Text:
    def __init__(self, raw: Any, handle: Any) -> None:
        self.raw, self.handle = raw, handle
        self.count: int = max(0, raw.FPDFText_CountChars(handle))
        self.angle = 0
        self._looks: dict[int, _Look] = {}
        self._fonts: dict[int, tuple[bool, bool]] = {}
        self._box = [ctypes.c_double() for _ in range(4)]
        self._loose = raw.FS_RECTF()
        self._matrix = raw.FS_MATRIX()

    def words(self, linked: Sequence[Area]) -> tuple[tuple[Word, ...], tuple[Word, ...]]:
        """Those in the direction in which most of the page is read, and the others; `linked` are areas that link."""
        placed: list[tuple[int, int, str, int, _Look]] = []  # first character, last one, text, line, look
        run = 0
        for token in _TOKEN.finditer(self._characters()):
            first, last = token.start(), token.end() - 1
            if token[0] == "\n":
                run += 1
            elif token[0] == "\ufffe":
                if placed and placed[-1][1] == first - 1:
                    before = placed.pop()
                    placed.append((before[0], before[1], before[2] + "-", run, before[4]))
                run += 1
            elif text := token[0].translate(_SHOWN):
                hyphen = "-" if token[0][-1] in "\xad\x02" else ""
                placed.append((first, last, text + hyphen, run, self._look(first)))
        angles: Counter[int] = Counter()
        for _, _, text, _, look in placed:
            angles[look.angle] += len(text)
        self.angle = angles.most_common(1)[0][0] if angles else 0
        upright: list[Word] = []
        aside: list[Word] = []
        for first, last, text, run, look in placed:
            x0, x1, y = self._place(first, last)
            links = tuple(self._links(first, last, linked)) if linked else ()
            word = Word(text, x0, x1, y, look.style, run, links)
            (upright if look.angle == self.angle else aside).append(word)
        return tuple(upright), tuple(aside)

    def _links(self, first: int, last: int, linked: Sequence[Area]) -> Iterator[Hyperlink]:
        """Where a word's text links: Chinese has no spaces, so a link may be a part of a word."""
        at = 0
        for href, own in groupby(range(first, last + 1), lambda index: self._href(index, linked)):
            shown = sum(len(chr(self.raw.FPDFText_GetUnicode(self.handle, i)).translate(_SHOWN)) for i in own)
            if href and shown:
                yield Hyperlink(Span(at, at + shown), href)
            at += shown

    def _href(self, index: int, linked: Sequence[Area]) -> str:
        self.raw.FPDFText_GetLooseCharBox(self.handle, index, self._loose)
        box = self._loose
        x, y = (box.left + box.right) / 2, (box.top + box.bottom) / 2
        return next((area.href for area in linked if area.holds(x, y)), "")

    def _characters(self) -> str:
        """The text with one code point for each of PDFium's characters."""
        buffer = (ctypes.c_ushort * (2 * self.count + 2))()
        units = self.raw.FPDFText_GetText(self.handle, 0, self.count, buffer)
        text = bytes(buffer)[: 2 * max(0, units - 1)].decode("utf-16-le", "replace")
        if len(text) == self.count:
            return text
        codes = (self.raw.FPDFText_GetUnicode(self.handle, i) for i in range(self.count))
        # 2 is a hyphen at the end of a line here.
        return "".join("\ufffe" if c == 2 else chr(c) if 0 < c < 0xD800 or 0xDFFF < c <= 0x10FFFF else "\ufffd"
                       for c in codes)  # fmt: skip

    def _look(self, index: int) -> _Look:
        found = self.raw.FPDFText_GetTextObject(self.handle, index)
        key = ctypes.cast(found, ctypes.c_void_p).value or 0
        if key not in self._looks:
            self.raw.FPDFText_GetMatrix(self.handle, index, self._matrix)
            m = self._matrix
            scale = math.hypot(m.c, m.d) or 1.0
            size = round(2 * scale * self.raw.FPDFText_GetFontSize(self.handle, index)) / 2
            angle = round(math.degrees(math.atan2(m.b, m.a))) % 360
            mono, bold = self._font(found) if found else (False, False)
            self._looks[key] = _Look(Style(max(size, 0.5), bold, mono), angle)
        return self._looks[key]

    def _font(self, found: Any) -> tuple[bool, bool]:
        font = self.raw.FPDFTextObj_GetFont(found)
        key = ctypes.cast(font, ctypes.c_void_p).value or 0
        if key not in self._fonts:
            name_buffer = ctypes.create_string_buffer(256)
            self.raw.FPDFFont_GetBaseFontName(font, name_buffer, 256)
            name = name_buffer.value.decode("latin-1")
            flags = max(0, self.raw.FPDFFont_GetFlags(font))
            mono = bool(flags & _FIXED_PITCH) or bool(_MONO.search(name))
            bold = bool(flags & _FORCED_BOLD) or bool(_BOLD.search(name))
            self._fonts[key] = (mono, bold or self.raw.FPDFFont_GetWeight(font) >= 700)
        return self._fonts[key]

    def _place(self, first: int, last: int) -> tuple[float, float, float]:
        x, y = self._box[:2]
        self.raw.FPDFText_GetCharOrigin(self.handle, first, x, y)
        sides = []
        for index in dict.fromkeys((first, last)):
            if self.raw.FPDFText_GetLooseCharBox(self.handle, index, self._loose):
                box = self._loose
                sides += [turned(box.left, box.top, self.angle), turned(box.right, box.bottom, self.angle)]
        origin = turned(x.value, y.value, self.angle)
        across = [side[0] for side in sides] or [origin[0]]
        return min(across), max(across), origin[1]
