"""Embedders: any folder with a manifest, an ONNX graph that gives `pooled` and `token_vectors`, a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.onnx.manifest import EMBEDDER, load_manifest
from service.onnx.session import open_session, open_tokenizer
from service.text.folding import fold_width

Vectors = NDArray[np.float32]

_REMEMBERED = 4096  # passages whose vectors are kept: sentences of popular evidence come again and again


class OnnxEmbedder:
    """Unit vectors of texts. Thread-safe; the session is shared.

    Texts are width-folded first: a normaliser that maps full-width Latin only after splitting gives unknown
    tokens. A text without a letter or digit has no meaning to embed and gets a zero vector.
    """

    def __init__(self, folder: Path, threads: int = 2) -> None:
        self._manifest = load_manifest(folder, EMBEDDER)
        self._session = open_session(self._manifest.model, threads)
        self._tokenizer = open_tokenizer(self._manifest.tokenizer)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._embed_one)

    @property
    def identity(self) -> str:
        return self._manifest.identity

    @property
    def dimension(self) -> int:
        return self._manifest.dimension

    def embed_query(self, text: str) -> Vectors:
        """(dimension,) of a question."""
        vector: Vectors = self._embed([self._manifest.query_prefix + text], [_means_something(text)])[0]
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) in the given order, whatever order they are run in."""
        if len(texts) == 1:
            return self._remembered(texts[0])[None, :]
        return self._embed(
            [self._manifest.passage_prefix + text for text in texts],
            [_means_something(text) for text in texts],
        )

    def token_vectors(self, texts: Sequence[str]) -> list[tuple[Vectors, list[tuple[int, int]]]]:
        """Per text: unit vectors (tokens, dimension) of the last layer, without special tokens and without the
        prefix, and each token's code-point span in the text."""
        return [self._tokens_of(text) for text in texts]

    def count_tokens(self, text: str) -> int:
        """Tokens of the text, without special ones."""
        return len(self._tokenizer.encode(fold_width(text), add_special_tokens=False).ids)

    def _embed_one(self, text: str) -> Vectors:
        vector: Vectors = self._embed([self._manifest.passage_prefix + text], [_means_something(text)])[0]
        return vector

    def _embed(self, texts: Sequence[str], meaningful: Sequence[bool]) -> Vectors:
        ids = [self._encode(text) for text in texts]
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # One by one. Dynamic int8 takes its scale from the whole batch, so that in one with others a text's vector
        # would tell of theirs: a document that somebody may not see would move the ranks of those he may. On a CPU
        # a batch is no faster.
        for place in (place for place, said in enumerate(meaningful) if said):
            vectors[place] = self._run(ids[place])[0]
        return vectors

    def _encode(self, text: str) -> list[int]:
        """Token ids, at most `max_tokens`: the end is cut, the closing special token kept."""
        ids: list[int] = self._tokenizer.encode(fold_width(text)).ids
        limit = self._manifest.max_tokens
        return ids if len(ids) <= limit else [*ids[: limit - 1], ids[-1]]

    def _run(self, tokens: Sequence[int]) -> tuple[Vectors, Vectors]:
        """The text's vector and those of its tokens."""
        ids = np.asarray([tokens], dtype=np.int64)
        pooled, hidden = self._session.run(
            ["pooled", "token_vectors"], {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        )
        return pooled[0], hidden[0]

    def _tokens_of(self, text: str) -> tuple[Vectors, list[tuple[int, int]]]:
        prefix = self._manifest.passage_prefix
        encoded = self._tokenizer.encode(fold_width(prefix + text))
        limit = self._manifest.max_tokens
        _, hidden = self._run(encoded.ids[:limit])
        kept = [
            # A word's token begins at the space before it: the first one's span reaches into the prefix.
            (place, (max(0, start - len(prefix)), end - len(prefix)))
            for place, ((start, end), special) in enumerate(
                zip(encoded.offsets[:limit], encoded.special_tokens_mask[:limit], strict=True)
            )
            if not special and end > max(start, len(prefix))
        ]
        rows = hidden[[place for place, _ in kept]] if kept else np.zeros((0, self.dimension), np.float32)
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.maximum(norms, 1e-12)).astype(np.float32), [span for _, span in kept]


def _means_something(text: str) -> bool:
    return any(map(str.isalnum, text))
