"""Manifests of generations in Elasticsearch, compare-and-set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.documents import get_records, put_with_token, token_of
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import manifest_from_text, manifest_to_text
from service.domain.generations import Generation, Manifest
from service.errors import GenerationGone, InvalidInput


class ElasticBuilds:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def get(self, generation_name: str) -> Manifest | None:
        id_ = key_id("manifest", generation_name)
        found = get_records(self._system, "builds", [id_]).get(id_)
        return None if found is None else manifest_from_text(found.source["manifest"], found.token)

    def write(self, manifest: Manifest) -> Manifest:
        generation = Generation.parse(manifest.generation)
        if generation is None:
            raise InvalidInput(f"{manifest.generation!r} is not the name of a generation.")
        text = manifest_to_text(manifest)
        check_storable(text)
        record = {
            "generation": manifest.generation,
            "corpus": manifest.corpus,
            "corpusVersion": manifest.corpus_version,
            "number": generation.number,
            "state": manifest.state,
            "chunks": manifest.chunks,
            "createdAt": manifest.created_at,
            "updatedAt": manifest.updated_at,
            "updatedBy": manifest.updated_by,
            "manifest": text,
        }
        index = self._system.ensure("builds")
        with translated("writing a manifest"):
            token = put_with_token(
                self._system, index, key_id("manifest", manifest.generation), record, manifest.token
            )
        return dataclasses.replace(manifest, token=token)

    def scan(self, corpus: str) -> Iterator[Manifest]:
        query = {"bool": {"filter": [{"term": {"corpus": corpus}}]}}
        try:
            # A manifest names every document of its generation: a page of a thousand could be gigabytes.
            for hit in scan(
                self._system.client,
                self._system.name("builds"),
                query,
                ["number", "generation"],
                page=20,
                source=["manifest"],
                seq_no=True,
            ):
                yield manifest_from_text(hit["_source"]["manifest"], token_of(hit))
        except GenerationGone:
            return  # The index is made by the first write: before it, there are no builds.
