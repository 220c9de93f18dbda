"""A sealed generation, opened for search: the BM25 index, the vectors, and which places a scope may see."""

from __future__ import annotations

import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path

import numpy as np
import tantivy
from numpy.typing import NDArray

from service.adapters.embedded.rights import visible_classes
from service.domain.rights import Scope

Places = NDArray[np.int64]

# Scopes whose visible places are remembered, a few MB at most for a large generation.
_REMEMBERED = 64


class Snapshot:
    """Files do not change once sealed; what is visible is read anew whenever rights have changed."""

    def __init__(self, folder: Path) -> None:
        index = tantivy.Index.open(str(folder / "bm25"))
        self.schema = index.schema
        self.searcher = index.searcher()
        self.vectors: NDArray[np.float32] = np.load(folder / "vectors.npy", mmap_mode="r")
        self.has_vector: NDArray[np.bool_] = np.load(folder / "has_vector.npy")
        # float32 throughout: the rough pass needs lengths once, and a vector without length is never chosen.
        self.lengths = _lengths(self.vectors, self.has_vector)
        self._visible: OrderedDict[Scope, tuple[int, Places]] = OrderedDict()
        self._lock = threading.Lock()

    @property
    def size(self) -> int:
        return int(self.has_vector.size)

    def visible(self, connection: sqlite3.Connection, scope: Scope) -> Places:
        """Places, ascending, that the scope may see in the connection's state of the file."""
        [(revision,)] = connection.execute("SELECT revision FROM state").fetchall()
        with self._lock:
            remembered = self._visible.get(scope)
            if remembered is not None and remembered[0] == revision:
                self._visible.move_to_end(scope)
                return remembered[1]
        condition, parameters = visible_classes(scope)
        rows = connection.execute(
            f"SELECT place FROM chunk WHERE place IS NOT NULL AND {condition}", parameters
        ).fetchall()
        places = np.sort(np.fromiter((place for (place,) in rows), dtype=np.int64, count=len(rows)))
        with self._lock:
            self._visible[scope] = (revision, places)
            self._visible.move_to_end(scope)
            while len(self._visible) > _REMEMBERED:
                self._visible.popitem(last=False)
        return places


def _lengths(vectors: NDArray[np.float32], has_vector: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Each row's length, 1 where there is no vector. In pieces: the mapped file is never all in memory."""
    lengths = np.ones(has_vector.size, dtype=np.float32)
    for start in range(0, has_vector.size, 8192):
        rows = vectors[start : min(start + 8192, has_vector.size)]
        lengths[start : start + len(rows)] = np.linalg.norm(rows, axis=1)
    lengths[~has_vector] = 1
    return lengths
