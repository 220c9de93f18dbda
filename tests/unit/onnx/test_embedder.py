"""The shipped embedder: unit vectors, the same alone and in a batch, token spans, the reference tokenizer, meaning."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import service
from service.onnx.embedder import OnnxEmbedder
from service.onnx.session import open_tokenizer

FOLDER = Path(service.__file__).parent / "embedders" / "multilingual-e5-small"
TEXTS = [
    "同一任务最多自动重试三次。",
    "The same task is retried three times at most.",
    "今天天气晴朗，适合散步。",
    "ERROR 8005 (HY000): Write Conflict, txnStartTS is stale",
    "ＦＵＬＬ　ｗｉｄｔｈ １２３",
    "x" * 3000,
    "SELECT * FROM t WHERE a = 'b' -- 注释",
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(FOLDER)


def test_vectors_have_unit_length(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_a_vector_does_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_passages(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        # Dynamic int8 takes its scale from the whole batch, so equality is up to quantisation.
        assert float(embedder.embed_passages([text])[0] @ vector) > 0.99


def test_a_text_without_letters_has_no_direction(embedder: OnnxEmbedder) -> None:
    assert not embedder.embed_passages(["——  …", "!!!"]).any()


def test_meaning_crosses_languages(embedder: OnnxEmbedder) -> None:
    """Within one pair of languages; between pairs cosines are not comparable, hence the profile's baselines."""
    weather = "The weather is fine today, good for a walk."
    zh_retry, en_retry, zh_weather, en_weather = embedder.embed_passages([*TEXTS[:3], weather])
    assert en_retry @ zh_retry > en_retry @ zh_weather
    assert en_weather @ zh_weather > en_weather @ zh_retry


def test_token_vectors_lie_on_the_text(embedder: OnnxEmbedder) -> None:
    for text, (vectors, spans) in zip(TEXTS, embedder.token_vectors(TEXTS), strict=True):
        assert len(vectors) == len(spans) > 0
        assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)
        assert all(0 <= start < end <= len(text) for start, end in spans)


def test_tokens_are_those_of_the_reference_library() -> None:
    ours = open_tokenizer(FOLDER / "tokenizer.json")
    reference = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"))
    for text in TEXTS:
        assert ours.encode(text).ids == reference(text)["input_ids"]
