"""A threshold of nought is a threshold, and one that is not there is not nought (dify#41488)."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from service.domain.answers import Candidate
from service.domain.documents import Span
from service.domain.retrieval import FoundChunk, Hit, LegResult
from service.online import evidence, retrieval
from service.profiles.ranking import Legs, load_profile


def chunk(name: str) -> FoundChunk:
    return FoundChunk(
        chunk_id=name,
        document_id=name,
        document_version="1",
        ordinal=0,
        kind="paragraph",
        heading_path=(),
        span=Span(0, 4),
        text="泵的额定",
        text_sha256="",
        search_prefix="",
        section="",
        page=None,
        previous_id=None,
        next_id=None,
        title="",
        locale="zh",
        canonical_url="",
        anchors=(),
    )


def neighbours(*cosines: float) -> tuple[LegResult, ...]:
    hits = tuple(Hit(chunk(str(c)), rank, (1 + c) / 2) for rank, c in enumerate(cosines, 1))
    return (LegResult("knn", hits, 0.0),)


def kept(floor: float) -> list[str]:
    [leg] = retrieval.relevant(neighbours(0.5, 0.0, -0.5), floor)
    return [hit.chunk.chunk_id for hit in leg.hits]


def test_a_floor_of_nought_drops_what_lies_below_it() -> None:
    assert kept(0.0) == ["0.5", "0.0"]
    assert kept(-1.0) == ["0.5", "0.0", "-0.5"]


@pytest.mark.parametrize("floor", [None, "0", False])
def test_a_floor_that_is_no_number_is_refused(floor: object) -> None:
    legs = load_profile("default").legs.model_dump()
    assert Legs.model_validate(legs | {"knn_floor": 0.0}).knn_floor == 0
    with pytest.raises(ValidationError, match="knn_floor"):
        Legs.model_validate(legs | {"knn_floor": floor})


@pytest.mark.parametrize(("relevance", "answers"), [(0.0, True), (-0.001, False)])
def test_the_gate_s_nought_is_a_threshold(relevance: float, answers: bool) -> None:
    gate = load_profile("default").gate.model_copy(update={"semantic_relevance": 0.0})
    best = Candidate("a", 1.0, features={"relevance": relevance})
    decision = evidence.decide([best], {"a": chunk("a")}, ["泵"], "zh", (), gate, frozenset({"bm25"}))
    assert (decision.reason is None) is answers
