"""Generations on disk: a folder each, registered in the stores' file together with the aliases."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from service.adapters.acceptance import refusal, vector_of
from service.adapters.chunk_records import indexed_record
from service.adapters.embedded.folders import Folders
from service.adapters.embedded.rights import class_of
from service.adapters.embedded.scanning import scan_chunks, scan_token_rights
from service.adapters.embedded.sealing import build_index
from service.adapters.names import generations_of, live_of
from service.adapters.records import to_text
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation, live_alias
from service.domain.ports import BulkReport, IndexSettings, Refused, TokenRights
from service.domain.rights import Access
from service.errors import BuildRefused, Conflict, GenerationGone
from service.text.wellformed import storable

# Chunks written in one transaction: short enough for another writer to wait for.
_BATCH = 500


class EmbeddedGenerations:
    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._prefix = folders.root.name

    def create(self, generation: Generation, settings: IndexSettings) -> None:
        """Shards, replicas and the vector index type mean nothing here: one folder, exact vectors."""
        name = generation.name
        with self._folders.stores.writing() as stores:
            if stores.execute("SELECT 1 FROM generation WHERE name = ?", (name,)).fetchone():
                raise Conflict(f"Generation {name} exists already.")
            # A folder without its row was left by a killed run.
            self._remove_folder(name)
            chunks = self._folders.chunks(name)
            chunks.make()
            with chunks.writing() as connection:
                connection.execute("INSERT INTO state (one, dimension) VALUES (1, ?)", (settings.dimension,))
            stores.execute("INSERT INTO generation (name) VALUES (?)", (name,))

    def write(self, generation: Generation, chunks: Iterable[IndexedChunk]) -> BulkReport:
        written = 0
        refused: list[Refused] = []
        pending = iter(chunks)
        while batch := list(itertools.islice(pending, _BATCH)):
            with self._folders.chunks(generation.name).writing() as connection:
                [(dimension, sealed)] = connection.execute("SELECT dimension, sealed FROM state").fetchall()
                if sealed:
                    raise Conflict(f"Generation {generation.name} is sealed; only rights may change in it.")
                for chunk in batch:
                    reason = refusal(chunk, dimension)
                    if reason is None:
                        _write_chunk(connection, chunk)
                        written += 1
                    else:
                        refused.append(Refused(chunk.chunk.chunk_id, chunk.chunk.document_id, reason))
                connection.execute("UPDATE state SET writes = writes + 1")
        return BulkReport(written, tuple(refused))

    def seal(self, generation: Generation, settings: IndexSettings) -> None:
        chunks = self._folders.chunks(generation.name)
        folder = self._folders.sealed(generation.name)
        building = folder.with_name("building")
        with chunks.reading() as connection:
            [(sealed, writes)] = connection.execute("SELECT sealed, writes FROM state").fetchall()
            if sealed:
                return
            chunk_ids = build_index(connection, building)
        with chunks.writing() as connection:
            [(sealed, writes_now)] = connection.execute("SELECT sealed, writes FROM state").fetchall()
            if sealed or writes_now != writes:
                raise Conflict(
                    f"Generation {generation.name} was written to while it was sealed; seal it again."
                )
            # Killed between here and the end of the transaction, the folder is simply built again.
            shutil.rmtree(folder, ignore_errors=True)
            building.rename(folder)
            connection.executemany("UPDATE chunk SET place = ? WHERE chunk_id = ?", enumerate(chunk_ids))
            connection.execute("DELETE FROM staged_vector")
            connection.execute("UPDATE state SET sealed = 1, revision = revision + 1")
        chunks.compact()

    def scan(
        self, generation: Generation, *, vectors: bool = False, tokens: bool = False
    ) -> Iterator[IndexedChunk]:
        return scan_chunks(self._folders, generation.name, vectors=vectors, tokens=tokens)

    def token_rights(self, generation: Generation) -> Iterator[TokenRights]:
        return scan_token_rights(self._folders, generation.name)

    def spread_access(self, generation: Generation, document_id: str, access: Access | None) -> int:
        if not storable(document_id):
            return 0
        with self._folders.chunks(generation.name).writing() as connection:
            if access is None:
                for table in ("staged_vector", "tokens"):
                    connection.execute(
                        f"DELETE FROM {table} WHERE chunk_id IN"
                        " (SELECT chunk_id FROM chunk WHERE document_id = ?)",
                        (document_id,),
                    )
                done = connection.execute("DELETE FROM chunk WHERE document_id = ?", (document_id,))
            else:
                done = connection.execute(
                    "UPDATE chunk SET access_class = ? WHERE document_id = ?",
                    (class_of(connection, access), document_id),
                )
            connection.execute("UPDATE state SET revision = revision + 1")
            return done.rowcount

    def names(self, corpus: str) -> tuple[str, ...]:
        with self._folders.stores.reading() as stores:
            found = [name for (name,) in stores.execute("SELECT name FROM generation")]
        return generations_of(self._prefix, corpus, found)

    def aliases(self, corpus: str) -> dict[str, tuple[str, ...]]:
        head = f"{self._prefix}-{corpus}@"
        behind: dict[str, tuple[str, ...]] = {}
        with self._folders.stores.reading() as stores:
            for alias, generation in stores.execute(
                "SELECT alias, generation FROM alias ORDER BY alias, generation"
            ):
                if alias.startswith(head):
                    behind[alias] = (*behind.get(alias, ()), generation)
        return behind

    def switch(self, add: Mapping[str, str], remove: Sequence[tuple[str, str]]) -> None:
        with self._folders.stores.writing() as stores:
            for pair in remove:
                done = stores.execute("DELETE FROM alias WHERE alias = ? AND generation = ?", pair)
                if done.rowcount != 1:
                    raise Conflict(f"Alias {pair[0]} is not on {pair[1]}; read the aliases again.")
            for alias, generation in add.items():
                if not stores.execute("SELECT 1 FROM generation WHERE name = ?", (generation,)).fetchone():
                    raise Conflict(f"Generation {generation} is not there; read the aliases again.")
                stores.execute(
                    "INSERT OR IGNORE INTO alias (alias, generation) VALUES (?, ?)", (alias, generation)
                )

    def live(self) -> dict[str, tuple[str, ...]]:
        with self._folders.stores.reading() as stores:
            found = stores.execute("SELECT alias, generation FROM alias").fetchall()
        return live_of(self._prefix, found)

    def size(self, generation: Generation) -> int:
        with self._folders.chunks(generation.name).reading():
            files = [path for path in self._folders.of(generation.name).rglob("*") if path.is_file()]
        return sum(path.stat().st_size for path in files)

    def drop(self, generation: Generation) -> None:
        name = generation.name
        live = live_alias(self._prefix, generation.corpus)
        with self._folders.stores.writing() as stores:
            if stores.execute(
                "SELECT 1 FROM alias WHERE alias = ? AND generation = ?", (live, name)
            ).fetchone():
                raise BuildRefused(f"Generation {name} is live and cannot be dropped.")
            stores.execute("DELETE FROM alias WHERE generation = ?", (name,))
            stores.execute("DELETE FROM generation WHERE name = ?", (name,))
        self._remove_folder(name)

    def _remove_folder(self, name: str) -> None:
        self._folders.forget(name)
        shutil.rmtree(self._folders.of(name), ignore_errors=True)


def _write_chunk(connection: sqlite3.Connection, chunk: IndexedChunk) -> None:
    record = indexed_record(chunk)
    vector = record.pop("vector", None)
    del record["access"]
    chunk_id = chunk.chunk.chunk_id
    connection.execute(
        "REPLACE INTO chunk (chunk_id, document_id, access_class, body, heading, record)"
        " VALUES (?, ?, ?, ?, ?, ?)",
        (
            chunk_id,
            chunk.chunk.document_id,
            class_of(connection, chunk.access),
            record.pop("body"),
            record.pop("heading"),
            to_text(record),
        ),
    )
    connection.execute("DELETE FROM staged_vector WHERE chunk_id = ?", (chunk_id,))
    connection.execute("DELETE FROM tokens WHERE chunk_id = ?", (chunk_id,))
    if chunk.tokens:
        connection.execute("INSERT INTO tokens (chunk_id, packed) VALUES (?, ?)", (chunk_id, chunk.tokens))
    if vector is not None:
        connection.execute(
            "INSERT INTO staged_vector (chunk_id, vector) VALUES (?, ?)",
            (chunk_id, np.ascontiguousarray(vector_of(vector)).tobytes()),
        )


def known(folders: Folders, generation: Generation) -> None:
    """Raises GenerationGone when the generation is not registered (any more)."""
    with folders.stores.reading() as stores:
        if not stores.execute("SELECT 1 FROM generation WHERE name = ?", (generation.name,)).fetchone():
            raise GenerationGone("The generation was removed meanwhile; ask again.")
