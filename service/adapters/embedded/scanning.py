"""Reading all chunks of a generation back, in the order of chunk ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from service.access.rules import to_json
from service.adapters.chunk_records import indexed_from_record
from service.adapters.embedded.folders import Folders
from service.adapters.embedded.rights import access_of
from service.domain.documents import IndexedChunk
from service.domain.ports import TokenRights
from service.domain.retrieval import Vector

_PAGE = 500
_QUERY = (
    "SELECT chunk.chunk_id, place, record, body, heading, tenant, labels, allow, deny, vector, {packed} FROM chunk"
    " JOIN access_class ON access_class.id = chunk.access_class"
    " LEFT JOIN staged_vector ON staged_vector.chunk_id = chunk.chunk_id"
    " {joined}"
    " WHERE chunk.chunk_id > ? ORDER BY chunk.chunk_id LIMIT ?"
)


def scan_chunks(folders: Folders, generation: str, *, vectors: bool, tokens: bool) -> Iterator[IndexedChunk]:
    """Page by page, so that no read transaction stays open while the caller works."""
    database = folders.chunks(generation)
    query = _QUERY.format(
        packed="packed" if tokens else "NULL",
        joined="LEFT JOIN tokens ON tokens.chunk_id = chunk.chunk_id" if tokens else "",
    )
    after = ""
    while True:
        with database.reading() as connection:
            [(sealed,)] = connection.execute("SELECT sealed FROM state").fetchall()
            rows = connection.execute(query, (after, _PAGE)).fetchall()
        matrix = _Vectors(folders.sealed(generation)) if vectors and sealed else None
        for _, place, record, body, heading, tenant, labels, allow, deny, staged, packed in rows:
            found: dict[str, Any] = json.loads(record)
            found |= {
                "body": body,
                "heading": heading,
                "access": to_json(access_of(tenant, labels, allow, deny)),
            }
            if vectors:
                found["vector"] = matrix.at(place) if matrix is not None else _staged(staged)
            yield replace(indexed_from_record(found), tokens=packed)
        if len(rows) < _PAGE:
            return
        after = rows[-1][0]


def scan_token_rights(folders: Folders, generation: str) -> Iterator[TokenRights]:
    """Token vectors have no rights of their own here: they are those of their chunk."""
    with folders.chunks(generation).reading() as connection:
        rows = connection.execute(
            "SELECT chunk.chunk_id, document_id, tenant, labels, allow, deny FROM tokens"
            " JOIN chunk ON chunk.chunk_id = tokens.chunk_id"
            " JOIN access_class ON access_class.id = chunk.access_class"
        ).fetchall()
    for name, document_id, *access in rows:
        yield TokenRights(name, document_id, access_of(*access))


class _Vectors:
    def __init__(self, folder: Path) -> None:
        self._matrix = np.load(folder / "vectors.npy", mmap_mode="r")
        self._has = np.load(folder / "has_vector.npy")

    def at(self, place: int) -> Vector | None:
        return self._matrix[place] if self._has[place] else None


def _staged(vector: bytes | None) -> Vector | None:
    return None if vector is None else np.frombuffer(vector, dtype=np.float32)
