"""The read stage and what it makes of readings: all of the passages or none, and why not."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from service.domain.documents import Span
from service.domain.reading import Reading
from service.online import reading


def made(answers: float, *tokens: tuple[int, int, float, float]) -> Reading:
    """A token is its start, its end, and the logits that the answer begins and ends there."""
    return Reading(
        answers,
        np.array([token[:2] for token in tokens], dtype=np.int64).reshape(-1, 2),
        np.array([token[2] for token in tokens], dtype=np.float32),
        np.array([token[3] for token in tokens], dtype=np.float32),
    )


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def test_what_is_within_a_span_begins_and_ends_there() -> None:
    one = made(1.0, (0, 2, 5.0, -1.0), (2, 4, -3.0, 2.0), (4, 6, 9.0, 9.0))
    assert one.within(Span(0, 4)) == 7.0
    assert one.within(Span(2, 4)) == -1.0
    # A token that the span cuts is of both sides; what no token covers was not read.
    assert one.within(Span(3, 5)) == 18.0
    assert one.within(Span(6, 9)) == made(1.0).within(Span(0, 9)) == -20.0


def test_every_passage_is_read_in_order(executor: ThreadPoolExecutor) -> None:
    told = reading.apply(lambda _, passage: made(len(passage)), "q", ["a", "bcd"], 5.0, executor)
    assert [one.answers for one in told.found] == [1, 3]
    assert told.fault is None


def test_without_a_reader_or_passages_nothing_is_read(executor: ThreadPoolExecutor) -> None:
    assert reading.apply(None, "q", ["a"], 5.0, executor) == reading.Readings()
    assert reading.apply(lambda *_: made(0), "q", [], 5.0, executor) == reading.Readings()


def test_one_that_fails_costs_all(executor: ThreadPoolExecutor) -> None:
    def read(_: str, passage: str) -> Reading:
        if passage == "bad":
            raise RuntimeError("runtime")
        return made(1.0)

    assert reading.apply(read, "q", ["a", "bad"], 5.0, executor) == reading.Readings(fault="failed")


def test_one_that_is_late_costs_all_and_is_not_waited_for(executor: ThreadPoolExecutor) -> None:
    go_on = threading.Event()

    def read(_: str, passage: str) -> Reading:
        go_on.wait(30)
        return made(1.0)

    assert reading.apply(read, "q", ["a"], 0.01, executor) == reading.Readings(fault="late")
    assert not go_on.is_set()
    go_on.set()
