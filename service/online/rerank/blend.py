"""The built-in plugin class for blends: several rules rerankers under one table of weights, one sum."""

from __future__ import annotations

import time
from collections.abc import Sequence

from service.online.rerank.contract import Reranker, RerankRequest, RerankScore


class Blend:
    """A candidate's score is the sum of what its parts give it; their contributions stand side by side. Where a part
    leaves a candidate out, so does the blend: half a sum is on another scale."""

    def __init__(self, identity: str, parts: Sequence[Reranker]) -> None:
        self._identity = identity
        self._parts = tuple(parts)

    @property
    def identity(self) -> str:
        return self._identity

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        told: dict[str, list[RerankScore]] = {}
        for part in self._parts:
            if time.monotonic() > deadline:
                return []
            for one in part.rerank(request, deadline):
                told.setdefault(one.chunk_id, []).append(one)
        return [_sum(scores) for scores in told.values() if len(scores) == len(self._parts)]


def _sum(scores: Sequence[RerankScore]) -> RerankScore:
    return RerankScore(
        scores[0].chunk_id,
        sum(one.score for one in scores),
        {name: value for one in scores for name, value in one.contributions.items()},
        any(one.truncated for one in scores),
        {name: value for one in scores for name, value in one.signals.items()},
    )
