"""Earlier changes of registry entries in SQLite, append-only."""

from __future__ import annotations

import json
from collections.abc import Iterator

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.records import change_from_record, change_to_record, to_text
from service.domain.documents import RegistryChange
from service.text.wellformed import storable


class EmbeddedAudit:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def append(self, change: RegistryChange) -> None:
        record = to_text(change_to_record(change))
        check_storable(record)
        with self._stores.writing() as connection:
            connection.execute(
                "INSERT OR IGNORE INTO change (corpus, document_id, sequence, record) VALUES (?, ?, ?, ?)",
                (change.corpus, change.document_id, change.sequence, record),
            )

    def scan(self, corpus: str, document_id: str | None = None) -> Iterator[RegistryChange]:
        if document_id is not None and not storable(document_id):
            return
        with self._stores.reading() as connection:
            rows = connection.execute(
                "SELECT record FROM change WHERE corpus = ? AND (? IS NULL OR document_id = ?)"
                " ORDER BY document_id, sequence",
                (corpus, document_id, document_id),
            ).fetchall()
        for (record,) in rows:
            yield change_from_record(json.loads(record))
