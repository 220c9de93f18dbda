"""Is the built model the one it should be? Cosines of the same passages, embedded by two models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from embedder_build.passages import CHINESE, ENGLISH

LEAST = 0.995  # of the mean cosine; below it search results change visibly
PREFIX = "passage: "

Vectors = NDArray[np.float32]
Embed = Callable[[Sequence[str]], Vectors]


def embed_with(model: Path, tokenizer: Path, together: bool = False) -> Embed:
    """(n, dimension) of texts, each run alone, or all together in one padded batch."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1  # the build shares its machine
    session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    pieces = Tokenizer.from_file(str(tokenizer))
    pieces.enable_padding(pad_id=pieces.token_to_id("<pad>"), pad_token="<pad>")

    def run(texts: Sequence[str]) -> Vectors:
        encoded = pieces.encode_batch([PREFIX + text for text in texts])
        feed = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": np.array([one.attention_mask for one in encoded], dtype=np.int64),
        }
        pooled: Vectors = session.run(["pooled"], feed)[0]
        return pooled

    return run if together else lambda texts: np.concatenate([run([text]) for text in texts])


def cosines(one: Embed, other: Embed) -> dict[str, NDArray[np.float64]]:
    """Per language, the cosine of each passage's two vectors."""
    return {
        language: _cosine(one(texts), other(texts)) for language, texts in (("zh", CHINESE), ("en", ENGLISH))
    }


def _cosine(a: Vectors, b: Vectors) -> NDArray[np.float64]:
    dots = (a.astype(np.float64) * b).sum(axis=1)
    found: NDArray[np.float64] = dots / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))
    return found
