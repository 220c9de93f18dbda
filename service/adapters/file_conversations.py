"""Conversations in one SQLite file of this machine, where there is no Redis."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from service.adapters.conversation_records import key_of, opened, sealed
from service.domain.conversations import Owner
from service.errors import Unavailable

_BUSY_S = 2.0
_NO_SECRET = b""  # whoever writes in the data folder has everything already


class FileConversations:
    """`clock` gives seconds since the epoch."""

    name = "file"

    def __init__(self, path: Path, prefix: str, *, clock: Callable[[], float] = time.time) -> None:
        self._path = path
        self._prefix = prefix
        self._clock = clock

    def get(self, owner: Owner, conversation_id: str) -> tuple[str, ...] | None:
        key = key_of(self._prefix, owner, conversation_id)
        with self._file() as file:
            row = file.execute(
                "SELECT value FROM conversation WHERE key = ? AND until > ?", (key, self._clock())
            ).fetchone()
        return opened(_NO_SECRET, key, bytes(row[0])) if row else None

    def keep(self, owner: Owner, conversation_id: str, questions: tuple[str, ...], ttl_s: int) -> None:
        key, now = key_of(self._prefix, owner, conversation_id), self._clock()
        with self._file() as file:
            file.execute("DELETE FROM conversation WHERE until <= ?", (now,))
            file.execute(
                "REPLACE INTO conversation (key, until, value) VALUES (?, ?, ?)",
                (key, now + ttl_s, sealed(_NO_SECRET, key, questions)),
            )

    @contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(self._path, timeout=_BUSY_S)) as file, file:
                file.execute(
                    "CREATE TABLE IF NOT EXISTS conversation"
                    " (key TEXT PRIMARY KEY, until REAL NOT NULL, value BLOB NOT NULL) WITHOUT ROWID"
                )
                yield file
        except (sqlite3.Error, OSError) as error:
            raise Unavailable(
                "The file of conversations cannot be used; ask without a conversation."
            ) from error
