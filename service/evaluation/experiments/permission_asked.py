"""What one question gave one principal in the permission experiments, and what mentions a restricted page."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from service.domain.answers import GroundedAnswer, Question, SearchResult
from service.domain.rights import Principal
from service.evaluation.experiments.permission_world import World
from service.evaluation.experiments.permission_wrong import Memory
from service.online.entry import Online

# What differs between two corpora or two requests and says nothing of the documents.
_OWN = ("trace_id", "traceId", "corpus", "corpus_version", "corpusVersion", "generation", "ms", "tookMs")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question by one principal: what came back, its trace as the principal reads it, its cache traffic."""

    result: SearchResult
    answer: GroundedAnswer
    traces: tuple[dict[str, Any], ...]
    cached: tuple[tuple[str, bytes], ...]

    def said(self) -> Any:
        return plain((asdict(self.result), asdict(self.answer)))

    def from_cache(self) -> bool:
        stages = [stage for trace in self.traces for stage in trace["stages"] if stage["stage"] == "cache"]
        return len(stages) == 2 and all(stage["detail"]["hit"] for stage in stages)


def ask(online: Online, question: Question, who: Principal, size: int) -> Asked:
    memory = online.cache
    assert isinstance(memory, Memory)
    memory.touched.clear()
    result, answer = online.search(question, who, size), online.answer(question, who)
    traces = tuple(online.read_trace(who, one.trace_id) for one in (result, answer))
    return Asked(result, answer, traces, tuple(memory.touched))


def question(world: World, corpus: str, number: int = 0) -> Question:
    return Question("permission-order", world.questions[number], f"{world.name}-{corpus}")


def marks(world: World, value: Any) -> list[str]:
    """The marks of the restricted page that occur anywhere in the value."""
    return [mark for mark in world.marks() if holds(mark, value)]


def holds(mark: str, value: Any) -> bool:
    return mark.casefold() in json.dumps(value, ensure_ascii=False, default=str).casefold()


def plain(value: Any) -> Any:
    """The value as JSON, without what differs between any two requests or corpora."""
    if isinstance(value, Mapping):
        return {key: plain(held) for key, held in value.items() if key not in _OWN}
    if isinstance(value, list | tuple):
        return [plain(held) for held in value]
    return value if isinstance(value, int | float | bool | None) else str(value)
