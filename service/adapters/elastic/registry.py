"""The registry in Elasticsearch: compare-and-set by sequence number, read in real time.

One index holds three kinds of records, told apart by `record`: an `entry` per document, a `profile` per
corpus, and the one `epoch`.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elasticsearch import NotFoundError

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import error_type, translated
from service.adapters.elastic.documents import Stored, get_records, put_with_token, token_of
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import entry_from_record, entry_to_record, to_text
from service.domain.documents import RegistryEntry
from service.errors import Conflict, GenerationGone, Unavailable
from service.text.wellformed import storable

_EPOCH = key_id("epoch")
# Two writers of rights at once are rare; thirty losses in a row mean that something else is wrong.
_EPOCH_TRIES = 30
_MAX_CORPORA = 10_000


class ElasticRegistry:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def get_many(self, corpus: str, document_ids: Sequence[str]) -> dict[str, RegistryEntry]:
        ids = {name: key_id("entry", corpus, name) for name in document_ids if storable(name)}
        found = get_records(self._system, "registry", list(ids.values()))
        return {
            name: entry_from_record(found[id_].source, found[id_].token)
            for name, id_ in ids.items()
            if id_ in found
        }

    def write(self, entry: RegistryEntry) -> RegistryEntry:
        record = {"record": "entry"} | entry_to_record(entry)
        check_storable(entry.document_id, to_text(record))
        token = self._put(key_id("entry", entry.corpus, entry.document_id), record, entry.token)
        return entry_from_record(record, token)

    def scan(self, corpus: str) -> Iterator[RegistryEntry]:
        query = {"bool": {"filter": [{"term": {"record": "entry"}}, {"term": {"corpus": corpus}}]}}
        try:
            for hit in scan(
                self._system.client, self._system.name("registry"), query, ["documentId"], seq_no=True
            ):
                yield entry_from_record(hit["_source"], token_of(hit))
        except GenerationGone:
            return  # The index is made by the first write: before it, there are no entries.

    def corpora(self) -> tuple[str, ...]:
        with translated("listing corpora"):
            try:
                answer = self._system.client.search(
                    index=self._system.name("registry"),
                    query={"bool": {"filter": [{"term": {"record": "profile"}}]}},
                    size=_MAX_CORPORA,
                    source={"includes": ["corpus"]},
                    allow_partial_search_results=False,
                )
            except NotFoundError as error:
                if error_type(error) == "index_not_found_exception":
                    return ()
                raise
        return tuple(sorted(hit["_source"]["corpus"] for hit in answer["hits"]["hits"]))

    def corpus_profile(self, corpus: str) -> dict[str, Any] | None:
        id_ = key_id("profile", corpus)
        found = get_records(self._system, "registry", [id_])
        return json.loads(found[id_].source["profile"]) if id_ in found else None

    def write_corpus_profile(self, corpus: str, profile: Mapping[str, Any]) -> None:
        record = {"record": "profile", "corpus": corpus, "profile": to_text(dict(profile))}
        check_storable(record["profile"])
        index = self._system.ensure("registry")
        with translated("writing a corpus profile"):
            # Refreshed at once, so that `corpora`, which has to search, sees every finished write.
            self._system.client.index(
                index=index, id=key_id("profile", corpus), document=record, refresh=True
            )

    def epoch(self) -> int:
        stored = self._epoch()
        return 0 if stored is None else int(stored.source["epoch"])

    def raise_epoch(self) -> int:
        for tried in range(_EPOCH_TRIES):
            stored = self._epoch()
            raised = 1 if stored is None else int(stored.source["epoch"]) + 1
            try:
                self._put(
                    _EPOCH, {"record": "epoch", "epoch": raised}, None if stored is None else stored.token
                )
            except Conflict:
                time.sleep(random.uniform(0, 0.01 * (tried + 1)))
                continue
            return raised
        raise Unavailable("The access epoch could not be raised: too many writers at once.")

    def _epoch(self) -> Stored | None:
        return get_records(self._system, "registry", [_EPOCH]).get(_EPOCH)

    def _put(self, id_: str, record: dict[str, Any], token: str | None) -> str:
        """Creates (no token) or replaces the record; its new token. Raises Conflict."""
        index = self._system.ensure("registry")
        with translated("writing the registry"):
            return put_with_token(self._system, index, id_, record, token)
