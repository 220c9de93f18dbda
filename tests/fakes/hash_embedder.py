"""An embedder for tests: each word a fixed direction, a text their sum. Texts that share words are near."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from service.domain.retrieval import Vector
from service.text.analysis import analyse


@dataclass
class HashEmbedder:
    """`seen` holds every passage that was embedded, in order: what a build computed and did not reuse."""

    dimension: int = 32
    identity: str = "hash@1"
    seen: list[str] = field(default_factory=list)

    def embed_query(self, text: str) -> Vector:
        return self._vector(text)

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.seen += texts
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> Vector:
        total = np.zeros(self.dimension, dtype=np.float64)
        for word in analyse(text):
            seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:8])
            total += np.random.default_rng(seed).standard_normal(self.dimension)
        length = float(np.linalg.norm(total))
        return (total / length if length else total).astype(np.float32)
