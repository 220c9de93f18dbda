"""The archive in Elasticsearch: create-only documents, read in real time."""

from __future__ import annotations

from collections.abc import Sequence

from elasticsearch import ConflictError

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.documents import get_records
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import archived_from_record, archived_to_record
from service.domain.documents import ArchivedDocument
from service.text.wellformed import storable

# Canonical texts may be megabytes each; one answer must not hold a thousand of them.
_BATCH = 50


class ElasticArchive:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def put(self, document: ArchivedDocument) -> bool:
        record = archived_to_record(document)
        check_storable(*(value for value in record.values() if isinstance(value, str)))
        key = key_id(document.document_id, document.document_version)
        index = self._system.ensure("archive")
        with translated("archiving a document"):
            try:
                self._system.client.create(index=index, id=key, document=record)
            except ConflictError:
                return False
        return True

    def get_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ArchivedDocument]:
        ids = {key: key_id(*key) for key in keys if all(map(storable, key))}
        found = get_records(self._system, "archive", list(ids.values()), batch=_BATCH)
        return {key: archived_from_record(found[id_].source) for key, id_ in ids.items() if id_ in found}

    def size(self) -> int:
        index = self._system.name("archive")
        with translated("measuring the archive"):
            client = self._system.client.options(ignore_status=404)
            client.indices.flush(index=index)  # What is in the log only is not counted.
            stats = client.indices.stats(index=index, metric="store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"]) if "_all" in stats else 0
