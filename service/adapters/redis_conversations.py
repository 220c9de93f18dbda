"""Conversations in a shared Redis, which forgets them by itself."""

from __future__ import annotations

from collections.abc import Callable

from service.adapters.conversation_records import key_of, opened, sealed
from service.adapters.redis_connection import RedisConnection, ignore
from service.domain.conversations import Owner
from service.errors import Unavailable


class RedisConversations:
    name = "redis"

    def __init__(
        self, url: str, prefix: str, secret: bytes, *, on_error: Callable[[str], None] = ignore
    ) -> None:
        self._redis = RedisConnection(url, on_error=on_error)
        self._prefix = prefix
        self._secret = secret

    def get(self, owner: Owner, conversation_id: str) -> tuple[str, ...] | None:
        key = key_of(self._prefix, owner, conversation_id)
        answered = self._redis.ask("get", lambda client: (client.get(key),))
        if answered is None:
            # Not the same as none there: that would be told as a conversation that has ended.
            raise Unavailable("The conversation could not be read; ask again, or without it.")
        data = answered[0]
        return opened(self._secret, key, data) if isinstance(data, bytes) else None

    def keep(self, owner: Owner, conversation_id: str, questions: tuple[str, ...], ttl_s: int) -> None:
        key = key_of(self._prefix, owner, conversation_id)
        value = sealed(self._secret, key, questions)
        if self._redis.ask("set", lambda client: client.set(key, value, ex=ttl_s)) is None:
            raise Unavailable("The conversation could not be kept.")
