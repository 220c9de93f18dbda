"""The tables. One file holds the stores, and one file in each generation's folder holds its chunks."""

from __future__ import annotations

# Each part takes a file one version on: a file made by an earlier release gets the parts it lacks.
STORES = (
    (
        """CREATE TABLE document (
            document_id TEXT NOT NULL, document_version TEXT NOT NULL, record TEXT NOT NULL,
            PRIMARY KEY (document_id, document_version)) WITHOUT ROWID""",
        """CREATE TABLE entry (
            corpus TEXT NOT NULL, document_id TEXT NOT NULL, record TEXT NOT NULL, mark INTEGER NOT NULL,
            PRIMARY KEY (corpus, document_id)) WITHOUT ROWID""",
        "CREATE TABLE profile (corpus TEXT PRIMARY KEY, record TEXT NOT NULL) WITHOUT ROWID",
        "CREATE TABLE epoch (one INTEGER PRIMARY KEY CHECK (one = 1), value INTEGER NOT NULL)",
        """CREATE TABLE manifest (
            generation TEXT PRIMARY KEY, corpus TEXT NOT NULL, number INTEGER NOT NULL,
            record TEXT NOT NULL, mark INTEGER NOT NULL)""",
        "CREATE TABLE trace (trace_id TEXT PRIMARY KEY, saved_at REAL NOT NULL, record TEXT NOT NULL)",
        "CREATE INDEX trace_saved_at ON trace (saved_at)",
        "CREATE TABLE generation (name TEXT PRIMARY KEY) WITHOUT ROWID",
        """CREATE TABLE alias (
            alias TEXT NOT NULL, generation TEXT NOT NULL REFERENCES generation (name),
            PRIMARY KEY (alias, generation)) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE change (
            corpus TEXT NOT NULL, document_id TEXT NOT NULL, sequence INTEGER NOT NULL, record TEXT NOT NULL,
            PRIMARY KEY (corpus, document_id, sequence)) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE job (
            job_id TEXT PRIMARY KEY, corpus TEXT NOT NULL, created_at TEXT NOT NULL,
            record TEXT NOT NULL, mark INTEGER NOT NULL)""",
        """CREATE TABLE lease (
            corpus TEXT NOT NULL, slot TEXT NOT NULL, record TEXT NOT NULL, mark INTEGER NOT NULL,
            PRIMARY KEY (corpus, slot)) WITHOUT ROWID""",
    ),
    (
        """CREATE TABLE review (
            review_id TEXT PRIMARY KEY, corpus TEXT NOT NULL, at TEXT NOT NULL,
            record TEXT NOT NULL, mark INTEGER NOT NULL)""",
        "CREATE INDEX review_corpus ON review (corpus, at)",
        "CREATE INDEX review_at ON review (at)",
    ),
)

# `place` is a chunk's row in the vectors file and its number in the BM25 index, in the order of chunk ids;
# NULL until the generation is sealed. `writes` counts batches of chunks, so that `seal` notices one that came
# meanwhile; `revision` counts changes of rights, so that readers know when to look anew.
CHUNKS = (
    (
        """CREATE TABLE state (
        one INTEGER PRIMARY KEY CHECK (one = 1), dimension INTEGER NOT NULL,
        sealed INTEGER NOT NULL DEFAULT 0, writes INTEGER NOT NULL DEFAULT 0,
        revision INTEGER NOT NULL DEFAULT 0)""",
        """CREATE TABLE access_class (
        id INTEGER PRIMARY KEY, tenant TEXT NOT NULL, labels TEXT NOT NULL, allow TEXT NOT NULL,
        deny TEXT NOT NULL, UNIQUE (tenant, labels, allow, deny))""",
        """CREATE TABLE chunk (
        chunk_id TEXT PRIMARY KEY, document_id TEXT NOT NULL, place INTEGER UNIQUE,
        access_class INTEGER NOT NULL REFERENCES access_class (id), record TEXT NOT NULL,
        body TEXT NOT NULL, heading TEXT NOT NULL)""",
        "CREATE INDEX chunk_document ON chunk (document_id)",
        "CREATE INDEX chunk_access ON chunk (access_class, place)",
        # Until `seal` moves them into the vectors file.
        "CREATE TABLE staged_vector (chunk_id TEXT PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID",
    ),
    ("CREATE TABLE tokens (chunk_id TEXT PRIMARY KEY, packed BLOB NOT NULL)",),
)
