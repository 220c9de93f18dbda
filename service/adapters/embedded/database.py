"""One SQLite file: a connection per thread and process, short transactions, errors made ours."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from service.errors import GenerationGone, Misconfigured, Unavailable

# How long a writer waits for another one; builds write in transactions of well under a second.
BUSY_TIMEOUT_S = 10.0
# SQLite takes 32766 parameters in one statement; ids are looked up in smaller groups.
MAX_PARAMETERS = 500

_Value = TypeVar("_Value", str, int)


class Database:
    """A file with a schema, its statements by version. `create=False` never makes the file: a removed generation
    must stay removed."""

    def __init__(self, path: Path, schema: Sequence[Sequence[str]], *, create: bool) -> None:
        self.path = path
        self._schema = schema
        self._version = len(schema)
        self._create = create
        self._own = threading.local()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """One consistent state of the file for all statements inside."""
        with self._translated():
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _end(connection, "COMMIT")

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing. Waits for other writers first, so that a transaction never fails half way."""
        with self._translated():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _end(connection, "ROLLBACK")
                raise

    def make(self) -> None:
        """Makes the file and its tables where they are missing. Raises Misconfigured for another version."""
        with self._translated():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            connection = self._open("rwc")
            try:
                self._migrate(connection)
            finally:
                connection.close()

    def compact(self) -> None:
        """Gives freed pages back to the disk; left for another time when somebody is reading."""
        with self._translated(), contextlib.suppress(sqlite3.OperationalError):
            self._connection().execute("VACUUM")

    def close(self) -> None:
        """Closes this thread's connection and makes every thread open anew at its next use."""
        own, self._own = self._own, threading.local()
        connection: sqlite3.Connection | None = getattr(own, "connection", None)
        if connection is not None:
            connection.close()

    def _connection(self) -> sqlite3.Connection:
        own = self._own
        # A connection must not cross a fork: the child would share the parent's file locks.
        if getattr(own, "process", None) != os.getpid():
            if self._create and not self.path.exists():
                self.make()
            connection = self._open("rw")
            self._check_version(connection)
            own.connection, own.process = connection, os.getpid()
        found: sqlite3.Connection = own.connection
        return found

    def _open(self, mode: str) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        # Threads never share a connection; the check is off only so that `close` may run in any thread.
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=BUSY_TIMEOUT_S, check_same_thread=False
        )
        _write_ahead(connection)
        # FULL: with WAL and less, a crash of the machine may lose the last commits.
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _migrate(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            for part in self._schema[found:]:
                for statement in part:
                    connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {max(found, self._version)}")
            connection.execute("COMMIT")
        except BaseException:
            _end(connection, "ROLLBACK")
            raise
        self._check_version(connection)

    def _check_version(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        # A file that has no version yet is somebody else's to make.
        if found < self._version and (self._create or found):
            self._migrate(connection)
        elif found != self._version:
            raise Misconfigured(
                f"{self.path.name} has schema version {found}, this release needs {self._version}. "
                "Set another data folder and ingest again."
            )

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError:
            raise  # Which Conflict it is, only the store knows.
        except sqlite3.Error as error:
            if not self._create and not self.path.exists():
                raise GenerationGone("The generation was removed meanwhile; ask again.") from error
            raise Unavailable(f"The embedded store did not answer ({error}); try again.") from error
        except OSError as error:
            raise Unavailable(f"The data folder cannot be used ({error.strerror}).") from error


def _write_ahead(connection: sqlite3.Connection) -> None:
    """The write-ahead log, which SQLite does not wait for: of several who make a new file at once, all but one are
    told that it is locked, whatever their timeout."""
    last = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError:
            if time.monotonic() > last:
                raise
            time.sleep(0.005)


def groups(values: Sequence[_Value]) -> Iterator[tuple[str, Sequence[_Value]]]:
    """Placeholders and values, a bounded number at a time. (json_each would cut a value at a NUL.)"""
    for start in range(0, len(values), MAX_PARAMETERS):
        group = values[start : start + MAX_PARAMETERS]
        yield ",".join("?" * len(group)), group


def _end(connection: sqlite3.Connection, statement: str) -> None:
    if connection.in_transaction:
        connection.execute(statement)
