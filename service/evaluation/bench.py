"""Where a request's time goes: stage times of many questions, and the share of each kind of work."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.answers import Question
from service.domain.rights import Principal
from service.online.entry import Online

# Which stages are whose work. What the engine itself took is inside "legs"; the rest of that stage is transport.
_EMBEDDING = ("embed",)
_RERANK = ("rerank",)
_ANSWER = ("answer",)


@dataclass(frozen=True, slots=True)
class PathTimes:
    """Milliseconds: p50 and p95 by stage, of the whole request, and the mean share of each kind of work."""

    questions: int
    answered: int
    stages: dict[str, tuple[float, float]]
    total: tuple[float, float]
    shares: dict[str, float]


def time_path(
    online: Online,
    corpus: str,
    questions: Sequence[str],
    who: Principal,
    progress: Callable[[str, int, int], None],
) -> PathTimes:
    """Asks every question once, uncached, and reads the traces."""
    by_stage: dict[str, list[float]] = defaultdict(list)
    kinds: dict[str, float] = defaultdict(float)
    totals: list[float] = []
    answered = 0
    for number, text in enumerate(questions, 1):
        started = time.perf_counter()
        answer = online.answer(Question(f"bench-{number}", text, corpus), who)
        totals.append((time.perf_counter() - started) * 1000)
        answered += answer.status == "answered"
        trace = online.story.engine.traces.get(answer.trace_id) or {"stages": []}
        spent: dict[str, float] = {}
        for stage in trace["stages"]:
            by_stage[stage["stage"]].append(stage["ms"])
            spent[stage["stage"]] = spent.get(stage["stage"], 0.0) + stage["ms"]
        _share(kinds, spent, trace["stages"], totals[-1])
        progress("bench", number, len(questions))
    whole = sum(totals) or 1.0
    return PathTimes(
        questions=len(questions),
        answered=answered,
        stages={name: (_quantile(ms, 0.5), _quantile(ms, 0.95)) for name, ms in by_stage.items()},
        total=(_quantile(totals, 0.5), _quantile(totals, 0.95)),
        shares={name: round(ms / whole, 4) for name, ms in kinds.items()},
    )


def _share(
    kinds: dict[str, float], spent: dict[str, float], stages: Sequence[dict[str, Any]], total: float
) -> None:
    took = sum(
        max((leg.get("tookMs") or 0.0 for leg in stage["detail"].values()), default=0.0)
        for stage in stages
        if stage["stage"] == "legs"
    )
    named = {
        "engine took": took,
        "question embedding": sum(spent.get(s, 0.0) for s in _EMBEDDING),
        "rerank": sum(spent.get(s, 0.0) for s in _RERANK),
        "answer (sentence embedding)": sum(spent.get(s, 0.0) for s in _ANSWER),
    }
    for name, ms in named.items():
        kinds[name] += ms
    kinds["our own code and transport"] += total - sum(named.values())


def _quantile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else 0.0
