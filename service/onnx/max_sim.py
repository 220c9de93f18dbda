"""Late interaction of one question with many passages, by a small ONNX graph (scripts/build-max-sim): each of the
question's tokens meets the nearest token of a passage (MaxSim; Khattab and Zaharia, ColBERT, SIGIR 2020)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.domain.retrieval import QuestionTokens
from service.onnx.session import open_session
from service.text.token_vectors import unpack

_STEPS = 127  # of a component of the question, in eight bits


@dataclass(frozen=True, slots=True)
class MaxSim:
    """The mean over the question's tokens of the nearest passage token's cosine; `weighted` by what a token says."""

    plain: float
    weighted: float


NOTHING_MET = MaxSim(0.0, 0.0)


class OnnxMaxSim:
    """Thread-safe; the session is shared."""

    def __init__(self, model: Path) -> None:
        # A pool takes a millisecond or two: a second thread would cost more than it brings.
        self._session = open_session(model, threads=1)

    def score(self, question: QuestionTokens | None, passages: Sequence[bytes]) -> list[MaxSim]:
        """Of each passage, packed (text/token_vectors.py), in the given order; nothing is met where question or passage
        has no tokens. Integers are summed, so a score is the same alone and in company."""
        there = [place for place, packed in enumerate(passages) if packed]
        scores = [NOTHING_MET] * len(passages)
        if question is None or not len(question.vectors) or not there:
            return scores
        dimension = question.vectors.shape[1]
        unpacked = [unpack(passages[place], dimension) for place in there]
        longest = max(len(scales) for _, scales in unpacked)
        codes = np.zeros((len(there), longest, dimension // 2), dtype=np.uint8)
        scales = np.zeros((len(there), longest), dtype=np.float32)
        held = np.zeros((len(there), longest), dtype=np.bool_)
        for row, (own_codes, own_scales) in enumerate(unpacked):
            codes[row, : len(own_codes)] = own_codes
            scales[row, : len(own_scales)] = own_scales
            held[row, : len(own_scales)] = True
        question_scales = np.maximum(np.abs(question.vectors).max(axis=1), 1e-12) / _STEPS
        [nearest] = self._session.run(
            ["nearest"],
            {
                "codes": codes,
                "scales": scales,
                "held": held,
                "question": np.rint(question.vectors / question_scales[:, None]).astype(np.int8),
                "question_scales": question_scales.astype(np.float32),
            },
        )
        for place, row in zip(there, nearest.astype(np.float64), strict=True):
            # fsum rounds once: no order of summing, which goes by the size of the batch, is seen in it.
            plain, weighted = math.fsum(row) / len(row), math.fsum(row * question.weights)
            scores[place] = MaxSim(round(plain, 6), round(weighted, 6))
        return scores
