"""Earlier changes of registry entries in Elasticsearch, append-only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.documents import put_with_token
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import change_from_record, change_to_record, to_text
from service.domain.documents import RegistryChange
from service.errors import Conflict, GenerationGone


class ElasticAudit:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def append(self, change: RegistryChange) -> None:
        record = change_to_record(change)
        check_storable(to_text(record))
        id_ = key_id("change", change.corpus, change.document_id, str(change.sequence))
        index = self._system.ensure("audit")
        with translated("writing the audit"):
            try:
                put_with_token(self._system, index, id_, record, None)
            except Conflict:
                return  # Kept already, by this or another writer.

    def scan(self, corpus: str, document_id: str | None = None) -> Iterator[RegistryChange]:
        filters: list[dict[str, Any]] = [{"term": {"corpus": corpus}}]
        if document_id is not None:
            filters.append({"term": {"documentId": document_id}})
        query = {"bool": {"filter": filters}}
        try:
            for hit in scan(
                self._system.client, self._system.name("audit"), query, ["documentId", "sequence"]
            ):
                yield change_from_record(hit["_source"])
        except GenerationGone:
            return  # The index is made by the first write: before it, nothing was changed.
