"""The registry in SQLite: compare-and-set by a mark that each write raises."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database, groups
from service.adapters.records import entry_from_record, entry_to_record, to_text
from service.domain.documents import RegistryEntry
from service.errors import Conflict
from service.text.wellformed import storable


class EmbeddedRegistry:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def get_many(self, corpus: str, document_ids: Sequence[str]) -> dict[str, RegistryEntry]:
        names = list(filter(storable, dict.fromkeys(document_ids)))
        found: dict[str, RegistryEntry] = {}
        with self._stores.reading() as connection:
            for marks, group in groups(names):
                rows = connection.execute(
                    "SELECT document_id, record, mark FROM entry"
                    f" WHERE corpus = ? AND document_id IN ({marks})",
                    (corpus, *group),
                )
                found |= {
                    name: entry_from_record(json.loads(record), str(mark)) for name, record, mark in rows
                }
        return found

    def write(self, entry: RegistryEntry) -> RegistryEntry:
        record = to_text(entry_to_record(entry))
        check_storable(record)
        with self._stores.writing() as connection:
            mark = write_marked(
                connection,
                "entry",
                {"corpus": entry.corpus, "document_id": entry.document_id},
                {"record": record},
                entry.token,
            )
        return entry_from_record(json.loads(record), mark)

    def scan(self, corpus: str) -> Iterator[RegistryEntry]:
        with self._stores.reading() as connection:
            rows = connection.execute(
                "SELECT record, mark FROM entry WHERE corpus = ? ORDER BY document_id", (corpus,)
            ).fetchall()
        for record, mark in rows:
            yield entry_from_record(json.loads(record), str(mark))

    def corpora(self) -> tuple[str, ...]:
        with self._stores.reading() as connection:
            return tuple(name for (name,) in connection.execute("SELECT corpus FROM profile ORDER BY corpus"))

    def corpus_profile(self, corpus: str) -> dict[str, Any] | None:
        with self._stores.reading() as connection:
            row = connection.execute("SELECT record FROM profile WHERE corpus = ?", (corpus,)).fetchone()
        return None if row is None else json.loads(row[0])

    def write_corpus_profile(self, corpus: str, profile: Mapping[str, Any]) -> None:
        record = to_text(dict(profile))
        check_storable(record)
        with self._stores.writing() as connection:
            connection.execute("REPLACE INTO profile (corpus, record) VALUES (?, ?)", (corpus, record))

    def epoch(self) -> int:
        with self._stores.reading() as connection:
            row = connection.execute("SELECT value FROM epoch").fetchone()
        return 0 if row is None else int(row[0])

    def raise_epoch(self) -> int:
        with self._stores.writing() as connection:
            [(value,)] = connection.execute(
                "INSERT INTO epoch (one, value) VALUES (1, 1)"
                " ON CONFLICT (one) DO UPDATE SET value = value + 1 RETURNING value"
            ).fetchall()
        return int(value)


def write_marked(
    connection: sqlite3.Connection,
    table: str,
    key: Mapping[str, Any],
    columns: Mapping[str, Any],
    token: str | None,
) -> str:
    """Inserts (no token) or replaces the row whose mark is the token; the new mark. Raises Conflict."""
    if token is None:
        row = {**key, **columns, "mark": 1}
        done = connection.execute(
            f"INSERT OR IGNORE INTO {table} ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            tuple(row.values()),
        )
        mark = 1
    else:
        mark = int(token) + 1
        changes = ", ".join(f"{name} = ?" for name in (*columns, "mark"))
        matches = " AND ".join(f"{name} = ?" for name in (*key, "mark"))
        done = connection.execute(
            f"UPDATE {table} SET {changes} WHERE {matches}",
            (*columns.values(), mark, *key.values(), int(token)),
        )
    if done.rowcount != 1:
        raise Conflict("The record was written by somebody else meanwhile; read it again.")
    return str(mark)
