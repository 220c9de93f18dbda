"""Stores made by an earlier release get what they lack where they stand, and lose nothing."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from service.adapters.elastic.mappings import system_body
from service.adapters.embedded import open_embedded
from service.adapters.embedded.schema import STORES
from service.domain.ports import Engine
from service.errors import Misconfigured
from tests.contract.material import CORPUS, EVERYBODY, entry

# An entry as the first release wrote it.
OLD: dict[str, Any] = {
    "corpus": CORPUS,
    "documentId": "doc",
    "currentVersion": "v1",
    "access": {"tenant": "acme", "labels": ["public"], "allow": ["*"], "deny": []},
    "deleted": False,
    "sequence": 1,
    "updatedAt": "2026-12-01T00:00:00Z",
    "updatedBy": "tests",
}


def used(engine: Engine) -> None:
    found = engine.registry.get_many(CORPUS, ["doc"])["doc"]
    assert (found.access, found.action, found.before, found.spread_pending) == (
        EVERYBODY,
        "register",
        None,
        False,
    )
    engine.audit.append(found.change)
    assert list(engine.audit.scan(CORPUS)) == [found.change]
    assert engine.registry.write(entry("new")).document_id == "new"


def test_an_embedded_store_of_the_first_version(tmp_path: Path) -> None:
    path = tmp_path / "p" / "stores.sqlite3"
    path.parent.mkdir()
    with sqlite3.connect(path) as connection:
        for statement in STORES[0]:
            connection.execute(statement)
        connection.execute("INSERT INTO entry VALUES (?, 'doc', ?, 1)", (CORPUS, json.dumps(OLD)))
        connection.execute("PRAGMA user_version = 1")
    connection.close()
    used(open_embedded(tmp_path, "p"))
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(Misconfigured):
        open_embedded(tmp_path, "p").registry.epoch()


@pytest.mark.elasticsearch
def test_an_elasticsearch_registry_of_the_first_version(
    es_url: str, make_elastic: Callable[[str], Engine], prefix: str
) -> None:
    from service.adapters.elastic.system import key_id

    engine = make_elastic(prefix)
    body = system_body("registry")
    del body["mappings"]["properties"]["change"], body["mappings"]["properties"]["spreadPending"]
    body["mappings"]["_meta"]["version"] = 1
    with Elasticsearch(es_url.split(",")) as client:
        name = f"{prefix}-registry"
        client.indices.create(index=name, settings=body["settings"], mappings=body["mappings"])
        client.index(index=name, id=key_id("entry", CORPUS, "doc"), document={"record": "entry"} | OLD)
        used(engine)
        mapping = client.indices.get_mapping(index=name)[name]["mappings"]
        assert mapping["_meta"]["version"] == 2 and "spreadPending" in mapping["properties"]
        client.indices.put_mapping(index=name, meta={"name": "registry", "version": 3})
    with pytest.raises(Misconfigured, match="version 3"):
        make_elastic(prefix).registry.write(entry("newer"))
