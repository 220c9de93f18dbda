"""Where things lie: one folder per prefix, in it the stores' file and a folder for each generation."""

from __future__ import annotations

from pathlib import Path

from service.adapters.embedded.database import Database
from service.adapters.embedded.schema import CHUNKS, STORES


class Folders:
    """Paths and open databases under one root. Databases are kept open for as long as their file is there."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.stores = Database(root / "stores.sqlite3", STORES, create=True)
        self._chunks: dict[str, Database] = {}

    def of(self, generation: str) -> Path:
        return self.root / "generations" / generation

    def chunks(self, generation: str) -> Database:
        """The generation's chunks; using them raises GenerationGone when there are none."""
        path = self.of(generation) / "chunks.sqlite3"
        # setdefault is atomic: two threads get the same object.
        return self._chunks.setdefault(generation, Database(path, CHUNKS, create=False))

    def sealed(self, generation: str) -> Path:
        """The BM25 index and the vectors, once sealed."""
        return self.of(generation) / "sealed"

    def forget(self, generation: str) -> None:
        database = self._chunks.pop(generation, None)
        if database is not None:
            database.close()

    def forget_all(self) -> None:
        for generation in list(self._chunks):
            self.forget(generation)
        self.stores.close()
