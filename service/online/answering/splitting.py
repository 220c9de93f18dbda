"""A written answer cut into atomic claims, each with the numbers of the sources it names.

A claim is a sentence, a list item, a code block, or a clause with a number of its own; a clause that hangs on a
condition is not parted from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from service.online.answering.marks import Marked
from service.text.clauses import clauses
from service.text.folding import fold
from service.text.numbers import find_quantities
from service.text.sentences import sentences
from service.text.support_tables import CONDITION, ENGLISH_JOINT, RESERVATION

# How a line or a sentence of a list opens. The number is the list's and no part of what is said.
_ITEM = re.compile(r"\s*(?:(?:#{1,6}|>|[-*+•])\s+|\d{1,3}[.)、](?!\d)\s*|[（(]\d{1,3}[)）]\s*)*")
_FENCED = re.compile(r"^```.*?(?:^```[^\n]*$|\Z)", re.M | re.S)
_LINE = re.compile(r"[^\n]+")


@dataclass(frozen=True, slots=True)
class Written:
    """One claim as the model wrote it."""

    text: str
    numbers: tuple[int, ...]


def written_claims(marked: Marked) -> Iterator[Written]:
    """The claims of the text in order."""
    text = marked.text
    for line, end in _lines(text):
        for place, (start, stop) in enumerate(_sentences(text, line, end)):
            # A mark that opens a line belongs to the line's first sentence.
            yield from _claims(marked, start, stop, line if place == 0 else start)


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of each line; a fenced block is one."""
    at = 0
    for fence in _FENCED.finditer(text):
        yield from (line.span() for line in _LINE.finditer(text, at, fence.start()))
        yield fence.span()
        at = fence.end()
    yield from (line.span() for line in _LINE.finditer(text, at))


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Those that say something, without what opens an item."""
    fenced = text.startswith("```", start)
    for first, last in [(0, end - start)] if fenced else sentences(text[start:end]):
        item = _ITEM.match(text, start + first, start + last)
        begins = item.end() if item else start + first
        if any(map(str.isalnum, text[begins : start + last])):
            yield begins, start + last


def _claims(marked: Marked, start: int, end: int, reach: int) -> Iterator[Written]:
    """The sentence whole, or its clauses where each has a number of its own and none is a condition of another.

    A clause without marks of its own has those of its sentence. `reach` is from where on marks are the sentence's.
    """
    said = marked.text[start:end]
    whole = _numbers(marked, reach, end)
    cuts = _cuts(said)
    ends = [*(start + first for first, _ in cuts[1:]), end]
    for (first, last), stop in zip(cuts, ends, strict=True):
        own = _numbers(marked, start + first, stop)
        yield Written(said[first:last].strip(), own or whole)


def _cuts(said: str) -> list[tuple[int, int]]:
    spans = list(clauses(said))
    parts = [said[first:last] for first, last in spans]
    if (
        said.startswith("```")
        or len(spans) < 2
        or not all(map(_has_number, parts))
        or any(map(_hangs, parts))
    ):
        return [(0, len(said))]
    return [*spans[:-1], (spans[-1][0], len(said))]


def _has_number(part: str) -> bool:
    return any(not quantity.indefinite for quantity in find_quantities(part))


def _hangs(part: str) -> bool:
    folded = fold(part)
    return any(pattern.search(folded) for pattern in (CONDITION, RESERVATION, ENGLISH_JOINT))


def _numbers(marked: Marked, start: int, end: int) -> tuple[int, ...]:
    """Of marks behind a character of [start, end), and of one that opens the line there."""
    found: dict[int, None] = {}
    for mark in marked.marks:
        behind = mark.at
        while behind > 0 and marked.text[behind - 1] in " \t":
            behind -= 1
        opens_line = behind == 0 or marked.text[behind - 1] == "\n"
        if start <= (behind if opens_line else behind - 1) < end:
            found.update(dict.fromkeys(mark.numbers))
    return tuple(found)
