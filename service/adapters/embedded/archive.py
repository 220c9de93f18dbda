"""The archive in SQLite: create-only."""

from __future__ import annotations

import json
from collections.abc import Sequence

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.records import archived_from_record, archived_to_record, to_text
from service.domain.documents import ArchivedDocument
from service.text.wellformed import storable


class EmbeddedArchive:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def put(self, document: ArchivedDocument) -> bool:
        record = to_text(archived_to_record(document))
        check_storable(record)
        with self._stores.writing() as connection:
            done = connection.execute(
                "INSERT OR IGNORE INTO document (document_id, document_version, record) VALUES (?, ?, ?)",
                (document.document_id, document.document_version, record),
            )
            return done.rowcount == 1

    def get_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ArchivedDocument]:
        found = {}
        with self._stores.reading() as connection:
            for key in dict.fromkeys(keys):
                if all(map(storable, key)):
                    row = connection.execute(
                        "SELECT record FROM document WHERE document_id = ? AND document_version = ?", key
                    ).fetchone()
                    if row is not None:
                        found[key] = archived_from_record(json.loads(row[0]))
        return found

    def size(self) -> int:
        with self._stores.reading() as connection:
            row = connection.execute("SELECT SUM(LENGTH(CAST(record AS BLOB))) FROM document").fetchone()
        return int(row[0] or 0)
