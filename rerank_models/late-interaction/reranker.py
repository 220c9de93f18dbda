"""Late interaction: score = Σ weight × feature over two means of MaxSim; the weights come from the ranking profile."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from service.online.rerank.contract import RerankRequest, RerankScore
from service.onnx.max_sim import OnnxMaxSim

IDENTITY = "late-interaction@1"


class LateInteraction:
    """Features, each in [-1, 1]: the mean over the question's tokens of the nearest passage token's cosine.

    max_sim: every token counts the same;
    idf_max_sim: a token counts by how rare it is in public texts.
    Both are 0 where question or candidate has no token vectors.
    """

    identity = IDENTITY

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)
        self._graph = OnnxMaxSim(Path(__file__).with_name("max_sim.onnx"))

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        if time.monotonic() > deadline:
            return []
        met = self._graph.score(request.tokens, [candidate.tokens for candidate in request.candidates])
        told = []
        for candidate, one in zip(request.candidates, met, strict=True):
            features = {"max_sim": one.plain, "idf_max_sim": one.weighted}
            parts = {name: self._weights.get(name, 0.0) * value for name, value in features.items()}
            signals = {"token_relevance": one.weighted} if request.tokens and candidate.tokens else {}
            told.append(RerankScore(candidate.chunk_id, sum(parts.values()), parts, signals=signals))
        return told


def create(weights: Mapping[str, float]) -> LateInteraction:
    """The registry's entry point."""
    return LateInteraction(weights)
