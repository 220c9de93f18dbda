"""Cache keys, cached values, the deadline and the trace."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.policy import scope_hash
from service.domain.answers import (
    Citation,
    Claim,
    ClaimFault,
    Gap,
    GroundedAnswer,
    Outcome,
    Reason,
    Retrieval,
    SearchResult,
)
from service.domain.documents import Span
from service.domain.rights import Scope
from service.errors import DeadlineExceeded
from service.online.caching import cache_key, dump_outcome, dump_search, load_outcome, load_search
from service.online.deadline import Deadline
from service.online.tracing import Recorder
from tests.unit.online.test_answering import evidence

VALUES: dict[str, Any] = {
    "generation": "attest-manuals-cv01-001",
    "profile": "default@1",
    "answerer": "model answer@1 schema refuse quotes",
    "rules": "aa",
    "scope_hash": scope_hash(Scope("acme", frozenset({"public"}), frozenset({"*", "user:alice"}))),
    "epoch": 3,
    "question": "重试几次",
}
KEY = cache_key("attest", "answer", **VALUES)


@pytest.mark.parametrize(
    "change",
    [
        {"generation": "attest-manuals-cv01-002"},
        {"profile": "default@2"},
        {"answerer": "other answer@1 schema refuse quotes"},
        {"answerer": "model answer@2 schema refuse quotes"},
        {"answerer": "model answer@1 schema strip quotes"},
        {"scope_hash": scope_hash(Scope("acme", frozenset({"public"}), frozenset({"*", "user:bob"})))},
        {"scope_hash": scope_hash(Scope("other", frozenset({"public"}), frozenset({"*", "user:alice"})))},
        {
            "scope_hash": scope_hash(
                Scope("acme", frozenset({"public", "pii"}), frozenset({"*", "user:alice"}))
            )
        },
        {"rules": "ab"},
        {"epoch": 4},
        {"question": "重试几次?"},
    ],
)
def test_a_key_differs_with_each_part(change: dict[str, Any]) -> None:
    assert cache_key("attest", "answer", **(VALUES | change)) != KEY


def test_a_key_differs_with_prefix_and_kind_and_is_else_the_same() -> None:
    assert cache_key("attest", "answer", **VALUES) == KEY
    assert cache_key("test", "answer", **VALUES) != KEY
    assert cache_key("attest", "search-10-plain", **VALUES) != KEY
    assert "重试" not in KEY


@given(
    st.lists(st.text(max_size=6), min_size=4, max_size=4),
    st.lists(st.text(max_size=6), min_size=4, max_size=4),
)
def test_no_text_can_forge_the_key_of_another(one: list[str], other: list[str]) -> None:
    def key(parts: list[str]) -> str:
        return cache_key(
            "p",
            "k",
            generation=parts[0],
            profile=parts[1],
            answerer="quotes",
            rules="",
            scope_hash=parts[2],
            epoch=0,
            question=parts[3],
        )

    assert (key(one) == key(other)) == (one == other)


def answered() -> GroundedAnswer:
    source = evidence("任务最多重试三次。", kind="list_item", heading_path=("一", "二"))
    citation = Citation("S1", "d1", "v1", "d1@v1#1", Span(0, 9), source.text, "ab" * 32, ("一", "二"), 3)
    return GroundedAnswer(
        status="answered",
        answer="任务最多重试三次。 [S1]",
        claims=(Claim(source.text, "extracted", (citation,)),),
        sources=(source,),
        retrieval=Retrieval("cv01", "gen", ("a", "b"), ("a",)),
        reason=None,
        gap=None,
        degraded=(),
        trace_id="t",
        engine="embedded",
        profile="default@1",
    )


REFUSED = replace(
    answered(), status="no_answer", answer=None, claims=(), sources=(), reason=Reason.CITATION_VALIDATION_FAILED,
    gap=Gap("x", ("重试",), "y", ("PPR-9087",)), fault=ClaimFault.UNSUPPORTED_CLAIM,
)  # fmt: skip


@pytest.mark.parametrize("answer", [answered(), REFUSED], ids=["answered", "refused"])
def test_an_answer_comes_back_as_it_was(answer: GroundedAnswer) -> None:
    outcome = Outcome(answer, frozenset({"d1", "d2"}))
    assert load_outcome(dump_outcome(outcome)) == outcome


def test_a_search_result_comes_back_as_it_was() -> None:
    result = SearchResult((), Retrieval("cv01", "gen"), (), "t", "embedded", "default@1")
    assert load_search(dump_search(result)) == result


DATA = dump_outcome(Outcome(answered()))


@pytest.mark.parametrize(
    "data", [b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100_000, dump_outcome(Outcome(REFUSED))[:-3]]
)
def test_what_is_no_entry_is_a_miss(data: bytes) -> None:
    assert load_outcome(data) is None
    assert load_search(data) is None


@given(st.integers(0, len(DATA) - 1))
def test_a_truncated_entry_is_a_miss(length: int) -> None:
    assert load_outcome(DATA[:length]) is None


# ── deadline ───────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_left_is_at_most_what_was_given_and_at_most_what_is_asked() -> None:
    deadline = Deadline.after(60)
    assert 59 < deadline.left() <= 60
    assert deadline.left(at_most=2.5) == 2.5


def test_it_only_grows_shorter() -> None:
    deadline = Deadline.after(60)
    first = deadline.left()
    time.sleep(0.01)
    assert deadline.left() <= first - 0.01


@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_a_spent_deadline_is_an_error(seconds: float) -> None:
    with pytest.raises(DeadlineExceeded):
        Deadline.after(seconds).left(at_most=5)


# ── trace ──────────────────────────────────────────────────────────────────────────────────────────────


def test_stages_are_recorded_in_order_even_when_they_fail() -> None:
    trace = Recorder("t1", header={"corpus": "manuals"})
    with trace.stage("embed") as stage:
        stage.went_out = 1
    with pytest.raises(RuntimeError), trace.stage("legs", 7) as stage:  # noqa: PT012
        stage.detail = {"found": 2}
        raise RuntimeError
    trace.degrade("leg_knn")
    trace.degrade("leg_knn")
    trace.saw(["b", "a"])
    trace.saw(["a"])
    record = trace.record({"status": "answered"})
    assert [(s["stage"], s["in"], s["out"], s["detail"]) for s in record["stages"]] == [
        ("embed", 0, 1, {}),
        ("legs", 7, 0, {"found": 2}),
    ]
    assert all(s["ms"] >= 0 for s in record["stages"])
    assert (record["degraded"], record["documents"]) == (["leg_knn"], ["a", "b"])
    assert (record["traceId"], record["corpus"], record["outcome"]) == (
        "t1",
        "manuals",
        {"status": "answered"},
    )
