"""An embedder for tests: each word a fixed direction, a text their sum. Texts that share words are near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from service.domain.retrieval import PassageVectors, QuestionTokens, QuestionVectors, Vector
from service.text.analysis import analyse
from service.text.token_vectors import encode


@dataclass
class HashEmbedder:
    """`seen` holds every passage that was embedded, in order: what a build computed and did not reuse."""

    dimension: int = 32
    identity: str = "hash@1"
    token_identity: str = "int4@1+hash"
    seen: list[str] = field(default_factory=list)

    def embed_question(self, text: str) -> QuestionVectors:
        rows = self._rows(text)
        weights = np.full(len(rows), 1 / max(1, len(rows)), dtype=np.float32)
        return QuestionVectors(self._pooled(rows), QuestionTokens(rows, weights))

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([one.pooled for one in self.embed_passages_with_tokens(texts)])

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> list[PassageVectors]:
        self.seen += texts
        rows = [self._rows(text) for text in texts]
        return [PassageVectors(self._pooled(some), encode(some)) for some in rows]

    def _rows(self, text: str) -> Vector:
        made = np.zeros((0, self.dimension))
        for word in analyse(text):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            made = np.vstack([made, np.random.default_rng(seed).standard_normal(self.dimension)])
        return made.astype(np.float32)

    def _pooled(self, rows: Vector) -> Vector:
        total = rows.astype(np.float64).sum(axis=0)
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)
