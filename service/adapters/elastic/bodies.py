"""Query bodies: pure functions of a leg and a Scope. None can be built without the scope, which is always a
`filter`, inside the kNN clause too: a filter after kNN would throw neighbours away instead of finding others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from service.access.compile import elastic_filter
from service.adapters.acceptance import askable_names, askable_scope, askable_terms
from service.adapters.chunk_records import FOUND_FIELDS
from service.domain.retrieval import AnchorLeg, Bm25Leg, KnnLeg, Leg, Vector
from service.domain.rights import Scope

# Elasticsearch's own limits for one search.
MAX_WINDOW = 10_000
# Labels or subjects of one tenant that are listed; a tenant with more gets cache keys of whole scopes.
MAX_NAMES = 10_000

Body = dict[str, Any]


def bm25_body(leg: Bm25Leg, scope: Scope, timeout_s: float) -> Body:
    """Any term may match, in body or heading; the scores of the two fields add up."""
    # Tokens hold no white space (acceptance), so the field's `whitespace` analyzer gives back exactly these.
    terms = " ".join(askable_terms(leg.terms))
    matches: list[Body] = [
        {"match": {"body": {"query": terms}}},
        {"match": {"heading": {"query": terms, "boost": leg.heading_boost}}},
    ]
    return _listing(leg.size, timeout_s) | {"query": _scoped(scope, matches)}


def anchors_body(leg: AnchorLeg, scope: Scope, timeout_s: float) -> Body:
    """One point for each of the question's anchors that the chunk holds."""
    matches = [
        {"constant_score": {"filter": {"term": {"anchors": anchor}}, "boost": 1.0}}
        for anchor in askable_names(leg.anchors)
    ]
    return _listing(leg.size, timeout_s) | {"query": _scoped(scope, matches or [{"match_none": {}}])}


def knn_body(leg: KnnLeg, scope: Scope, timeout_s: float, window: int) -> Body:
    """The `window` nearest of what the scope may see; `window` ≥ k leaves room to settle ties by chunkId."""
    return _listing(window, timeout_s) | {
        "knn": _nearest(leg.vector, window, leg.candidates, [_filter(scope)])
    }


def any_visible_body(scope: Scope, timeout_s: float) -> Body:
    """One visible chunk at most, and nothing of it: the question is only whether there is one."""
    return {
        "size": 1,
        "track_total_hits": False,
        "terminate_after": 1,
        "timeout": _milliseconds(timeout_s),
        "_source": False,
        "query": {"bool": {"filter": [_filter(scope)]}},
    }


def rights_in_use_body(tenant: str, timeout_s: float) -> Body:
    """Which labels and subjects a tenant's chunks carry: no chunk is found, no count is used."""
    fields = {name: f"access.{name}" for name in ("labels", "allow", "deny")}
    return {
        "size": 0,
        "track_total_hits": False,
        "timeout": _milliseconds(timeout_s),
        "query": {"bool": {"filter": [{"term": {"access.tenant": tenant}}]}},
        "aggs": {name: {"terms": {"field": f, "size": MAX_NAMES}} for name, f in fields.items()},
    }


def similarities_body(vector: Vector, chunk_ids: Sequence[str], scope: Scope, timeout_s: float) -> Body:
    """kNN among named chunks: with so small a filter the scores are exact, whatever the index type."""
    named = [_filter(scope), {"terms": {"chunkId": list(chunk_ids)}}]
    return _listing(len(chunk_ids), timeout_s, source=["chunkId"]) | {
        "knn": _nearest(vector, len(chunk_ids), len(chunk_ids), named)
    }


def fetch_body(chunk_ids: Sequence[str], scope: Scope, timeout_s: float) -> Body:
    named = [_filter(scope), {"terms": {"chunkId": list(chunk_ids)}}]
    return {
        "size": len(chunk_ids),
        "track_total_hits": False,
        "timeout": _milliseconds(timeout_s),
        "_source": list(FOUND_FIELDS),
        "sort": [{"chunkId": "asc"}],
        "query": {"bool": {"filter": named}},
    }


def tokens_body(chunk_ids: Sequence[str], scope: Scope, timeout_s: float) -> Body:
    """The token vectors of named chunks, kept beside them under the same rights."""
    named = [_filter(scope), {"terms": {"tokensOf": list(chunk_ids)}}]
    return {
        "size": len(chunk_ids),
        "track_total_hits": False,
        "timeout": _milliseconds(timeout_s),
        "_source": ["tokensOf", "tokens"],
        "sort": [{"tokensOf": "asc"}],
        "query": {"bool": {"filter": named}},
    }


def leg_body(leg: Leg, scope: Scope, timeout_s: float, window: int) -> Body:
    """The body of any leg; `window` counts for kNN only."""
    if isinstance(leg, Bm25Leg):
        return bm25_body(leg, scope, timeout_s)
    if isinstance(leg, AnchorLeg):
        return anchors_body(leg, scope, timeout_s)
    return knn_body(leg, scope, timeout_s, window)


def msearch_lines(index: str, bodies: Sequence[Body]) -> list[dict[str, Any]]:
    """Header and body of each search. A shard that fails must fail its leg, not shorten it silently."""
    header = {"index": index, "allow_partial_search_results": False}
    return [line for body in bodies for line in (header, body)]


def _listing(size: int, timeout_s: float, source: Sequence[str] = FOUND_FIELDS) -> Body:
    """Best first, ties by chunkId: shard-internal order differs between copies of one shard."""
    return {
        "size": size,
        # No totals: a count over hidden and visible documents alike would be one more thing to guard.
        "track_total_hits": False,
        "timeout": _milliseconds(timeout_s),
        "_source": list(source),
        "sort": [{"_score": "desc"}, {"chunkId": "asc"}],
    }


def _filter(scope: Scope) -> dict[str, Any]:
    return elastic_filter(askable_scope(scope))


def _scoped(scope: Scope, matches: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "bool": {
            "filter": [_filter(scope)],
            "should": matches,
            # Beside a filter the default is 0: everything visible would match.
            "minimum_should_match": 1,
        }
    }


def _nearest(vector: Vector, k: int, candidates: int, filters: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "field": "vector",
        "query_vector": [float(value) for value in vector],
        "k": k,
        "num_candidates": min(MAX_WINDOW, max(k, candidates)),
        "filter": filters,
    }


def _milliseconds(timeout_s: float) -> str:
    return f"{max(1, math.ceil(timeout_s * 1000))}ms"
