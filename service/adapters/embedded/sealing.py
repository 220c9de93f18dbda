"""From staged chunks to what is searched: a BM25 index and a matrix of vectors, in the order of chunk ids."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import tantivy

from service.adapters.acceptance import askable_names

# tantivy's least is 15 MB per thread; with 64 MB about 100,000 chunks go into one segment.
_WRITER_BYTES = 64_000_000


def bm25_schema() -> tantivy.Schema:
    """Only what is matched: texts and rights stay in SQLite, joined by `place`."""
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("place", indexed=True, fast=True)
    builder.add_text_field("body", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("heading", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("anchors", tokenizer_name="raw", index_option="basic")
    return builder.build()


def build_index(connection: sqlite3.Connection, folder: Path) -> list[str]:
    """Writes `bm25/`, `vectors.npy` and `has_vector.npy` into the folder; chunk ids in the order of places.

    The folder is made anew: what a killed run left there is thrown away.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "bm25").mkdir(parents=True)
    [(count,)] = connection.execute("SELECT count(*) FROM chunk").fetchall()
    [(dimension,)] = connection.execute("SELECT dimension FROM state").fetchall()
    # Mapped, so that building takes no memory for all of them. A matrix without rows cannot be mapped.
    vectors = np.lib.format.open_memmap(
        folder / "vectors.npy", mode="w+", dtype=np.float32, shape=(max(1, count), dimension)
    )
    has_vector = np.zeros(count, dtype=np.bool_)
    index = tantivy.Index(bm25_schema(), path=str(folder / "bm25"))
    # One thread, so that one segment comes out of one buffer wherever it fits.
    writer = index.writer(heap_size=_WRITER_BYTES, num_threads=1)
    chunk_ids: list[str] = []
    rows = connection.execute(
        "SELECT chunk_id, body, heading, record, vector FROM chunk"
        " LEFT JOIN staged_vector USING (chunk_id) ORDER BY chunk_id"
    )
    for place, (chunk_id, body, heading, record, vector) in enumerate(rows):
        writer.add_document(_document(place, body, heading, json.loads(record)["anchors"]))
        chunk_ids.append(chunk_id)
        if vector is not None:
            vectors[place] = np.frombuffer(vector, dtype=np.float32)
            has_vector[place] = True
    writer.commit()
    writer.wait_merging_threads()
    vectors.flush()
    np.save(folder / "has_vector.npy", has_vector)
    return chunk_ids


def _document(place: int, body: str, heading: str, anchors: list[str]) -> tantivy.Document:
    document = tantivy.Document()
    document.add_unsigned("place", place)
    document.add_text("body", body)
    document.add_text("heading", heading)
    for anchor in askable_names(anchors):
        document.add_text("anchors", anchor)
    return document
