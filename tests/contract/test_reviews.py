"""Claims that could not be decided, on both engines: compare-and-set, in order, and gone as early as traces."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest

from service.domain.documents import Span
from service.domain.ports import Engine
from service.domain.reviews import CitedSpan, Review, Undecided
from service.errors import Conflict
from tests.contract.material import CORPUS, VERSION

UNDECIDED = Undecided(
    "保修期是一年 😀。", "words", (CitedSpan("文档/二", "v1", Span(3, 9)),), ("doc", "文档/二")
)


def review(name: str = "a", seconds_ago: float = 0, corpus: str = CORPUS) -> Review:
    at = (datetime.now(UTC) - timedelta(seconds=seconds_ago)).isoformat(timespec="seconds")
    return Review(name, at, "acme", corpus, VERSION, "g", "t", UNDECIDED)


def test_a_review_is_read_as_it_was_written(engine: Engine) -> None:
    assert engine.reviews.get("a") is None
    assert engine.reviews.get("\ud800") is None
    assert list(engine.reviews.scan(CORPUS)) == []
    first = review()
    written = engine.reviews.write(first)
    assert written == dataclasses.replace(first, token=written.token)
    assert engine.reviews.get("a") == written
    marked = dataclasses.replace(
        written,
        state="supported",
        marked_by="user:ann",
        marked_at="2026-12-03T00:00:00+00:00",
        note="同义 '\"\n",
    )
    again = engine.reviews.write(marked)
    assert engine.reviews.get("a") == dataclasses.replace(marked, token=again.token)
    assert list(engine.reviews.scan(CORPUS)) == [again]


def test_of_two_who_read_the_same_review_one_marks_it(engine: Engine) -> None:
    read = engine.reviews.write(review())
    engine.reviews.write(dataclasses.replace(read, state="supported", marked_by="ann"))
    with pytest.raises(Conflict):
        engine.reviews.write(dataclasses.replace(read, state="unsupported", marked_by="bob"))
    with pytest.raises(Conflict):
        engine.reviews.write(review())
    kept = engine.reviews.get("a")
    assert kept is not None and (kept.state, kept.marked_by) == ("supported", "ann")


def test_reviews_of_a_corpus_come_oldest_first(engine: Engine) -> None:
    for one in (review("late", 1), review("early", 90), review("b", 50), review("other", 70, "elsewhere")):
        engine.reviews.write(one)
    assert [one.review_id for one in engine.reviews.scan(CORPUS)] == ["early", "b", "late"]
    assert [one.review_id for one in engine.reviews.scan("elsewhere")] == ["other"]
    assert list(engine.reviews.scan("nothing")) == []


def test_a_review_goes_when_a_trace_of_its_time_would(engine: Engine) -> None:
    """Marked or not, by the next that is written or the next look at the queue."""
    week = 7 * 86_400
    engine.reviews.write(review("kept", week - 600))
    engine.reviews.write(review("old", week + 600))
    assert [one.review_id for one in engine.reviews.scan(CORPUS)] == ["kept"]
    assert engine.reviews.get("old") is None
