"""Running heads and feet: lines that come again, but for their numbers, at the same place of many pages."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from statistics import median

from service.offline.ingest.parsing.pdf.elements import Line, Table
from service.offline.ingest.parsing.pdf.joining import line_text

_OUTERMOST = 3  # lines of a page, from the top and from the bottom
_SHARE = 3  # a third of the pages
_FEWEST = 3  # pages
_NEAR = 8.0  # points
_NUMBER = re.compile(r"\d+|(?<![a-z])[ivxlc]+(?![a-z])", re.I)
_OF_ALL = re.compile(r"#(?:\s*(?:/|of|von|的|／)?\s*#)+")


def running(pages: Sequence[Sequence[Line | Table]]) -> set[int]:
    """`id` of each such line."""
    places: defaultdict[tuple[bool, str], list[tuple[int, Line]]] = defaultdict(list)
    for number, items in enumerate(pages):
        heights = sorted({item.y for item in items})
        top, bottom = heights[:_OUTERMOST], heights[-_OUTERMOST:]
        for item in items:
            if isinstance(item, Line):
                if item.aside or item.y in top:
                    places[True, _unnumbered(item)].append((number, item))
                if item.y in bottom and not item.aside:
                    places[False, _unnumbered(item)].append((number, item))
    found: set[int] = set()
    for (_, text), listed in places.items():
        middle = median(line.y for _, line in listed)
        near = [(number, line) for number, line in listed if abs(line.y - middle) <= _NEAR]
        count = len({number for number, _ in near})
        if text and count >= max(_FEWEST, len(pages) / _SHARE):
            found.update(id(line) for _, line in near)
    return found


def _unnumbered(line: Line) -> str:
    return "".join(_OF_ALL.sub("#", _NUMBER.sub("#", line_text(line).casefold())).split())
