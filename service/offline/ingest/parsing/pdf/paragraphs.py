"""Where one paragraph ends and the next begins: by the space between lines, and by lines that could have held more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

from service.offline.ingest.parsing.pdf.elements import Line
from service.offline.ingest.parsing.pdf.joining import ends_han, starts_han

_LOOSER = 1.25  # of the usual distance: a space between paragraphs
_ROOM = 0.6  # of the size, beyond the word that would have fitted
_HAN_ROOM = 2.5  # of the size
_LABEL = re.compile(r"(?:note|tip|warning|caution|important|注意?|提示|警告|小心|重要|说明)[:：]?", re.I)
_STOP = re.compile(r"[.!?:;。！？：；…][”’\"')）」』]*$")


@dataclass(frozen=True, slots=True)
class Measure:
    """`leading` is the usual distance of lines, in sizes."""

    leading: float

    def follows(self, last: Line, line: Line, looser: float = _LOOSER) -> bool:
        """Whether a line is the next one below, without a space between them."""
        return -0.2 * line.size < line.y - last.y <= looser * self.leading * max(last.size, line.size)

    def turned_over(self, last: Line, line: Line) -> bool:
        """Whether a sentence goes on at the top of the next column."""
        end, first = last.words[-1].text, line.words[0].text
        return line.y < last.y and not _STOP.search(end) and (first[0].islower() or starts_han(first))

    def broken(self, last: Line, line: Line) -> bool:
        """Whether the line before was ended, though the next word would have fitted on it."""
        room = last.right - last.x1
        end, first = last.words[-1].text, line.words[0]
        if _LABEL.fullmatch(" ".join(word.text for word in last.words)) or last.bold > line.bold:
            return True
        stopped = _STOP.search(end) is not None
        if ends_han(end) or starts_han(first.text):
            return stopped and room > _HAN_ROOM * line.size
        fits = room > first.x1 - first.x0 + _ROOM * line.size
        return fits and (stopped or not first.text[:1].islower())


def measured(pages: Sequence[Sequence[Line]]) -> Measure:
    distances = [
        (line.y - last.y) / line.size
        for page in pages
        for last, line in pairwise(page)
        if last.size == line.size and 0.8 * line.size < line.y - last.y < 2.5 * line.size
    ]
    return Measure(median_low(distances) if distances else 1.3)
