"""Which parts of a long passage a cross-encoder reads: windows of bounded length, cut where nothing is torn apart.

A window ends before a sentence where it can, else before a clause, and never between a negation and what it
negates while another place will do: "is not" in one window and "supported" in the next would be two falsehoods.
Where a passage has more windows than may be read, those that hold the question's terms are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from service.text.analysis import term_weight
from service.text.anchors import find_anchors
from service.text.clauses import clauses
from service.text.folding import fold, fold_width
from service.text.polarity import negations
from service.text.sentences import sentences

Span = tuple[int, int]

OVERLAP = 0.25  # share of a window that the next one repeats, about
_SHORTEST = 0.5  # a window is at least so full: else a short sentence at its end would halve it
_BEFORE, _AFTER = 8, 24  # code points around a negator, within its clause, that are read with it
_DENIED = 1.0  # what a negation in a clause that holds a question's term adds to its window
_TORN, _PLAIN, _CLAUSE, _SENTENCE = range(4)  # how good a place is to begin a window at


@dataclass(frozen=True, slots=True)
class Plan:
    """Spans of the passage in its order. `complete`: together they hold every token of it."""

    spans: tuple[Span, ...]
    complete: bool


def plan(text: str, offsets: Sequence[Span], room: int, most: int, terms: Collection[str]) -> Plan:
    """At most `most` windows of at most `room` tokens. `offsets` are the tokens' spans in the text, `terms` the
    analysed terms of the question."""
    if not offsets:
        return Plan((), True)
    if len(offsets) <= room:
        return Plan((_span(offsets, 0, len(offsets)),), True)
    denied = list(negated(text))
    windows = list(_windows(_places(text, offsets, denied), room))
    spans = [_span(offsets, start, end) for start, end in windows]
    if len(spans) <= most:
        return Plan(tuple(spans), True)
    weights = _weights(text, spans, terms, denied)
    kept = sorted(sorted(range(len(spans)), key=lambda place: (-weights[place], place))[:most])
    return Plan(tuple(spans[place] for place in kept), False)


def negated(text: str) -> Iterator[Span]:
    """The neighbourhood of each negation: what a reader must see of it at once."""
    parts = list(clauses(text))
    starts = [start for start, _ in parts]
    for found in negations(text):
        start, end = parts[bisect_right(starts, found.start) - 1]
        # A negator may cross what looks like the end of a clause; then its own span is what counts.
        yield (
            min(found.start, max(start, found.start - _BEFORE)),
            max(found.end, min(end, found.end + _AFTER)),
        )


def _places(text: str, offsets: Sequence[Span], denied: Sequence[Span]) -> list[int]:
    """For each token, how good it is to begin a window there."""
    places = [_PLAIN] * len(offsets)
    ends = [end for _, end in offsets]
    for spans, worth in ((clauses(text), _CLAUSE), (sentences(text), _SENTENCE)):
        for start, _ in spans:
            token = bisect_right(ends, start)
            if token < len(places):
                places[token] = worth
    for start, end in denied:
        # All but the first token of a neighbourhood.
        for token in range(bisect_right(ends, start) + 1, len(offsets)):
            if offsets[token][0] >= end:
                break
            places[token] = _TORN
    return places


def _windows(places: Sequence[int], room: int) -> Iterator[Span]:
    """[first, last) of each window in tokens; every token is in one."""
    start = 0
    while len(places) - start > room:
        # The latest of the best places.
        least = start + max(1, int(room * _SHORTEST))
        end = max(range(least, start + room + 1), key=lambda token: (places[token], token))
        yield start, end
        wanted = end - room * OVERLAP
        again = range(max(start + 1, int(end - 2 * room * OVERLAP)), end + 1)
        start = max(again, key=lambda token: (places[token], -abs(token - wanted)))
    yield start, len(places)


def _span(offsets: Sequence[Span], first: int, last: int) -> Span:
    return offsets[first][0], max(offsets[first][0], offsets[last - 1][1])


def _weights(text: str, spans: Sequence[Span], terms: Collection[str], denied: Sequence[Span]) -> list[float]:
    """What each window holds of the question: the weight of its terms, each once, and of denials among them."""
    hits = list(_hits(text, terms))
    weights = []
    for start, end in spans:
        inside = [(term, hit) for term, hit in hits if start <= hit[0] and hit[1] <= end]
        weight = sum(term_weight(term) for term in {term for term, _ in inside})
        said = any(start <= n[0] and n[1] <= end and _touches(n, inside) for n in denied)
        weights.append(weight + _DENIED * said)
    return weights


def _touches(span: Span, hits: Sequence[tuple[str, Span]]) -> bool:
    return any(hit[0] < span[1] and span[0] < hit[1] for _, hit in hits)


def _hits(text: str, terms: Collection[str]) -> Iterator[tuple[str, Span]]:
    """Where the question's terms stand; names in any of their spellings."""
    folded = fold(text)
    for term in terms:
        start = folded.find(term)
        while start >= 0:
            yield term, (start, start + len(term))
            start = folded.find(term, start + len(term))
    wanted = set(terms)
    for anchor in find_anchors(fold_width(text)):
        for term in wanted & {anchor.canonical, *anchor.variants}:
            yield term, (anchor.start, anchor.end)
