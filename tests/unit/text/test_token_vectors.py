"""The four-bit codec gives back what went in within its bound."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from service.text.token_vectors import decode, encode, token_bytes

COMPONENT = st.floats(-1, 1, width=32)


def matrices(dimension: int) -> st.SearchStrategy[np.ndarray]:
    return st.integers(0, 6).flatmap(lambda rows: arrays(np.float32, (rows, dimension), elements=COMPONENT))


def units(rows: int, dimension: int, seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal((rows, dimension)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


@given(matrices(8))
def test_every_component_comes_back_within_half_a_step(vectors: np.ndarray) -> None:
    packed = encode(vectors)
    assert len(packed) == len(vectors) * token_bytes(8)
    back = decode(packed, 8)
    assert back.shape == vectors.shape
    step = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True) / 7
    # float16 keeps eleven bits of a scale, and none below its least number.
    assert np.all(np.abs(back - vectors) <= step * (0.5 + 0.004) + 7 * 2.0**-25)


@given(matrices(8))
def test_what_was_decoded_is_encoded_the_same(vectors: np.ndarray) -> None:
    """Copies of copies lose nothing more: a build that takes vectors over keeps the bytes, and could also not."""
    # Below the normal float16 numbers a scale has fewer bits than a step takes.
    vectors[np.abs(vectors).max(axis=1, initial=0.0) < 1e-3] = 0
    once = decode(encode(vectors), 8)
    assert np.allclose(decode(encode(once), 8), once, rtol=2e-3, atol=1e-6)


def test_a_token_of_384_components_takes_194_bytes() -> None:
    assert len(encode(units(1, 384, 1))) == 194


def test_a_cosine_moves_by_little() -> None:
    one, other = units(200, 384, 2), units(200, 384, 3)
    moved = np.abs((one * decode(encode(other), 384)).sum(axis=1) - (one * other).sum(axis=1))
    assert moved.max() < 0.03


def test_bytes_that_are_no_whole_tokens_are_refused() -> None:
    with pytest.raises(ValueError, match="reshape"):
        decode(encode(units(2, 16, 6))[:-1], 16)
