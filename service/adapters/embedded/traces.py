"""Request traces in SQLite, dropped after a few days."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.records import to_text
from service.text.wellformed import storable

# A trace serves to look into a request soon after it; it is no log.
KEEP_S = 7 * 86_400


class EmbeddedTraces:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def save(self, trace_id: str, record: Mapping[str, Any]) -> None:
        text = to_text(dict(record))
        check_storable(trace_id, text)
        now = time.time()
        with self._stores.writing() as connection:
            connection.execute(
                "REPLACE INTO trace (trace_id, saved_at, record) VALUES (?, ?, ?)", (trace_id, now, text)
            )
            connection.execute("DELETE FROM trace WHERE saved_at < ?", (now - KEEP_S,))

    def get(self, trace_id: str) -> dict[str, Any] | None:
        if not storable(trace_id):
            return None
        with self._stores.reading() as connection:
            row = connection.execute("SELECT record FROM trace WHERE trace_id = ?", (trace_id,)).fetchone()
        return None if row is None else json.loads(row[0])

    def citing(self, corpus: str, most: int) -> list[dict[str, Any]]:
        with self._stores.reading() as connection:
            rows = connection.execute(
                "SELECT record FROM trace WHERE json_extract(record, '$.corpus') = ?"
                " AND json_array_length(record, '$.outcome.citations') > 0 ORDER BY saved_at DESC, rowid DESC LIMIT ?",
                (corpus, most),
            ).fetchall()
        return [json.loads(record) for (record,) in rows]
