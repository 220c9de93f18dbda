"""Golden query bodies: a change of what Elasticsearch is asked is seen in a diff.

Renew them with `pytest tests/golden --update-golden` and read the diff before committing it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from service.access.compile import elastic_filter
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
    }


@pytest.mark.parametrize("name", made(SCOPE))
def test_body_is_the_golden_one(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.json"
    # Through JSON once: float32 values are compared as they are sent.
    body = json.loads(json.dumps(made(SCOPE)[name]))
    if update_golden:
        path.write_text(json.dumps(body, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    assert body == json.loads(path.read_text(encoding="utf-8"))


def unfiltered(body: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """The legs of a body that lack the rights filter: its query, and every kNN clause wherever it stands."""
    legs = {"query": body["query"].get("bool", {})} if "query" in body else {}
    legs |= {f"knn {place}": clause for place, clause in enumerate(knn_clauses(body))}
    assert legs, "a body without query and kNN clause asks for everything"
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
def test_every_leg_carries_the_rights_filter_as_a_filter(name: str) -> None:
    assert unfiltered(golden(name), elastic_filter(SCOPE)) == []


@pytest.mark.parametrize("name", made(SCOPE))
def test_the_walk_sees_a_missing_filter(name: str) -> None:
    wanted = elastic_filter(SCOPE)
    # The same body without the filter, and with it where it only scores.
    assert unfiltered(without(golden(name), wanted), wanted) != []
    assert unfiltered(json.loads(json.dumps(golden(name)).replace('"filter"', '"should"')), wanted) != []


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
