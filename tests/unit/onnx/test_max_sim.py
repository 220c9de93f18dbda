"""Late interaction by its graph is what its definition says, and a score is the same alone and in company."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from service.bootstrap import data_folder
from service.domain.retrieval import QuestionTokens
from service.onnx.max_sim import NOTHING_MET, OnnxMaxSim
from service.text.token_vectors import decode, encode

GRAPH = OnnxMaxSim(data_folder("rerank_models") / "late-interaction" / "max_sim.onnx")
DIMENSION = 16


def units(rows: int, seed: int) -> NDArray[np.float32]:
    made = np.random.default_rng(seed).standard_normal((rows, DIMENSION)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), dtype=np.float32)


def asked(rows: int, seed: int) -> QuestionTokens:
    weights = np.random.default_rng(seed).random(rows).astype(np.float32)
    return QuestionTokens(units(rows, seed), weights / max(float(weights.sum()), 1e-9))


@given(st.integers(1, 5), st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 1000))
def test_it_is_the_mean_of_the_nearest(tokens: int, held: list[int], seed: int) -> None:
    question = asked(tokens, seed)
    passages = [encode(units(rows, seed + place + 1)) for place, rows in enumerate(held)]
    for packed, found in zip(passages, GRAPH.score(question, passages), strict=True):
        nearest = (question.vectors @ decode(packed, DIMENSION).T).max(axis=1)
        # The question's components are rounded to eight bits.
        assert found.plain == pytest.approx(float(nearest.mean()), abs=0.01)
        assert found.weighted == pytest.approx(float(nearest @ question.weights), abs=0.01)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=9), st.integers(0, 1000))
def test_alone_in_company_and_in_any_order(held: list[int], seed: int) -> None:
    question = asked(3, seed)
    passages = [encode(units(rows, seed + place + 1)) for place, rows in enumerate(held)]
    together = GRAPH.score(question, passages)
    assert together == [GRAPH.score(question, [packed])[0] for packed in passages]
    assert together[::-1] == GRAPH.score(question, passages[::-1])


def test_padding_never_wins() -> None:
    """All components of the one passage point away from the question: nought, which padding would give, is nearer."""
    question = QuestionTokens(units(1, 7), np.ones(1, np.float32))
    away, long = encode(-question.vectors), encode(units(9, 8))
    assert GRAPH.score(question, [away, long])[0].plain == pytest.approx(-1, abs=0.05)


def test_nothing_meets_a_text_without_tokens() -> None:
    assert GRAPH.score(asked(2, 4), [b""]) == [NOTHING_MET]
    assert GRAPH.score(None, [encode(units(2, 5))]) == [NOTHING_MET]
    assert GRAPH.score(QuestionTokens(units(0, 1), np.zeros(0, np.float32)), [encode(units(2, 5))]) == [
        NOTHING_MET
    ]
    assert GRAPH.score(asked(2, 4), []) == []
