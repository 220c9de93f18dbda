"""The teacher: what all twelve layers of the embedder say of a question and a window that they read apart.

Late interaction (each token of the question with its nearest of the window; Khattab and Zaharia, SIGIR 2020), plain
and weighted by rarity, and the cosine of the two texts. It knows both languages and needs no gold, so it says of every
window how near it comes, where gold says only which one is right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from service.onnx.session import open_session, open_tokenizer
from service.text.folding import fold_width

QUESTION, WINDOW = "query: ", "passage: "
# Of a softmax over candidates, fitted to questions of these sets for the worst set's good.
COSINE, NEAREST, RARE_NEAREST = 26.0, 3.4, 6.8

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Read:
    """`text` is the unit vector of all of it, `tokens` (n, dimension) those of its tokens, not yet centred."""

    text: Vectors
    ids: tuple[int, ...]
    tokens: Vectors


class Reader:
    def __init__(self, folder: Path) -> None:
        self._session = open_session(folder / "model.onnx", 2)
        self._tokenizer = open_tokenizer(folder / "tokenizer.json")

    def read(self, text: str, prefix: str) -> Read:
        encoded = self._tokenizer.encode(prefix + fold_width(text))
        ids = np.asarray([encoded.ids[:512]], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        pooled, hidden = self._session.run(["pooled", "token_vectors"], feed)
        own = [
            place
            for place, ((_, end), special) in enumerate(
                zip(encoded.offsets[:512], encoded.special_tokens_mask[:512], strict=True)
            )
            if not special and end > len(prefix)
        ]
        return Read(pooled[0], tuple(encoded.ids[place] for place in own), hidden[0][own])


class Teacher:
    """Scores of a question and a window of one set, whose windows say what is common to all and which token is rare."""

    def __init__(self, windows: Iterable[Read]) -> None:
        windows = list(windows)
        self._centre = np.concatenate([w.tokens for w in windows]).mean(axis=0)
        self._windows, self._seen = len(windows), _documents(windows)

    def score(self, question: Read, window: Read) -> float:
        cosine = float(question.text @ window.text)
        if not question.ids or not window.ids:
            return COSINE * cosine
        nearest = (self._unit(question) @ self._unit(window).T).max(axis=1)
        rarity = np.log1p(self._windows / (1 + np.array([self._seen.get(i, 0) for i in question.ids])))
        return (
            COSINE * cosine
            + NEAREST * float(nearest.mean())
            + RARE_NEAREST * float(nearest @ rarity / rarity.sum())
        )

    def _unit(self, read: Read) -> Vectors:
        centred = read.tokens - self._centre
        unit: Vectors = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-9)
        return unit


def _documents(windows: Iterable[Read]) -> Mapping[int, int]:
    """In how many windows each token stands."""
    counts: dict[int, int] = {}
    for window in windows:
        for token in set(window.ids):
            counts[token] = counts.get(token, 0) + 1
    return counts
