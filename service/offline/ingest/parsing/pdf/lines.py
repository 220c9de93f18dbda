"""Words to pieces, and pieces to lines. A piece is a run of words without a wide gap."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from service.offline.ingest.parsing.pdf.elements import Line, Word

_GAP = 1.2  # of the size; no justified line parts its words by more
_SAME_LINE = 0.4  # of the size
LEADERS = re.compile(r"(?:[.…·_]\s?){4,}\s*\S{0,8}$")  # of a table of contents
MARKER = re.compile(
    r"(?:[•●○◦▪▫■□‣➢✓*·–—-]|[(（]?(?:\d{1,3}|[a-zA-Z]|[ivxlIVXL]{1,5}|[一二三四五六七八九十]{1,3})[)）]"
    r"|(?:\d{1,3}|[a-zA-Z]|[ivxIVX]{1,5})\.|(?:\d{1,2}\.)+\d{1,2}\.?|[一二三四五六七八九十]{1,3}、)"
)


def pieces(words: Iterable[Word]) -> list[Line]:
    """In PDFium's order, which is that in which the text was written."""
    found: list[list[Word]] = []
    for word in words:
        last = found[-1][-1] if found else None
        size = word.style.size
        if (
            last is not None
            and last.run == word.run
            and -size <= word.x0 - last.x1 <= _GAP * max(size, last.style.size)
            and abs(word.y - last.y) <= 0.7 * max(size, last.style.size)
        ):
            found[-1].append(word)
        else:
            found.append([word])
    return [Line(tuple(piece)) for piece in found]


def rows(found: Sequence[Line]) -> list[list[Line]]:
    """Pieces on one height, from the top down, each row from left to right. A list marker goes with its text."""
    listed: list[list[Line]] = []
    heights: list[float] = []
    for piece in sorted(found, key=lambda p: (p.y, p.x0)):
        if listed and abs(piece.y - heights[-1]) <= _SAME_LINE * min(piece.size, listed[-1][0].size):
            listed[-1].append(piece)
        else:
            listed.append([piece])
            heights.append(piece.y)
    return [_marked(sorted(row, key=lambda p: p.x0)) for row in listed]


def _marked(row: list[Line]) -> list[Line]:
    marked: list[Line] = []
    for piece in row:
        if (
            marked
            and len(marked[-1].words) == 1
            and piece.words[0].text
            and MARKER.fullmatch(marked[-1].words[0].text)
            and piece.x0 - marked[-1].x1 < 4 * piece.size
        ):
            marked[-1] = Line((*marked[-1].words, *piece.words))
        else:
            marked.append(piece)
    return marked


def in_order(words: Sequence[Word]) -> list[Line]:
    """The lines of a small area, such as a cell."""
    return [one(row) for row in rows(pieces(words))]


def one(row: Sequence[Line], left: float = 0.0, right: float = 0.0) -> Line:
    return Line(tuple(word for piece in row for word in piece.words), left, right)
