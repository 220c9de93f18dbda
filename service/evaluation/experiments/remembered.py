"""What experiments ask for many times over is computed once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from service.domain.ports import Embedder
from service.domain.retrieval import PassageVectors, QuestionVectors, Vector


@dataclass
class RememberedEmbedder:
    """The same model for all worlds, asked once for each text: the vectors are the same, the run is shorter."""

    inner: Embedder
    _questions: dict[str, QuestionVectors] = field(default_factory=dict)
    _passages: dict[str, PassageVectors] = field(default_factory=dict)

    @property
    def identity(self) -> str:
        return self.inner.identity

    @property
    def token_identity(self) -> str:
        return self.inner.token_identity

    @property
    def dimension(self) -> int:
        return self.inner.dimension

    def embed_question(self, text: str) -> QuestionVectors:
        if text not in self._questions:
            self._questions[text] = self.inner.embed_question(text)
        return self._questions[text]

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([passage.pooled for passage in self.embed_passages_with_tokens(texts)])

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> list[PassageVectors]:
        missing = [text for text in dict.fromkeys(texts) if text not in self._passages]
        if missing:
            self._passages |= dict(zip(missing, self.inner.embed_passages_with_tokens(missing), strict=True))
        return [self._passages[text] for text in texts]
