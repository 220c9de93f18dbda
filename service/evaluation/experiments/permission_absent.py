"""What a public caller gets beside a restricted document, against a corpus that never had it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Any

from service.domain.answers import SearchHit
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.permission_asked import Asked, ask, question
from service.evaluation.experiments.permission_world import PUBLIC, World
from service.evaluation.experiments.permission_wrong import Memory
from service.online.entry import Online

EVERYTHING = 50  # hits asked for: more than the corpus has


def as_if_absent(online: Online, world: World) -> list[Expectation]:
    """What the public caller gets is what a corpus without the document would have given."""

    def asked(corpus: str, number: int) -> Asked:
        fresh = replace(online, cache=Memory())
        return ask(fresh, question(world, corpus, number), PUBLIC, EVERYTHING)

    results: list[Expectation] = []
    for number in range(len(world.questions)):
        bare = asked("without", number)
        for how, corpus in (("added later", "grown"), ("built together", "with")):
            seen = asked(corpus, number)
            results += [
                replace(e, what=f"as if absent, {how}, question {number + 1}: {e.what}")
                for e in _alike(bare, seen)
            ]
    return results


def _alike(bare: Asked, seen: Asked) -> list[Expectation]:
    return [
        expect("members", _members(bare), _members(seen)),
        expect("status", bare.answer.status, seen.answer.status),
        expect("reason", bare.answer.reason, seen.answer.reason),
        expect("gap", _gap(bare), _gap(seen)),
        expect("citations", _citations(bare), _citations(seen)),
        expect("stages with another count", 0, _differing(_counts(bare), _counts(seen))),
        expect("largest move of a score", 0.0, _largest_move(bare, seen)),
        # Raw BM25 weighs terms by all documents, hidden ones too: its order may move, its scores are not shown.
        Expectation("hits whose rank in a leg moved", "told, not judged", str(_moved(bare, seen)), True),
    ]


def _members(asked: Asked) -> list[str]:
    return sorted(hit.document_id for hit in asked.result.hits)


def _gap(asked: Asked) -> str | None:
    return asked.answer.gap.missing if asked.answer.gap else None


def _citations(asked: Asked) -> list[str]:
    cited = [c for claim in asked.answer.claims for c in claim.citations]
    return [f"{c.document_id}[{c.span.start}:{c.span.end}]" for c in cited]


def _counts(asked: Asked) -> list[tuple[str, int, int]]:
    return [(s["stage"], s["in"], s["out"]) for trace in asked.traces for s in trace["stages"]]


def _differing(one: Sequence[Any], other: Sequence[Any]) -> int:
    return sum(a != b for a, b in zip_longest(one, other))


def _moved(one: Asked, other: Asked) -> int:
    return sum(a.legs != b.legs for a, b in _common(one, other))


def _largest_move(one: Asked, other: Asked) -> float:
    return round(max((abs(a.score - b.score) for a, b in _common(one, other)), default=0.0), 4)


def _common(one: Asked, other: Asked) -> list[tuple[SearchHit, SearchHit]]:
    """The hits of the documents that both found."""
    others = {hit.document_id: hit for hit in other.result.hits}
    return [(hit, others[hit.document_id]) for hit in one.result.hits if hit.document_id in others]
