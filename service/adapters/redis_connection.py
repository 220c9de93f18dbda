"""One Redis, spoken to so that it may be slow, gone or wrong: whoever asks goes on without it."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.errors import Misconfigured

# Once for connecting and once for the reply: what asking may cost when Redis hangs.
CONNECT_TIMEOUT_S = 0.1
REPLY_TIMEOUT_S = 0.1
# After a failure nothing is asked for this long, so that one request pays for at most one delay and the requests
# after it for none; then one call tries again.
PAUSE_S = 2.0

T = TypeVar("T")


def ignore(kind: str) -> None:
    """Where nobody counts failures."""


class RedisConnection:
    """Asks Redis, within bounds. Never raises after it is made; `on_error` hears of each failure as
    `<operation>_<timeout|connection|refused>`, without the key."""

    def __init__(
        self,
        url: str,
        *,
        on_error: Callable[[str], None] = ignore,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        try:
            self._client = redis.Redis.from_url(
                url,
                socket_connect_timeout=CONNECT_TIMEOUT_S,
                socket_timeout=REPLY_TIMEOUT_S,
                # The client's default of 10 tries with pauses took 4 s on a closed port, 6 s on a hung one.
                retry=Retry(NoBackoff(), 0),
                # RESP2 without a client name needs no handshake: a first call waits for one reply, not for three.
                protocol=2,
                driver_info=None,
            )
        except ValueError as error:
            raise Misconfigured("The Redis URL cannot be read; it looks like redis://host:6379/0.") from error
        self._on_error = on_error
        self._clock = clock
        self._paused_until = float("-inf")
        self.failing = False  # the last thing asked was not answered, or refused

    def ask(self, operation: str, call: Callable[[redis.Redis], T]) -> T | None:
        """What one command answered; None when it was not asked, did not answer or refused."""
        if self._clock() < self._paused_until:
            return None
        try:
            answer = call(self._client)
            self.failing = False
            return answer
        except (redis.TimeoutError, TimeoutError):
            self._failed(operation, "timeout")
        except (redis.ConnectionError, OSError):
            self._failed(operation, "connection")
        except (redis.RedisError, ValueError):
            # An answer, though a refusal (read-only, full, wrong type): it costs no wait, and reads may still work.
            self.failing = True
            self._on_error(f"{operation}_refused")
        return None

    def healthy(self) -> bool:
        """Asks, whatever happened before; a good answer ends the pause."""
        try:
            self._client.ping()
        except (redis.RedisError, OSError):
            return False
        self._paused_until = float("-inf")
        self.failing = False
        return True

    def _failed(self, operation: str, kind: str) -> None:
        self._paused_until = self._clock() + PAUSE_S
        self.failing = True
        self._on_error(f"{operation}_{kind}")
