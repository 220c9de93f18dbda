"""Where a page links: its areas, and what they lead to. Nothing is followed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from service.offline.ingest.parsing.linking import href_of

_ADDRESS, _FILES = 3, (2, 4)  # PDFium's kinds of actions; a file is gone to or opened
_MOST = 2_000  # links of a page
_LONGEST = 4_096  # bytes


@dataclass(frozen=True, slots=True)
class Area:
    """In the page's own space: y goes up."""

    left: float
    bottom: float
    right: float
    top: float
    href: str

    def holds(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top


def areas(raw: Any, document: Any, page: Any) -> tuple[Area, ...]:
    """`#page=3` stands for a place on the third page, the names of other files and addresses for themselves."""
    return tuple(_areas(raw, document, page))


def _areas(raw: Any, document: Any, page: Any) -> Iterator[Area]:
    place, link = ctypes.c_int(0), raw.FPDF_LINK()
    for _ in range(_MOST):
        if not raw.FPDFLink_Enumerate(page, place, link):
            return
        if href := _href(raw, document, link):
            yield from _boxes(raw, link, href)


def _boxes(raw: Any, link: Any, href: str) -> Iterator[Area]:
    """Of each line of the words: their common box would cover its neighbours too."""
    corners = raw.FS_QUADPOINTSF()
    count = raw.FPDFLink_CountQuadPoints(link)
    for index in range(min(count, _MOST)):
        if raw.FPDFLink_GetQuadPoints(link, index, corners):
            across = (corners.x1, corners.x2, corners.x3, corners.x4)
            up = (corners.y1, corners.y2, corners.y3, corners.y4)
            yield Area(min(across), min(up), max(across), max(up), href)
    box = raw.FS_RECTF()
    if count <= 0 and raw.FPDFLink_GetAnnotRect(link, box):
        sides, ends = sorted((box.left, box.right)), sorted((box.bottom, box.top))
        yield Area(sides[0], ends[0], sides[1], ends[1], href)


def _href(raw: Any, document: Any, link: Any) -> str:
    action = raw.FPDFLink_GetAction(link)
    kind = raw.FPDFAction_GetType(action) if action else 0
    if kind == _ADDRESS:
        return href_of(_text(raw.FPDFAction_GetURIPath, document, action))
    file = _text(raw.FPDFAction_GetFilePath, action) if kind in _FILES else ""
    if kind in _FILES and not file:
        return ""
    target = raw.FPDFLink_GetDest(document, link) or (
        raw.FPDFAction_GetDest(document, action) if action else None
    )
    page = raw.FPDFDest_GetDestPageIndex(document, target) + 1 if target else 0
    # The first page of another file is that file.
    return href_of(file + (f"#page={page}" if page > bool(file) else ""))


def _text(ask: Any, *about: Any) -> str:
    size = min(ask(*about, None, 0), _LONGEST)
    buffer = ctypes.create_string_buffer(size + 1)
    ask(*about, buffer, size)
    return buffer.value.decode("utf-8", "replace")
