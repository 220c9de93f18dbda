"""Manifests of generations in SQLite, compare-and-set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.embedded.registry import write_marked
from service.adapters.records import manifest_from_text, manifest_to_text
from service.domain.generations import Generation, Manifest
from service.errors import InvalidInput


class EmbeddedBuilds:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def get(self, generation_name: str) -> Manifest | None:
        with self._stores.reading() as connection:
            row = connection.execute(
                "SELECT record, mark FROM manifest WHERE generation = ?", (generation_name,)
            ).fetchone()
        return None if row is None else manifest_from_text(row[0], str(row[1]))

    def write(self, manifest: Manifest) -> Manifest:
        generation = Generation.parse(manifest.generation)
        if generation is None:
            raise InvalidInput(f"{manifest.generation!r} is not the name of a generation.")
        record = manifest_to_text(manifest)
        check_storable(record)
        columns = {"corpus": manifest.corpus, "number": generation.number, "record": record}
        with self._stores.writing() as connection:
            mark = write_marked(
                connection, "manifest", {"generation": manifest.generation}, columns, manifest.token
            )
        return dataclasses.replace(manifest, token=mark)

    def scan(self, corpus: str) -> Iterator[Manifest]:
        with self._stores.reading() as connection:
            names = connection.execute(
                "SELECT generation FROM manifest WHERE corpus = ? ORDER BY number, generation", (corpus,)
            ).fetchall()
        # One at a time: each names every document of its generation.
        for (name,) in names:
            manifest = self.get(name)
            if manifest is not None:
                yield manifest
