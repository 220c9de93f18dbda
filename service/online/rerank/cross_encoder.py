"""The built-in plugin class for ONNX cross-encoders: any folder with a model, a tokenizer and a manifest."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.online.rerank.contract import RerankCandidate, RerankRequest, RerankScore
from service.onnx.cross_encoder import OnnxCrossEncoder
from service.onnx.pairs import Passage


class CrossEncoderReranker:
    """Scores (question, title + headings + text) pairs; long texts in windows, the best window counts."""

    def __init__(self, folder: Path, threads: int) -> None:
        self._model = OnnxCrossEncoder(folder, threads=threads)

    @property
    def identity(self) -> str:
        return self._model.identity

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        passages = [Passage(head_of(candidate), candidate.text) for candidate in request.candidates]
        scores = self._model.score(request.question, passages, deadline, request.terms)
        return [
            RerankScore(candidate.chunk_id, score.score, {"logit": score.score}, score.truncated)
            for candidate, score in zip(request.candidates, scores, strict=True)
            if not score.timed_out
        ]


def head_of(candidate: RerankCandidate) -> str:
    """Title and headings, each once, and what stands above a table's rows."""
    path = " > ".join(filter(None, dict.fromkeys((candidate.title, *candidate.heading_path))))
    return "\n".join(filter(None, (path, candidate.prefix)))
