"""The limiter of one process: exact in every window, forgetful of nothing that counts, small in memory."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.adapters import rate_limit
from service.adapters.rate_limit import LocalLimiter, NoLimiter, Rate


class Clock:
    """Whole microseconds, and only when told."""

    def __init__(self) -> None:
        self.now = 0

    def __call__(self) -> int:
        return self.now


RATES = st.builds(Rate, per_minute=st.integers(1, 1_000_000), burst=st.integers(1, 50))


@given(rate=RATES, steps=st.lists(st.integers(0, 3_000_000), max_size=200))
def test_no_window_holds_more_than_burst_and_rate(rate: Rate, steps: list[int]) -> None:
    clock = Clock()
    limiter = LocalLimiter(rate, clock)
    passed: list[int] = []
    for step in steps:
        clock.now += step
        if limiter.take("a") == 0.0:
            passed.append(clock.now)
    for first, start in enumerate(passed):
        for last in range(first, len(passed)):
            # Whole numbers: (n - burst) intervals fit into the time, else one too many has passed.
            inside = last - first + 1
            assert inside * 60_000_000 <= rate.burst * 60_000_000 + (passed[last] - start) * rate.per_minute


@given(rate=RATES, steps=st.lists(st.integers(0, 3_000_000), max_size=100))
def test_the_wait_that_is_named_is_enough_and_not_too_long(rate: Rate, steps: list[int]) -> None:
    clock = Clock()
    limiter = LocalLimiter(rate, clock)
    for step in steps:
        clock.now += step
        wait_us = round(limiter.take("a") * 1e6)
        if wait_us:
            assert wait_us <= rate.interval_us
            clock.now += wait_us - 1
            assert limiter.take("a") > 0, "one microsecond early"
            clock.now += 1
            assert limiter.take("a") == 0.0


def test_a_burst_then_one_each_interval() -> None:
    clock = Clock()
    limiter = LocalLimiter(Rate(60, 3), clock)
    assert [limiter.take("a") for _ in range(5)] == [0.0, 0.0, 0.0, 1.0, 1.0]
    clock.now += 999_999
    assert limiter.take("a") == pytest.approx(1e-6)
    clock.now += 1
    assert [limiter.take("a"), limiter.take("a")] == [0.0, 1.0]
    clock.now += 3_600_000_000
    assert [limiter.take("a") for _ in range(4)] == [0.0, 0.0, 0.0, 1.0], (
        "an hour's rest saves up one burst, not more"
    )


def test_one_key_uses_up_nothing_of_another() -> None:
    limiter = LocalLimiter(Rate(60, 1), Clock())
    assert limiter.take("a") == 0.0
    assert limiter.take("a") > 0
    assert limiter.take("b") == 0.0


def test_what_is_refused_counts_for_nothing() -> None:
    clock = Clock()
    limiter = LocalLimiter(Rate(60, 1), clock)
    limiter.take("a")
    for _ in range(1000):
        assert limiter.take("a") == 1.0
    clock.now += 1_000_000
    assert limiter.take("a") == 0.0


def test_memory_holds_only_who_asked_lately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "_SWEEP_AT_LEAST", 10)
    clock = Clock()
    limiter = LocalLimiter(Rate(60, 1), clock)
    limiter._sweep_at = 10
    for number in range(1000):
        limiter.take(str(number))
        clock.now += 500_000
    assert len(limiter._tats) <= 10
    assert limiter.take("1000") == 0.0
    assert limiter.take("1000") > 0, "who is swept away is past; who is not is still counted"


def test_threads_share_one_budget() -> None:
    limiter = LocalLimiter(Rate(1, 100), Clock())
    passed: list[int] = []

    def work() -> None:
        for _ in range(50):
            if limiter.take("a") == 0.0:
                passed.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(passed) == 100


def test_no_limit_is_none() -> None:
    assert {NoLimiter().take("a") for _ in range(1000)} == {0.0}
