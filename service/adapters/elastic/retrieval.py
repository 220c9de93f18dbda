"""Queries against one pinned generation in Elasticsearch, each leg inside the same scope."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from elasticsearch import Elasticsearch, NotFoundError

from service.adapters.acceptance import askable_names, is_zero, without_asking
from service.adapters.chunk_records import found_from_record, tokens_from_record
from service.adapters.elastic.bodies import (
    MAX_WINDOW,
    Body,
    any_visible_body,
    fetch_body,
    leg_body,
    msearch_lines,
    rights_in_use_body,
    similarities_body,
    tokens_body,
)
from service.adapters.elastic.client import translated
from service.adapters.names import alias_of, generation_of
from service.domain.generations import Generation
from service.domain.retrieval import FoundChunk, Hit, KnnLeg, Leg, LegResult, Vector
from service.domain.rights import RightsInUse, Scope
from service.errors import AliasOnSeveral, GenerationGone, Unavailable
from service.text.wellformed import storable

# How many more neighbours than asked for are read, so that ties at the end can be settled by chunkId.
_TIE_MARGIN = 8
# Named chunks looked up in one search.
_BATCH = 1000
# The HTTP call may take this much longer than the search itself is allowed to.
_TRANSPORT_MARGIN_S = 0.25


class ElasticRetrieval:
    def __init__(self, client: Elasticsearch, prefix: str) -> None:
        self._client = client
        self._prefix = prefix

    def resolve(self, corpus: str, corpus_version: str) -> Generation | None:
        alias = alias_of(self._prefix, corpus, corpus_version)
        with translated("finding the generation"):
            try:
                found = sorted(self._client.indices.get_alias(name=alias).body)
            except NotFoundError:
                return None
        if len(found) > 1:
            raise AliasOnSeveral(tuple(found))
        generation = generation_of(self._prefix, corpus, found[0]) if found else None
        if found and generation is None:
            raise Unavailable(f"Alias {alias} points at an index that is no generation of its corpus.")
        return generation

    def search(
        self, generation: Generation, legs: Sequence[Leg], scope: Scope, timeout_s: float
    ) -> tuple[LegResult, ...]:
        known = [without_asking(leg) for leg in legs]
        asked = [leg for leg, result in zip(legs, known, strict=True) if result is None]
        windows = [_window(leg) for leg in asked]
        answers = self._ask(generation, asked, windows, scope, timeout_s)
        results = iter(
            [
                self._result(generation, leg, window, answer, scope, timeout_s)
                for leg, window, answer in zip(asked, windows, answers, strict=True)
            ]
        )
        return tuple(result or next(results) for result in known)

    def similarities(
        self, generation: Generation, vector: Vector, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, float]:
        if is_zero(vector):
            return {}
        found: dict[str, float] = {}
        for batch in _batches(chunk_ids):
            hits = self._named(generation, similarities_body(vector, batch, scope, timeout_s), timeout_s)
            # Elasticsearch's cosine score is (1 + cos) / 2.
            found |= {hit["_source"]["chunkId"]: 2 * _score(hit) - 1 for hit in hits}
        return found

    def token_vectors(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, bytes]:
        found: dict[str, bytes] = {}
        for batch in _batches(chunk_ids):
            hits = self._named(generation, tokens_body(batch, scope, timeout_s), timeout_s)
            found |= {hit["_source"]["tokensOf"]: tokens_from_record(hit["_source"]) for hit in hits}
        return found

    def any_visible(self, generation: Generation, scope: Scope, timeout_s: float) -> bool:
        return bool(self._named(generation, any_visible_body(scope, timeout_s), timeout_s))

    def rights_in_use(self, generation: Generation, tenant: str, timeout_s: float) -> RightsInUse | None:
        body = rights_in_use_body(tenant if storable(tenant) else "", timeout_s)
        with translated("listing rights in use"):
            answer = self._online(timeout_s).search(
                index=generation.name, allow_partial_search_results=False, **_parameters(body)
            )
        if answer["timed_out"]:
            raise Unavailable("Listing the rights in use took too long.")
        found = answer["aggregations"]
        if any(part["sum_other_doc_count"] for part in found.values()):
            return None
        names = {key: frozenset(b["key"] for b in part["buckets"]) for key, part in found.items()}
        return RightsInUse(names["labels"], names["allow"] | names["deny"])

    def fetch(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, FoundChunk]:
        found: dict[str, FoundChunk] = {}
        for batch in _batches(chunk_ids):
            hits = self._named(generation, fetch_body(batch, scope, timeout_s), timeout_s)
            found |= {hit["_source"]["chunkId"]: found_from_record(hit["_source"]) for hit in hits}
        return found

    def _ask(
        self,
        generation: Generation,
        legs: Sequence[Leg],
        windows: Sequence[int],
        scope: Scope,
        timeout_s: float,
    ) -> list[dict[str, Any]]:
        """One answer a leg, from one round trip."""
        if not legs:
            return []
        bodies = [leg_body(leg, scope, timeout_s, window) for leg, window in zip(legs, windows, strict=True)]
        with translated("searching"):
            answers: list[dict[str, Any]] = self._online(timeout_s).msearch(
                searches=msearch_lines(generation.name, bodies)
            )["responses"]
        types = [answer["error"]["type"] for answer in answers if "error" in answer]
        if "index_not_found_exception" in types:
            raise GenerationGone("The generation was removed meanwhile; ask again.")
        if all(answer.get("status") == 503 for answer in answers):
            raise Unavailable("No copy of the generation's shards answers.")
        return answers

    def _result(
        self,
        generation: Generation,
        leg: Leg,
        window: int,
        answer: dict[str, Any],
        scope: Scope,
        timeout_s: float,
    ) -> LegResult:
        took = float(answer.get("took", 0))
        if "error" in answer:
            return LegResult(leg.name, (), took, "failed")
        if answer["timed_out"]:
            # What was found so far depends on how fast each shard was: no such list is ever used.
            return LegResult(leg.name, (), took, "timeout")
        hits = answer["hits"]["hits"]
        if isinstance(leg, KnnLeg) and _tie_is_open(hits, leg.k, window):
            wider = min(MAX_WINDOW, window * 4)
            [again] = self._ask(generation, [leg], [wider], scope, timeout_s)
            result = self._result(generation, leg, wider, again, scope, timeout_s)
            return LegResult(leg.name, result.hits, took + result.took_ms, result.error)
        return LegResult(leg.name, _hits(hits[: leg.k] if isinstance(leg, KnnLeg) else hits), took)

    def _named(self, generation: Generation, body: Body, timeout_s: float) -> list[dict[str, Any]]:
        with translated("reading named chunks"):
            answer = self._online(timeout_s).search(
                index=generation.name, allow_partial_search_results=False, **_parameters(body)
            )
        if answer["timed_out"]:
            raise Unavailable("Reading named chunks took too long.")
        hits: list[dict[str, Any]] = answer["hits"]["hits"]
        return hits

    def _online(self, timeout_s: float) -> Elasticsearch:
        # One more try only: it helps when a node has just gone, and the deadline is the caller's.
        return self._client.options(request_timeout=timeout_s + _TRANSPORT_MARGIN_S, max_retries=1)


def _window(leg: Leg) -> int:
    return min(MAX_WINDOW, leg.k + _TIE_MARGIN) if isinstance(leg, KnnLeg) else leg.size


def _tie_is_open(hits: list[dict[str, Any]], k: int, window: int) -> bool:
    """Whether chunks outside the window may tie with the k-th: then chunkId has not decided among them all.

    Inside a shard kNN breaks ties by internal document number, which differs between copies of the shard.
    """
    full = len(hits) == window and window < MAX_WINDOW
    return full and len(hits) > k and _score(hits[k - 1]) == _score(hits[-1])


def _hits(hits: list[dict[str, Any]]) -> tuple[Hit, ...]:
    return tuple(
        Hit(found_from_record(hit["_source"]), rank, _score(hit)) for rank, hit in enumerate(hits, start=1)
    )


def _score(hit: dict[str, Any]) -> float:
    return float(hit["sort"][0])


def _batches(chunk_ids: Sequence[str]) -> list[tuple[str, ...]]:
    names = askable_names(chunk_ids)
    return [names[start : start + _BATCH] for start in range(0, len(names), _BATCH)]


def _parameters(body: Body) -> dict[str, Any]:
    """The body as arguments of the client's `search`, which spells `_source` without the underscore."""
    return {key.removeprefix("_"): value for key, value in body.items()}
