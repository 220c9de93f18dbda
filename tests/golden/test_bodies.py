"""Golden query bodies: a change of what Elasticsearch is asked is seen in a diff.

Renew them with `pytest tests/golden --update-golden` and read the diff before committing it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.access.compile import elastic_filter
from service.adapters.chunk_records import FOUND_FIELDS
from service.adapters.elastic import bodies
from service.domain.retrieval import AnchorLeg, Bm25Leg, KnnLeg
from service.domain.rights import Scope

FOLDER = Path(__file__).parent / "bodies"
SCOPE = Scope("acme", frozenset({"public", "internal"}), frozenset({"*", "user:alice", "group:eng"}))
NOBODY = Scope("", frozenset(), frozenset())
VECTOR = np.asarray([0.6, 0.8, 0.0, 0.0], dtype=np.float32)


def made(scope: Scope) -> dict[str, dict[str, Any]]:
    return {
        "bm25": bodies.bm25_body(Bm25Leg(("退款", "期限"), 50, 0.6), scope, 2.0),
        "anchors": bodies.anchors_body(AnchorLeg(("err8005", "tidb_gc"), 20), scope, 2.0),
        "knn": bodies.knn_body(KnnLeg(VECTOR, 10, 40), scope, 2.0, 18),
        "any_visible": bodies.any_visible_body(scope, 2.0),
        "similarities": bodies.similarities_body(VECTOR, ["a@v#1", "b@v#1"], scope, 2.0),
        "fetch": bodies.fetch_body(["a@v#1"], scope, 2.0),
        "tokens": bodies.tokens_body(["a@v#1"], scope, 2.0),
    }


@pytest.mark.parametrize("name", made(SCOPE))
def test_body_is_the_golden_one(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.json"
    # Through JSON once: float32 values are compared as they are sent.
    body = json.loads(json.dumps(made(SCOPE)[name]))
    if update_golden:
        path.write_text(json.dumps(body, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    assert body == json.loads(path.read_text(encoding="utf-8"))


# What a body may hold. Everything else is refused until somebody has thought about what it can show: aggregations,
# suggestions, rescoring, highlights, inner hits and profiles read documents in ways of their own.
TOP = {"size", "track_total_hits", "timeout", "terminate_after", "_source", "sort", "query", "knn"}
CLAUSES = {"bool", "match", "constant_score", "term", "terms", "terms_set", "range", "match_none"}
OCCURS = {"filter", "should", "must_not", "minimum_should_match"}
NEAREST = {"field", "query_vector", "k", "num_candidates", "filter"}
SORTS = [[{"_score": "desc"}, {"chunkId": "asc"}], [{"chunkId": "asc"}], [{"tokensOf": "asc"}]]


def faults(body: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Everything about a body by which something outside the scope could be read; empty for a sound one."""
    found = [f"unknown key {key}" for key in body.keys() - TOP]
    found += [f"the leg {name} has no rights filter" for name in unfiltered(body, wanted)]
    if body.get("track_total_hits") is not False:
        found.append("hits are counted")
    if "sort" in body and body["sort"] not in SORTS:
        found.append("an unknown order")
    source = body.get("_source")
    if source is not False and not (
        isinstance(source, list) and set(source) <= {*FOUND_FIELDS, "tokensOf", "tokens"}
    ):
        found.append("more of a chunk than may be shown")
    for clause in as_list(body.get("knn", [])):
        found += [f"unknown key {key} in knn" for key in clause.keys() - NEAREST]
        found += [fault for part in as_list(clause.get("filter", [])) for fault in clause_faults(part)]
    return found + (clause_faults(body["query"]) if "query" in body else [])


def clause_faults(clause: dict[str, Any]) -> list[str]:
    """Clauses that are not known to read nothing but the fields of the chunk they are held against."""
    if len(clause) != 1:
        return [f"not one clause: {sorted(clause)}"]
    [(kind, value)] = clause.items()
    if kind not in CLAUSES:
        return [f"unknown clause {kind}"]
    if kind == "terms" and not all(isinstance(names, list) for names in value.values()):
        return ["terms read from another document"]
    if kind == "constant_score":
        unknown = [f"unknown key {key} in constant_score" for key in value.keys() - {"filter", "boost"}]
        return unknown + clause_faults(value["filter"])
    if kind != "bool":
        return []
    found = [f"unknown key {key} in bool" for key in value.keys() - OCCURS]
    for occur in ("filter", "should", "must_not"):
        found += [fault for part in as_list(value.get(occur, [])) for fault in clause_faults(part)]
    return found


def unfiltered(body: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """The legs of a body that lack the rights filter: its query, and every kNN clause wherever it stands."""
    legs = {"query": body["query"].get("bool", {})} if "query" in body else {}
    legs |= {f"knn {place}": clause for place, clause in enumerate(knn_clauses(body))}
    if not legs:
        return ["all: a body without query and kNN clause asks for everything"]
    return [name for name, leg in legs.items() if wanted not in as_list(leg.get("filter"))]


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def knn_clauses(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        for key, part in value.items():
            if key == "knn":
                yield from as_list(part)
            yield from knn_clauses(part)
    elif isinstance(value, list):
        for part in value:
            yield from knn_clauses(part)


def golden(name: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    return body


def test_every_golden_body_is_made_and_compared() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(made(SCOPE))


@pytest.mark.parametrize("name", made(SCOPE))
def test_every_leg_carries_the_rights_filter_and_nothing_reads_beside_it(name: str) -> None:
    assert faults(golden(name), elastic_filter(SCOPE)) == []


@pytest.mark.parametrize("name", made(SCOPE))
def test_the_walk_sees_a_missing_filter(name: str) -> None:
    wanted = elastic_filter(SCOPE)
    # The same body without the filter, with it where it only scores, and with a wider one.
    assert unfiltered(without(golden(name), wanted), wanted) != []
    assert unfiltered(json.loads(json.dumps(golden(name)).replace('"filter"', '"should"')), wanted) != []
    assert unfiltered(golden(name), elastic_filter(Scope("acme", SCOPE.labels, frozenset("*")))) != []
    for part in wanted["bool"]["filter"]:
        assert unfiltered(without(golden(name), part), wanted) != []
    assert unfiltered(without(golden(name), wanted["bool"]["must_not"]), wanted) != []


ANY: dict[str, Any] = {"match_all": {}}
NEAR: dict[str, Any] = {"field": "vector", "query_vector": [1, 0, 0, 0], "k": 10, "num_candidates": 10}
ADDED: dict[str, Any] = {
    "aggs": {"tags": {"terms": {"field": "anchors", "min_doc_count": 0}}},
    "aggregations": {"all": {"global": {}}},
    "suggest": {"text": "lay", "words": {"term": {"field": "body"}}},
    "rescore": {"window_size": 9, "query": {"rescore_query": ANY}},
    "highlight": {"fields": {"body": {"highlight_query": ANY}}},
    "collapse": {"field": "documentId", "inner_hits": {"name": "all", "size": 9}},
    "post_filter": ANY,
    "retriever": {"rrf": {"retrievers": [{"standard": {"query": ANY}}]}},
    "script_fields": {"x": {"script": "1"}},
    "runtime_mappings": {"x": {"type": "keyword"}},
    "docvalue_fields": ["access.allow"],
    "fields": ["access.*"],
    "profile": True,
    "explain": True,
    "stats": ["x"],
    "indices_boost": [{"other": 2}],
    "pit": {"id": "x"},
    "search_after": ["x"],
    "track_total_hits": True,
    "_source": True,
    "sort": [{"access.tenant": "asc"}],
}
# A clause that reads beside the filter though the filter stands, or stands no longer where it rules.
WRAPPED: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "an alternative": lambda query: {"bool": {"should": [query, ANY]}},
    "another bool around": lambda query: {"bool": {"must": [query], "should": [ANY]}},
    "the best of two": lambda query: {"dis_max": {"queries": [query, ANY]}},
    "a function": lambda query: {"function_score": {"query": query}},
    "boosting": lambda query: {"boosting": {"positive": query, "negative": ANY, "negative_boost": 0.5}},
    "a negation": lambda query: {"bool": {"must_not": [query]}},
}
BESIDE: dict[str, dict[str, Any]] = {
    "text of other documents": {"more_like_this": {"fields": ["body"], "like": [{"_id": "1"}]}},
    "terms of other documents": {"terms": {"anchors": {"index": "x", "id": "1", "path": "anchors"}}},
    "query syntax": {"query_string": {"query": "* OR access.tenant:rival"}},
    "a script": {"script": {"script": "1"}},
    "inner hits": {"nested": {"path": "access", "query": ANY, "inner_hits": {}}},
    "children": {"has_child": {"type": "x", "query": ANY}},
    "kNN without a filter": {"knn": NEAR},
    "kNN deep below": {"bool": {"should": [{"constant_score": {"filter": {"knn": NEAR}}}]}},
}


@pytest.mark.parametrize("key", ADDED)
@pytest.mark.parametrize("name", made(SCOPE))
def test_the_walk_refuses_what_reads_documents_in_its_own_way(name: str, key: str) -> None:
    assert faults(golden(name) | {key: ADDED[key]}, elastic_filter(SCOPE)) != []


@pytest.mark.parametrize("name", made(SCOPE))
def test_the_walk_refuses_another_leg_without_the_filter(name: str) -> None:
    body, wanted = golden(name), elastic_filter(SCOPE)
    for more in ({"knn": NEAR}, {"query": ANY}, {"knn": [NEAR | {"filter": [wanted]}, NEAR]}):
        assert unfiltered(body | more, wanted) != []
    inner = NEAR | {"filter": [wanted], "inner_hits": {"size": 9}}
    assert faults(body | {"knn": inner}, wanted) == ["unknown key inner_hits in knn"]


@pytest.mark.parametrize("how", WRAPPED)
@pytest.mark.parametrize("name", [name for name, body in made(SCOPE).items() if "query" in body])
def test_the_walk_refuses_a_filter_that_no_longer_rules(name: str, how: str) -> None:
    body = golden(name)
    body["query"] = WRAPPED[how](body["query"])
    assert faults(body, elastic_filter(SCOPE)) != []


@pytest.mark.parametrize("what", BESIDE)
@pytest.mark.parametrize("name", [name for name, body in made(SCOPE).items() if "query" in body])
def test_the_walk_refuses_a_clause_that_reads_beside_the_filter(name: str, what: str) -> None:
    for occur in ("should", "filter", "must_not"):
        body = golden(name)
        body["query"]["bool"].setdefault(occur, []).append(BESIDE[what])
        assert faults(body, elastic_filter(SCOPE)) != [], occur


def without(value: Any, unwanted: Any) -> Any:
    if isinstance(value, dict):
        return {key: without(part, unwanted) for key, part in value.items() if part != unwanted}
    if isinstance(value, list):
        return [without(part, unwanted) for part in value if part != unwanted]
    return value


@pytest.mark.parametrize("name", made(NOBODY))
def test_nobody_is_asked_for_with_match_none(name: str) -> None:
    assert {"match_none": {}} in list(dicts(made(NOBODY)[name]))


def dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from dicts(part)
