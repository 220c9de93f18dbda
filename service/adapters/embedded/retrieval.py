"""Queries against one pinned generation on disk, each leg inside the same scope."""

from __future__ import annotations

import json
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from service.adapters.acceptance import askable_names, is_zero, without_asking
from service.adapters.chunk_records import found_from_record
from service.adapters.embedded.database import groups
from service.adapters.embedded.folders import Folders
from service.adapters.embedded.generations import known
from service.adapters.embedded.ranking import Ranked, anchors, bm25, cosines, knn
from service.adapters.embedded.rights import rights_in_use, visible_classes
from service.adapters.embedded.snapshot import Places, Snapshot
from service.adapters.names import alias_of, generation_of
from service.domain.generations import Generation
from service.domain.retrieval import AnchorLeg, Bm25Leg, FoundChunk, Hit, Leg, LegResult, Vector
from service.domain.rights import RightsInUse, Scope
from service.errors import AliasOnSeveral, GenerationGone, Unavailable


class EmbeddedRetrieval:
    def __init__(self, folders: Folders) -> None:
        self._folders = folders
        self._prefix = folders.root.name
        self._snapshots: dict[str, Snapshot] = {}
        self._lock = threading.Lock()

    def resolve(self, corpus: str, corpus_version: str) -> Generation | None:
        alias = alias_of(self._prefix, corpus, corpus_version)
        with self._folders.stores.reading() as stores:
            found = stores.execute("SELECT generation FROM alias WHERE alias = ?", (alias,)).fetchall()
        if len(found) > 1:
            raise AliasOnSeveral(tuple(sorted(name for (name,) in found)))
        return generation_of(self._prefix, corpus, found[0][0]) if found else None

    def search(
        self, generation: Generation, legs: Sequence[Leg], scope: Scope, timeout_s: float
    ) -> tuple[LegResult, ...]:
        end = time.monotonic() + timeout_s
        with self._reading(generation) as connection:
            snapshot = self._snapshot(generation, connection)
            if snapshot is None:
                return tuple(LegResult(leg.name, (), 0.0) for leg in legs)
            visible = snapshot.visible(connection, scope)
            return tuple(_run(snapshot, leg, visible, connection, end) for leg in legs)

    def similarities(
        self, generation: Generation, vector: Vector, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, float]:
        with self._reading(generation) as connection:
            snapshot = self._snapshot(generation, connection)
            if snapshot is None or is_zero(vector):
                return {}
            rows = _named(connection, "chunk_id, place", chunk_ids, scope)
            kept = [(name, place) for name, place in rows if place is not None and snapshot.has_vector[place]]
            values = cosines(snapshot, vector, np.array([place for _, place in kept], dtype=np.int64))
            return {name: float(value) for (name, _), value in zip(kept, values, strict=True)}

    def token_vectors(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, bytes]:
        with self._reading(generation) as connection:
            visible = [name for name, _ in _named(connection, "chunk_id, place", chunk_ids, scope)]
            found: dict[str, bytes] = {}
            for marks, group in groups(visible):
                found |= dict(
                    connection.execute(
                        f"SELECT chunk_id, packed FROM tokens WHERE chunk_id IN ({marks})", group
                    )
                )
        return found

    def any_visible(self, generation: Generation, scope: Scope, timeout_s: float) -> bool:
        condition, parameters = visible_classes(scope)
        with self._reading(generation) as connection:
            return bool(
                connection.execute(f"SELECT 1 FROM chunk WHERE {condition} LIMIT 1", parameters).fetchone()
            )

    def rights_in_use(self, generation: Generation, tenant: str, timeout_s: float) -> RightsInUse | None:
        with self._reading(generation) as connection:
            return rights_in_use(connection, tenant)

    def fetch(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, FoundChunk]:
        with self._reading(generation) as connection:
            rows = _named(connection, "chunk_id, record", chunk_ids, scope)
        return {name: found_from_record(json.loads(record)) for name, record in rows}

    @contextmanager
    def _reading(self, generation: Generation) -> Iterator[sqlite3.Connection]:
        """One state of the generation's chunks and rights. Raises GenerationGone."""
        try:
            known(self._folders, generation)
        except GenerationGone:
            self._snapshots.pop(generation.name, None)
            self._folders.forget(generation.name)
            raise
        with self._folders.chunks(generation.name).reading() as connection:
            yield connection

    def _snapshot(self, generation: Generation, connection: sqlite3.Connection) -> Snapshot | None:
        """The opened files; None before the generation is sealed: then nothing is searchable yet."""
        found = self._snapshots.get(generation.name)
        if found is not None:
            return found
        [(sealed,)] = connection.execute("SELECT sealed FROM state").fetchall()
        if not sealed:
            return None
        with self._lock:
            if generation.name not in self._snapshots:
                try:
                    self._snapshots[generation.name] = Snapshot(self._folders.sealed(generation.name))
                except (OSError, ValueError) as error:
                    raise Unavailable("The generation's search files cannot be opened.") from error
            return self._snapshots[generation.name]


def _run(
    snapshot: Snapshot, leg: Leg, visible: Places, connection: sqlite3.Connection, end: float
) -> LegResult:
    began = time.perf_counter()
    if time.monotonic() > end:
        return LegResult(leg.name, (), 0.0, "timeout")
    if (known := without_asking(leg)) is not None:
        return known
    try:
        hits = _hits(connection, _rank(snapshot, leg, visible))
    except ValueError:
        # A vector of another dimension, or a query tantivy will not take: this leg failed, the others stand.
        return LegResult(leg.name, (), _ms(began), "failed")
    return LegResult(leg.name, hits, _ms(began))


def _rank(snapshot: Snapshot, leg: Leg, visible: Places) -> Ranked:
    if isinstance(leg, Bm25Leg):
        return bm25(snapshot, leg, visible)
    if isinstance(leg, AnchorLeg):
        return anchors(snapshot, leg, visible)
    return knn(snapshot, leg, visible)


def _hits(connection: sqlite3.Connection, ranked: Ranked) -> tuple[Hit, ...]:
    records: dict[int, str] = {}
    for marks, group in groups([place for place, _ in ranked]):
        records |= dict(
            connection.execute(f"SELECT place, record FROM chunk WHERE place IN ({marks})", group)
        )
    return tuple(
        Hit(found_from_record(json.loads(records[place])), rank, score)
        for rank, (place, score) in enumerate(ranked, start=1)
    )


def _named(
    connection: sqlite3.Connection, columns: str, chunk_ids: Sequence[str], scope: Scope
) -> list[tuple[str, Any]]:
    condition, parameters = visible_classes(scope)
    found: list[tuple[str, Any]] = []
    for marks, group in groups(askable_names(chunk_ids)):
        found += connection.execute(
            f"SELECT {columns} FROM chunk WHERE chunk_id IN ({marks}) AND {condition}", (*group, *parameters)
        )
    return found


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000
