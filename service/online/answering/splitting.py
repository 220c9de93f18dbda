"""A written answer cut into atomic claims, each with the numbers of the sources it names.

A claim is a sentence, a list item, a code block, or a clause with a number of its own; a clause that hangs on a
condition is not parted from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.online.answering.marks import Mark, Marked
from service.text.clauses import clauses
from service.text.folding import fold
from service.text.numbers import find_quantities
from service.text.sentences import sentences
from service.text.support_tables import CONDITION, ENGLISH_JOINT, RESERVATION

_ITEM = re.compile(r"(?:#{1,6}\s+|>\s?|[-*+•]\s+|\d{1,3}[.)、]\s*|[（(]\d{1,2}[)）]\s*)+")
_FENCED = re.compile(r"^```.*?(?:^```[^\n]*$|\Z)", re.M | re.S)


@dataclass(frozen=True, slots=True)
class Written:
    """One claim as the model wrote it. `opens` stands before it where the answer is shown: what parts it from the
    claim before, or the marker of its list item."""

    text: str
    numbers: tuple[int, ...]
    opens: str = ""


def written_claims(marked: Marked) -> tuple[Written, ...]:
    """The claims of the text in order."""
    return tuple(_claims(marked))


def _claims(marked: Marked) -> Iterator[Written]:
    text, first = marked.text, True
    for start, end in _lines(text):
        item = _ITEM.match(text, start, end)
        body = item.end() if item else start
        spans = list(_sentences(text, body, end))
        for place, (a, b) in enumerate(spans):
            opens = "" if first else " " if place else "\n"
            yield from _parts(
                marked, a, b, start if place == 0 else a, opens + (_marker(item) if place == 0 else "")
            )
            first = False


def _marker(item: re.Match[str] | None) -> str:
    return item.group().strip() + " " if item and item.group().strip()[0] in "-*+•0123456789（(" else ""


def _lines(text: str) -> Iterator[tuple[int, int]]:
    """Lines that say something; a fenced block is one."""
    at = 0
    for fence in _FENCED.finditer(text):
        yield from _plain_lines(text, at, fence.start())
        yield fence.span()
        at = fence.end()
    yield from _plain_lines(text, at, len(text))


def _plain_lines(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    for match in re.compile(r"[^\n]+").finditer(text, start, end):
        if any(map(str.isalnum, match.group())):
            yield match.span()


def _sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if text.startswith("```", start):
        yield start, end
        return
    for a, b in sentences(text[start:end]):
        if any(map(str.isalnum, text[start + a : start + b])):
            yield start + a, start + b


def _parts(marked: Marked, start: int, end: int, reach: int, opens: str) -> Iterator[Written]:
    """The sentence whole, or its clauses where each has a number of its own and none is a condition of another.

    A clause without marks of its own has those of its sentence."""
    text = marked.text
    said = text[start:end].strip()
    start = text.index(said, start)
    cuts = _cuts(said)
    whole = _numbers(marked.marks, reach, end, text)
    if len(cuts) == 1:
        yield Written(said, whole, opens)
        return
    for place, (a, b) in enumerate(cuts):
        own = _numbers(
            marked.marks,
            start + a,
            start + (cuts[place + 1][0] if place + 1 < len(cuts) else len(said)),
            text,
        )
        clause = said[a:b].strip()
        yield Written(clause, own or whole, opens if place == 0 else said[cuts[place - 1][1] : a])


def _cuts(said: str) -> list[tuple[int, int]]:
    spans = list(clauses(said))
    parts = [said[a:b] for a, b in spans]
    if (
        said.startswith("```")
        or len(spans) < 2
        or not all(_has_number(part) for part in parts)
        or any(_hangs(part) for part in parts)
    ):
        return [(0, len(said))]
    return [*spans[:-1], (spans[-1][0], len(said))]


def _has_number(part: str) -> bool:
    return any(not quantity.indefinite for quantity in find_quantities(part))


def _hangs(part: str) -> bool:
    folded = fold(part)
    return any(pattern.search(folded) for pattern in (CONDITION, RESERVATION, ENGLISH_JOINT))


def _numbers(marks: Sequence[Mark], start: int, end: int, text: str) -> tuple[int, ...]:
    """Of marks behind a character of [start, end); one that opens a line belongs to what follows it."""
    found: dict[int, None] = {}
    for mark in marks:
        behind = len(text[: mark.at].rstrip(" \t"))
        opens_line = behind == 0 or text[behind - 1] == "\n"
        place = behind if opens_line else behind - 1
        if start <= place < end:
            found.update(dict.fromkeys(mark.numbers))
    return tuple(found)
