"""The limiter whose counts all processes share. Where Redis does not answer, each process counts for itself."""

from __future__ import annotations

import time
from collections.abc import Callable

from service.adapters.rate_limit import LocalLimiter, Rate
from service.adapters.redis_connection import RedisConnection, ignore

# The rule of rate_limit.py in one atomic step, by the clock of Redis: those of several machines differ. A value that
# is no number counts as none, and a TAT further ahead than can be is cut to the furthest: a clock that was put back,
# or a burst that was made smaller, locks nobody out.
_TAKE = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local interval, tolerance = tonumber(ARGV[1]), tonumber(ARGV[2])
local tat = tonumber(redis.call('GET', KEYS[1]) or now) or now
if not (tat > now) then tat = now end -- not a number is not more
tat = math.min(tat, now + tolerance + interval)
local wait = math.max(tat - tolerance - now, 0)
if wait == 0 then tat = tat + interval end
redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000))
return wait
"""


class RedisLimiter:
    """One budget a key in a shared Redis. Never raises after it is made, and waits for Redis once at most; then, and
    while Redis pauses, `fallback` counts: it starts with a whole burst, and each process has its own."""

    name = "redis"

    def __init__(
        self,
        url: str,
        rate: Rate,
        prefix: str,
        *,
        fallback: LocalLimiter | None = None,
        on_error: Callable[[str], None] = ignore,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = RedisConnection(url, on_error=on_error, clock=clock)
        self._rate = rate
        self._prefix = prefix
        self._fallback = fallback or LocalLimiter(rate)

    def take(self, key: str) -> float:
        # EVAL, not EVALSHA: a script that Redis has forgotten would cost further round trips.
        wait = self._redis.ask(
            "limit",
            lambda client: client.eval(
                _TAKE, 1, f"{self._prefix}:rate:{key}", self._rate.interval_us, self._rate.tolerance_us
            ),
        )
        return wait / 1e6 if isinstance(wait, int) else self._fallback.take(key)
