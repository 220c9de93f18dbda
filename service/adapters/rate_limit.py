"""How often a key may pass: the rule, and the limiter of one process.

The rule is GCRA, the virtual scheduling algorithm of ITU-T I.371 (annex A) for ATM cell rates: a key keeps one
instant, the theoretical arrival time (TAT) of its next request. Each request that passes moves it on by one
interval; a request passes unless the TAT is further ahead than the burst allows. In whole microseconds this is
exact: within any time t at most `burst + t / interval` requests pass. A refused request moves nothing.

`redis_limiter` says the same in Lua. The package `limits` was looked at and not taken: its windows know no burst
beside the rate, keep a time stamp a request (moving) or approximate (sliding), need a second call to learn how
long to wait, and leave a Redis that is slow or gone to the caller.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock

_SWEEP_AT_LEAST = 1024


@dataclass(frozen=True, slots=True)
class Rate:
    """`per_minute` requests in the long run, `burst` of them at once."""

    per_minute: int
    burst: int

    @property
    def interval_us(self) -> int:
        """Microseconds between two requests, rounded up, so that the rate is never exceeded."""
        return -(-60_000_000 // self.per_minute)

    @property
    def tolerance_us(self) -> int:
        """How far the TAT may be ahead when a request passes."""
        return (self.burst - 1) * self.interval_us


def monotonic_us() -> int:
    return time.monotonic_ns() // 1000


class LocalLimiter:
    """Counts what this process sees. Keys whose TAT is past are as good as new and are swept away, so memory holds
    only keys of the last `burst` intervals."""

    name = "local"

    def __init__(self, rate: Rate, clock_us: Callable[[], int] = monotonic_us) -> None:
        self._rate = rate
        self._clock_us = clock_us
        self._tats: dict[str, int] = {}
        self._sweep_at = _SWEEP_AT_LEAST
        self._lock = Lock()

    def take(self, key: str) -> float:
        rate = self._rate
        with self._lock:
            now = self._clock_us()
            tat = max(self._tats.get(key, now), now)
            wait = tat - rate.tolerance_us - now
            if wait > 0:
                return wait / 1e6
            self._tats[key] = tat + rate.interval_us
            if len(self._tats) >= self._sweep_at:
                self._sweep(now)
            return 0.0

    def _sweep(self, now: int) -> None:
        self._tats = {key: tat for key, tat in self._tats.items() if tat > now}
        # Twice what is left: however many keys there are, a request pays for a constant share of the sweeps.
        self._sweep_at = max(_SWEEP_AT_LEAST, 2 * len(self._tats))


class NoLimiter:
    """Everything passes."""

    name = "none"

    def take(self, key: str) -> float:
        return 0.0
