"""Undecided claims in SQLite, compare-and-set, dropped as old as traces are."""

from __future__ import annotations

import dataclasses
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.embedded.registry import write_marked
from service.adapters.embedded.traces import KEEP_S
from service.adapters.records import review_from_text, review_to_text
from service.domain.reviews import Review
from service.text.wellformed import storable


class EmbeddedReviews:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def get(self, review_id: str) -> Review | None:
        if not storable(review_id):
            return None
        with self._stores.reading() as connection:
            row = connection.execute(
                "SELECT record, mark FROM review WHERE review_id = ?", (review_id,)
            ).fetchone()
        return None if row is None else review_from_text(row[0], str(row[1]))

    def write(self, review: Review) -> Review:
        record = review_to_text(review)
        check_storable(record)
        columns = {"corpus": review.corpus, "at": review.at, "record": record}
        with self._stores.writing() as connection:
            mark = write_marked(connection, "review", {"review_id": review.review_id}, columns, review.token)
            if review.token is None:
                _drop_old(connection)
        return dataclasses.replace(review, token=mark)

    def scan(self, corpus: str) -> Iterator[Review]:
        with self._stores.writing() as connection:
            _drop_old(connection)
            rows = connection.execute(
                "SELECT record, mark FROM review WHERE corpus = ? ORDER BY at, review_id", (corpus,)
            ).fetchall()
        for record, mark in rows:
            yield review_from_text(record, str(mark))


def _drop_old(connection: sqlite3.Connection) -> None:
    before = (datetime.now(UTC) - timedelta(seconds=KEEP_S)).isoformat(timespec="seconds")
    connection.execute("DELETE FROM review WHERE at < ?", (before,))
