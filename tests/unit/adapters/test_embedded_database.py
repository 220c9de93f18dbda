"""The embedded store's file: several who make it at once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from service.adapters.embedded.database import Database

WRITERS = 8
# About one file in twenty-five failed before the write-ahead log was asked for again.
FILES = 150


def test_those_who_make_a_file_at_once_all_write_to_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(WRITERS) as pool:
        for number in range(FILES):
            database = Database(
                tmp_path / f"{number}.db", [["CREATE TABLE notes (writer INTEGER)"]], create=True
            )
            start = threading.Barrier(WRITERS)

            def write(writer: int, database: Database = database, start: threading.Barrier = start) -> None:
                start.wait()
                with database.writing() as connection:
                    connection.execute("INSERT INTO notes VALUES (?)", (writer,))

            list(pool.map(write, range(WRITERS)))
            with database.reading() as connection:
                written = [row[0] for row in connection.execute("SELECT writer FROM notes ORDER BY writer")]
            assert written == list(range(WRITERS))
