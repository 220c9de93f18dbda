"""Generations in Elasticsearch: one index each, and the aliases in front of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from elasticsearch import BadRequestError, Elasticsearch, NotFoundError

from service.adapters.acceptance import refusal
from service.adapters.chunk_records import (
    access_record,
    indexed_from_record,
    indexed_record,
    token_rights_from_record,
    tokens_from_record,
    tokens_record,
)
from service.adapters.elastic.bulk import Item, bulk
from service.adapters.elastic.client import error_type, translated
from service.adapters.elastic.mappings import chunks_body
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import key_id
from service.adapters.names import generations_of, live_of
from service.domain.documents import IndexedChunk
from service.domain.generations import LIVE, Generation, live_alias
from service.domain.ports import BulkReport, IndexSettings, Refused, TokenRights
from service.domain.rights import Access
from service.errors import BuildRefused, Conflict, Unavailable

# How long `seal` waits for shards and replicas.
_HEALTH_WAIT_S = 60
_MERGE_WAIT_S = 1800
_SCAN_PAGE = 500
_TOKENS_PAGE = 200  # some 30 KB each


class ElasticGenerations:
    """A sealed generation gets no write block: rights and deletions must reach it at any moment, and lifting
    a block for them would let any other write through meanwhile. `write` heeds a mark in `_meta` instead.
    """

    def __init__(self, client: Elasticsearch, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def create(self, generation: Generation, settings: IndexSettings) -> None:
        body = chunks_body(settings)
        with translated("creating a generation"):
            try:
                self._client.indices.create(
                    index=generation.name, settings=body["settings"], mappings=body["mappings"]
                )
            except BadRequestError as error:
                if error_type(error) == "resource_already_exists_exception":
                    raise Conflict(f"Generation {generation.name} exists already.") from error
                raise

    def write(self, generation: Generation, chunks: Iterable[IndexedChunk]) -> BulkReport:
        meta = self._meta(generation)
        if meta.get("sealed"):
            raise Conflict(f"Generation {generation.name} is sealed; only rights may change in it.")
        refused: list[Refused] = []
        sent: list[tuple[str, str]] = []
        outcome = bulk(
            self._client, generation.name, _accepted(chunks, int(meta["dimension"]), refused, sent)
        )
        failed = {failure.key: failure.reason for failure in outcome.failures}
        missed = [Refused(*key, failed[key[0]]) for key in sent if key[0] in failed]
        return BulkReport(len(sent) - len(missed), (*refused, *missed), outcome.retried)

    def seal(self, generation: Generation, settings: IndexSettings) -> None:
        name, indices = generation.name, self._client.indices
        meta = self._meta(generation)
        with translated("sealing a generation"):
            indices.refresh(index=name)
            if settings.force_merge:  # Before the replicas: they then copy one segment.
                patient = self._client.options(request_timeout=_MERGE_WAIT_S).indices
                patient.forcemerge(index=name, max_num_segments=1)
            # An explicit interval keeps an idle index refreshing, so that spread rights show by themselves.
            indices.put_settings(
                index=name, settings={"number_of_replicas": settings.replicas, "refresh_interval": "1s"}
            )
            self._wait_for_copies(name, settings.replicas)
            indices.put_mapping(index=name, meta=meta | {"sealed": True})

    def scan(
        self, generation: Generation, *, vectors: bool = False, tokens: bool = False
    ) -> Iterator[IndexedChunk]:
        # Vectors are left out of `_source` unless asked for by name of this option.
        source = {"exclude_vectors": False} if vectors else {"exclude_vectors": True}
        beside = self._tokens(generation) if tokens else iter(())
        waiting = next(beside, None)
        for hit in scan(
            self._client,
            generation.name,
            {"exists": {"field": "chunkId"}},
            ["chunkId"],
            page=_SCAN_PAGE,
            source=source,
        ):
            chunk = indexed_from_record(hit["_source"])
            # Both come in the order of chunk ids; what belongs to no chunk any more is passed over.
            while waiting is not None and waiting[0] < hit["sort"][0]:
                waiting = next(beside, None)
            if waiting is not None and waiting[0] == chunk.chunk.chunk_id:
                chunk = replace(chunk, tokens=waiting[1])
            yield chunk

    def _tokens(self, generation: Generation) -> Iterator[tuple[str, bytes]]:
        query = {"exists": {"field": "tokensOf"}}
        for hit in scan(self._client, generation.name, query, ["tokensOf"], page=_TOKENS_PAGE):
            yield hit["_source"]["tokensOf"], tokens_from_record(hit["_source"])

    def token_rights(self, generation: Generation) -> Iterator[TokenRights]:
        source, query = ["tokensOf", "documentId", "access"], {"exists": {"field": "tokensOf"}}
        for hit in scan(self._client, generation.name, query, ["tokensOf"], page=_SCAN_PAGE, source=source):
            yield token_rights_from_record(hit["_source"])

    def spread_access(self, generation: Generation, document_id: str, access: Access | None) -> int:
        hits = scan(
            self._client,
            generation.name,
            {"term": {"documentId": document_id}},
            ["_doc"],
            source=["chunkId"],
        )
        # A chunk and its token vectors alike.
        named = {hit["_id"]: bool(hit["_source"]) for hit in hits}
        if access is None:
            items = [Item("delete", name, name) for name in named]
        else:
            # All keys of `access` are in the part, so nothing of the old rights is left.
            part = {"doc": {"access": access_record(access)}}
            items = [Item("update", name, name, part) for name in named]
        if not items:
            return 0
        outcome = bulk(self._client, generation.name, items)
        with translated("spreading rights"):
            self._client.indices.refresh(index=generation.name)
        # Not found: somebody else has removed the chunk already, which is no less than was asked for.
        missed = [failure for failure in outcome.failures if failure.status != 404]
        if missed:
            raise Unavailable(
                f"Rights of {len(missed)} chunks were not written in {generation.name}: {missed[0].reason}"
            )
        failed = {failure.key for failure in outcome.failures}
        return sum(is_chunk for name, is_chunk in named.items() if name not in failed)

    def names(self, corpus: str) -> tuple[str, ...]:
        with translated("listing generations"):
            found = self._client.indices.get_alias(
                index=f"{self._prefix}-chunks-{corpus}-cv*", allow_no_indices=True
            )
        return generations_of(self._prefix, corpus, found.body)

    def aliases(self, corpus: str) -> dict[str, tuple[str, ...]]:
        head = f"{self._prefix}-{corpus}@"
        with translated("reading aliases"):
            try:
                found = self._client.indices.get_alias(name=f"{head}*")
            except NotFoundError:
                return {}
        behind: dict[str, list[str]] = {}
        for index, entry in found.items():
            for alias in entry["aliases"]:
                if alias.startswith(head):
                    behind.setdefault(alias, []).append(index)
        return {alias: tuple(sorted(indices)) for alias, indices in sorted(behind.items())}

    def switch(self, add: Mapping[str, str], remove: Sequence[tuple[str, str]]) -> None:
        actions: list[dict[str, Any]] = [
            {"remove": {"index": generation, "alias": alias, "must_exist": True}}
            for alias, generation in remove
        ]
        actions += [{"add": {"index": generation, "alias": alias}} for alias, generation in add.items()]
        if not actions:
            return
        with translated("switching aliases"):
            try:
                self._client.indices.update_aliases(actions=actions)
            except NotFoundError as error:
                raise Conflict(
                    "An alias or generation is not where it was; read the aliases again."
                ) from error

    def live(self) -> dict[str, tuple[str, ...]]:
        with translated("reading aliases"):
            try:
                found = self._client.indices.get_alias(name=f"{self._prefix}-*@{LIVE}")
            except NotFoundError:
                return {}
        return live_of(
            self._prefix, ((alias, index) for index, entry in found.items() for alias in entry["aliases"])
        )

    def size(self, generation: Generation) -> int:
        with translated("measuring a generation"):
            stats = self._client.indices.stats(index=generation.name, metric="store")
        return int(stats["_all"]["total"]["store"]["size_in_bytes"])

    def drop(self, generation: Generation) -> None:
        live = live_alias(self._prefix, generation.corpus)
        if generation.name in self.aliases(generation.corpus).get(live, ()):
            raise BuildRefused(f"Generation {generation.name} is live and cannot be dropped.")
        with translated("dropping a generation"):
            self._client.options(ignore_status=404).indices.delete(index=generation.name)

    def _meta(self, generation: Generation) -> dict[str, Any]:
        with translated("reading a generation's settings"):
            found = self._client.indices.get_mapping(index=generation.name)
        meta: dict[str, Any] = found[generation.name]["mappings"]["_meta"]
        return meta

    def _wait_for_copies(self, name: str, replicas: int) -> None:
        """Green when the cluster has a node for each copy; a single node can never place a replica."""
        nodes = self._client.cluster.health()["number_of_data_nodes"]
        status = "green" if nodes > replicas else "yellow"
        health = self._client.options(ignore_status=408, request_timeout=_HEALTH_WAIT_S + 10).cluster.health(
            index=name, wait_for_status=status, timeout=f"{_HEALTH_WAIT_S}s"
        )
        if health["timed_out"]:
            raise Unavailable(f"The copies of {name} were not there after {_HEALTH_WAIT_S} s; try again.")


def _accepted(
    chunks: Iterable[IndexedChunk], dimension: int, refused: list[Refused], sent: list[tuple[str, str]]
) -> Iterator[Item]:
    """Items to write, by chunkId; what cannot be written goes to `refused` as it is met, all else to `sent`."""
    for chunk in chunks:
        name, document_id = chunk.chunk.chunk_id, chunk.chunk.document_id
        reason = refusal(chunk, dimension)
        if reason is not None:
            refused.append(Refused(name, document_id, reason))
            continue
        sent.append((name, document_id))
        # Hashed, since a chunkId can be longer than the 512 bytes that an `_id` may have.
        yield Item("index", key_id("chunk", name), name, indexed_record(chunk))
        if chunk.tokens:
            yield Item("index", key_id("tokens", name), name, tokens_record(chunk, chunk.tokens))
