"""What a number is said about: the words beside it in its clause.

"预算为 1,200 万元，增长 12%" holds 12 %, and yet does not support "预算为 12%". A number found in a source is
about something else where its own words share nothing with the claim's and a neighbour's words do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from service.text.clauses import clauses
from service.text.folding import fold
from service.text.language import HAN
from service.text.quantities import Quantity
from service.text.stopwords import EN_FUNCTION, EN_QUESTION

# Particles, copulas and words of degree: beside every number, and about none.
_PARTICLES = re.compile(
    "[的地得了着过为是有在于和与及或则就也都还又再才约共达至到从由按以每各个其该此这那将会被把对]"
)
_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile("[a-z]{3,}")
_FUNCTION = EN_FUNCTION | EN_QUESTION
_SENTENCE_END = re.compile(r"[。！？!?\n]|(?<=[A-Za-z]{4})\.(?=\s)")


@dataclass(frozen=True, slots=True)
class Stated:
    """A quantity with the words beside it: `terms` are Han bigrams and English words, `traces` single characters."""

    quantity: Quantity
    sentence: int
    terms: frozenset[str] = frozenset()
    traces: frozenset[str] = frozenset()


def stated(text: str, quantities: Sequence[Quantity]) -> list[Stated]:
    """Each quantity of `text` (in order) with the words between its neighbours, within its clause."""
    return list(_stated(text, fold(text), quantities))


def _stated(text: str, folded: str, quantities: Sequence[Quantity]) -> Iterator[Stated]:
    spans = list(clauses(text))
    ends = [match.start() for match in _SENTENCE_END.finditer(text)]
    for index, quantity in enumerate(quantities):
        start, end = next(
            (span for span in spans if span[0] <= quantity.start < span[1]), (quantity.start, quantity.end)
        )
        left = max([start, *(other.end for other in quantities[:index] if other.end > start)])
        right = min([end, *(other.start for other in quantities[index + 1 :] if other.start < end)])
        beside = folded[left : quantity.start] + " " + folded[quantity.end : max(right, quantity.end)]
        runs = _HAN_RUN.findall(_PARTICLES.sub(" ", beside))
        words = [word for word in _WORD.findall(beside) if word not in _FUNCTION]
        yield Stated(
            quantity,
            sentence=sum(position < quantity.start for position in ends),
            terms=frozenset((*(run[i : i + 2] for run in runs for i in range(len(run) - 1)), *words)),
            traces=frozenset((*"".join(runs), *words)),
        )


def about_something_else(claimed: Stated, found: Stated, neighbours: Sequence[Stated]) -> bool:
    """Whether `found`, equal in value to `claimed`, is about another thing than `claimed`.

    True only on evidence: both have words beside them that share not one character, and another quantity in
    the sentence of `found` has the claim's words. `neighbours` are the quantities of the same source.
    """
    if not claimed.terms or not found.traces or claimed.traces & found.traces:
        return False
    return any(
        neighbour.sentence == found.sentence and claimed.terms & neighbour.terms
        for neighbour in neighbours
        if neighbour is not found
    )
