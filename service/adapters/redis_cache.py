"""The cache in Redis, and no cache at all. A cache may be slow, gone or wrong: the request goes on without it."""

from __future__ import annotations

import time
from collections.abc import Callable

from service.adapters.redis_connection import RedisConnection, ignore


class RedisCache:
    """Bytes by key in a shared Redis. Never raises after it is made; `on_error` hears of each failure as
    `<get|set>_<timeout|connection|refused>`, without the key."""

    name = "redis"

    def __init__(
        self,
        url: str,
        *,
        on_error: Callable[[str], None] = ignore,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._redis = RedisConnection(url, on_error=on_error, clock=clock)

    def get(self, key: str) -> bytes | None:
        found = self._redis.ask("get", lambda client: client.get(key))
        return found if isinstance(found, bytes) else None

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self._redis.ask("set", lambda client: client.set(key, value, ex=ttl_s))

    @property
    def failing(self) -> bool:
        return self._redis.failing

    def healthy(self) -> bool:
        """Asks, whatever happened before; a good answer ends the pause."""
        return self._redis.healthy()


class NoCache:
    """Nothing is kept: every question is answered anew."""

    name = "none"
    failing = False

    def get(self, key: str) -> bytes | None:
        return None

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        return None

    def healthy(self) -> bool:
        return True
