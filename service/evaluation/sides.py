"""The same cases asked of two sides (generations, ranking profiles or corpora): figures beside each other, what each
cost to build, and the cases that came out worse.

Asked in turns, case by case, so that both meet the machine as it is at the moment.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.generations import Generation
from service.domain.ports import Engine
from service.evaluation import stored
from service.evaluation.cases import CaseSet
from service.evaluation.runs import CaseResult, run
from service.online.entry import Online

_STAGE = "reranked"
_RANKING = ("recall@1", "recall@10", "recall@50", "mrr@10", "ndcg@10")
_ANSWERS = (
    "answered",
    "saysAndCitesIt",
    "citationPrecision",
    "refusedRightly",
    "forbiddenSaid",
    "p50Ms",
    "p95Ms",
)
_OUTCOMES = ("saysAndCitesIt", "refusedRightly")
_RANK = f"{_STAGE}.mrr@10"


@dataclass(frozen=True, slots=True)
class Side:
    """What is asked: a corpus on an online path of its own (which may be pinned to a generation), and the profile."""

    online: Online
    corpus: str
    profile: str | None


@dataclass(frozen=True, slots=True)
class Row:
    """One figure of both; None where a side says nothing of it."""

    name: str
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Regressed:
    """A case that came out worse: what fell, and how it ended on either side."""

    case_id: str
    bucket: str
    measure: str
    before: float
    after: float
    ended_before: str
    ended_after: str


def ask_both(
    first: Side, second: Side, case_set: CaseSet, limit: int | None, progress: Callable[[str, int, int], None]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both runs as they would be stored."""
    results: tuple[list[CaseResult], list[CaseResult]] = ([], [])
    cases = case_set.cases[:limit]
    for side in (first, second):  # What loads a model with its first question would be told as slow.
        run(side.online, side.corpus, cases[:1], side.profile, lambda *_: None)
    for number, case in enumerate(cases):
        # Either is first as often as not.
        for place in (0, 1) if number % 2 else (1, 0):
            side = (first, second)[place]
            results[place].extend(run(side.online, side.corpus, [case], side.profile, lambda *_: None))
        progress("eval", number + 1, len(cases))
    one, other = (
        stored.to_json(
            own,
            case_set,
            side.corpus,
            side.online.story.embedder.identity,
            sum(result.seconds for result in own),
        )
        for own, side in zip(results, (first, second), strict=True)
    )
    return one, other


def cost(engine: Engine, generation_name: str) -> dict[str, float | None]:
    """What a generation takes and took: size, chunks, seconds of its build, and of how many chunks that was spared."""
    manifest, generation = engine.builds.get(generation_name), Generation.parse(generation_name)
    if manifest is None or generation is None:
        return {}
    return {
        "documents": float(len(manifest.documents)),
        "chunks": float(manifest.chunks),
        "sizeMB": round(engine.generations.size(generation) / 1e6, 2),
        "buildSeconds": manifest.timings.get("fillSeconds"),
        "vectorsReused": manifest.timings.get("vectorsReused"),
    }


def rows(
    first: Mapping[str, Any], second: Mapping[str, Any], costs: Sequence[Mapping[str, float | None]]
) -> list[Row]:
    """The figures of all cases, beside each other."""
    sides = [
        _flat(run["figures"].get("all", {})) | dict(own)
        for run, own in zip((first, second), costs, strict=True)
    ]
    return [
        Row(name, sides[0].get(name), sides[1].get(name)) for name in dict.fromkeys((*sides[0], *sides[1]))
    ]


def regressed(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Regressed]:
    """Those whose outcome fell, then those found further down, by caseId."""
    fallen = []
    for place, measures in enumerate((_OUTCOMES, (_RANK,))):
        for case_id, before in first["cases"].items():
            after = second["cases"][case_id]
            for measure in measures:
                was, now = before["values"].get(measure), after["values"].get(measure)
                if was is not None and now is not None and now < was:
                    one = Regressed(
                        case_id, before["bucket"], measure, was, now, _ended(before), _ended(after)
                    )
                    fallen.append((place, case_id, one))
    return [one for _, _, one in sorted(fallen, key=lambda found: found[:2])]


def _flat(bucket: Mapping[str, Any]) -> dict[str, float | None]:
    ranking = bucket.get("ranking", {}).get(_STAGE, {})
    answers = bucket.get("answers", {})
    found = {f"{_STAGE}.{name}": ranking.get(name) for name in _RANKING}
    return {
        n: v for n, v in (found | {name: answers.get(name) for name in _ANSWERS}).items() if v is not None
    }


def _ended(case: Mapping[str, Any]) -> str:
    return str(case["reason"] or case["status"])
