"""The trace: one record a stage, ids and numbers only, never text of documents or questions."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from service.domain.answers import GroundedAnswer, StageRecord
from service.domain.reviews import Undecided


@dataclass(slots=True)
class OpenStage:
    """What a running stage may note; becomes a `StageRecord` when it ends."""

    came_in: int = 0
    went_out: int = 0
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Recorder:
    """Collects the stages and degradations of one request, in order."""

    trace_id: str
    stages: list[StageRecord] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)
    # False once a part failed, or the index was seen to lag behind the registry: such a result holds for this
    # request, but must not be given to a later one.
    cacheable: bool = True
    header: dict[str, Any] = field(default_factory=dict)
    documents: set[str] = field(default_factory=set)
    # Beside the trace, not in it: these have text.
    undecided: list[Undecided] = field(default_factory=list)

    @contextmanager
    def stage(self, name: str, came_in: int = 0) -> Iterator[OpenStage]:
        opened = OpenStage(came_in=came_in)
        started = time.perf_counter()
        try:
            yield opened
        finally:
            ms = round((time.perf_counter() - started) * 1000, 3)
            self.stages.append(StageRecord(name, ms, opened.came_in, opened.went_out, opened.detail))

    def degrade(self, part: str) -> None:
        """Notes a part that did not do its work; a degraded result is never cached."""
        self.cacheable = False
        if part not in self.degraded:
            self.degraded.append(part)

    def saw(self, document_ids: Iterable[str]) -> None:
        """Notes documents that the trace speaks of: whoever reads it later must be allowed all of them."""
        self.documents.update(document_ids)

    def record(self, outcome: dict[str, Any]) -> dict[str, Any]:
        """The whole trace as JSON-ready data."""
        return {
            "traceId": self.trace_id,
            **self.header,
            "documents": sorted(self.documents),
            "degraded": list(self.degraded),
            "stages": [
                {
                    "stage": s.stage,
                    "ms": s.ms,
                    "in": s.came_in,
                    "out": s.went_out,
                    "detail": s.detail,
                }
                for s in self.stages
            ],
            "outcome": outcome,
        }


def cited(answer: GroundedAnswer) -> list[dict[str, Any]]:
    """Where an answer's citations point, each once: enough to see later whether they still hold, and no text."""
    places = dict.fromkeys(
        (c.document_id, c.document_version, c.span.start, c.span.end, c.quote_sha256)
        for claim in answer.claims
        for c in claim.citations
    )
    names = ("documentId", "documentVersion", "start", "end", "sha256")
    return [dict(zip(names, place, strict=True)) for place in places]
