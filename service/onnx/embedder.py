"""Embedders: any folder with a manifest, an ONNX graph that gives `pooled` and `token_vectors`, a tokenizer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from service.domain.retrieval import PassageVectors, QuestionTokens, QuestionVectors
from service.onnx.manifest import EMBEDDER, load_manifest
from service.onnx.session import open_session, open_tokenizer
from service.onnx.token_statistics import read_token_statistics, unit
from service.text.folding import fold_width
from service.text.token_vectors import encode

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
        self._statistics = read_token_statistics(self._manifest, self.start_token)
        self._remembered = lru_cache(maxsize=_REMEMBERED)(self._embed_one)

    @property
    def identity(self) -> str:
        return self._manifest.identity

    @property
    def token_identity(self) -> str:
        return self._statistics.identity if self._statistics else ""

    @property
    def start_token(self) -> int:
        """The id of the token that every text begins with."""
        return int(self._tokenizer.encode("").ids[0])

    @property
    def vocabulary_size(self) -> int:
        return int(self._tokenizer.get_vocab_size())

    @property
    def dimension(self) -> int:
        return self._manifest.dimension

    def embed_question(self, text: str) -> QuestionVectors:
        """(dimension,) of a question, and the vectors of its tokens."""
        if not _means_something(text):
            return QuestionVectors(np.zeros(self.dimension, dtype=np.float32))
        seen = self._seen(self._manifest.query_prefix, text)
        if self._statistics is None:
            return QuestionVectors(seen.pooled)
        vectors = self._statistics.centred(unit(seen.rows))
        return QuestionVectors(seen.pooled, QuestionTokens(vectors, self._statistics.weights(seen.token_ids)))

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """(n, dimension) in the given order, whatever order they are run in."""
        if len(texts) == 1:
            return self._remembered(texts[0])[None, :]
        return self._embed(texts)

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> list[PassageVectors]:
        """The same vectors with those of their tokens, packed, from the same pass; without statistics of the model's
        tokens, or without meaning, a text has none."""
        return [self._passage(text) for text in texts]

    def token_rows(self, text: str) -> tuple[list[int], Vectors]:
        """A passage's token ids and their unit vectors (tokens, dimension) as the last layer gives them, without the
        prefix and special tokens."""
        seen = self._seen(self._manifest.passage_prefix, text)
        return seen.token_ids, unit(seen.rows)

    def count_tokens(self, text: str) -> int:
        """Tokens of the text, without special ones."""
        return len(self._tokenizer.encode(fold_width(text), add_special_tokens=False).ids)

    def _embed_one(self, text: str) -> Vectors:
        vector: Vectors = self._embed([text])[0]
        return vector

    def _embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        # One by one. Dynamic int8 takes its scale from the whole batch, so that in one with others a text's vector
        # would tell of theirs: a document that somebody may not see would move the ranks of those he may. On a CPU
        # a batch is no faster.
        for place, text in enumerate(texts):
            if _means_something(text):
                vectors[place] = self._run(self._encode(self._manifest.passage_prefix + text).ids)[0]
        return vectors

    def _passage(self, text: str) -> PassageVectors:
        if not _means_something(text):
            return PassageVectors(np.zeros(self.dimension, dtype=np.float32))
        seen = self._seen(self._manifest.passage_prefix, text)
        if self._statistics is None:
            return PassageVectors(seen.pooled)
        return PassageVectors(seen.pooled, encode(self._statistics.centred(unit(seen.rows))))

    def _seen(self, prefix: str, text: str) -> _Seen:
        encoded = self._encode(prefix + text)
        pooled, hidden = self._run(encoded.ids)
        kept = [
            place
            for place, ((start, end), special) in enumerate(
                zip(encoded.offsets, encoded.special_tokens_mask, strict=True)
            )
            # A word's token begins at the space before it: the first one's span reaches into the prefix.
            if not special and end > max(start, len(prefix))
        ]
        return _Seen(pooled, [encoded.ids[place] for place in kept], hidden[kept])

    def _encode(self, text: str) -> _Encoded:
        """At most `max_tokens`: the end is cut, the closing special token kept."""
        found = self._tokenizer.encode(fold_width(text))
        whole = _Encoded(found.ids, found.offsets, found.special_tokens_mask)
        limit = self._manifest.max_tokens
        return (
            whole
            if len(whole.ids) <= limit
            else _Encoded(*([*part[: limit - 1], part[-1]] for part in whole))
        )

    def _run(self, tokens: Sequence[int]) -> tuple[Vectors, Vectors]:
        """The text's vector and those of its tokens."""
        ids = np.asarray([tokens], dtype=np.int64)
        pooled, hidden = self._session.run(
            ["pooled", "token_vectors"], {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        )
        return pooled[0], hidden[0]


class _Encoded(NamedTuple):
    ids: list[int]
    offsets: list[tuple[int, int]]
    special_tokens_mask: list[int]


class _Seen(NamedTuple):
    """One pass: the text's vector, and ids and last-layer rows of its own tokens."""

    pooled: Vectors
    token_ids: list[int]
    rows: Vectors


def _means_something(text: str) -> bool:
    return any(map(str.isalnum, text))
