"""What experiments ask for many times over is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from service.domain.ports import Embedder
from service.domain.retrieval import Vector


@dataclass
class RememberedEmbedder:
    """The same model for all worlds, asked once for each text: the vectors are the same, the run is shorter."""

    inner: Embedder
    _queries: dict[str, Vector] = field(default_factory=dict)
    _passages: dict[str, Vector] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def embed_query(self, text: str) -> Vector:
        if text not in self._queries:
            self._queries[text] = self.inner.embed_query(text)
        return self._queries[text]

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        missing = [text for text in dict.fromkeys(texts) if text not in self._passages]
        if missing:
            self._passages |= dict(zip(missing, self.inner.embed_passages(missing), strict=True))
        return np.stack([self._passages[text] for text in texts])
