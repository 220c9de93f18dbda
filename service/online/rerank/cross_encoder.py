"""The built-in plugin class for ONNX cross-encoders: any folder with a model, a tokenizer and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.online.rerank.contract import RerankRequest, RerankScore
from service.onnx.cross_encoder import OnnxCrossEncoder


class CrossEncoderReranker:
    """Scores (question, heading + text) pairs; long texts in windows, the best window counts."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._model = OnnxCrossEncoder(folder, threads=threads)

    @property
    def identity(self) -> str:
        return self._model.identity

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        passages = [
            "\n".join(part for part in (" > ".join(c.heading_path), c.prefix, c.text) if part)
            for c in request.candidates
        ]
        scores = self._model.score(request.question, passages, deadline)
        return [
            RerankScore(candidate.chunk_id, score.score, {"logit": score.score}, score.truncated)
            for candidate, score in zip(request.candidates, scores, strict=True)
            if not score.timed_out
        ]
