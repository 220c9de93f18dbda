"""The filter as Elasticsearch itself means it: over random rights it finds exactly what the rule says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest
from elasticsearch import Elasticsearch, helpers

from service.access.compile import elastic_filter
from service.access.policy import visible
from service.access.rules import to_json
from service.adapters.elastic.mappings import chunks_body
from service.domain.ports import Engine, IndexSettings
from service.domain.rights import Access, Scope
from tests.contract.material import built, chunk

pytestmark = pytest.mark.elasticsearch

# Few names, so that sets meet often; odd ones, so that no separator or encoding forges another.
LABELS = ["public", "secret", "hr", "公开", "a,b", "secret "]
SUBJECTS = [
    "*",
    "user:ann",
    "user:ben",
    "group:eng",
    "group:hr",
    "group:财务",
    "group:eng,group:hr",
    "group:*",
]
TENANTS = ["acme", "rival", "acme "]
DOCUMENTS, SCOPES = 400, 60


def some(random_: random.Random, names: list[str], most: int) -> frozenset[str]:
    return frozenset(random_.sample(names, random_.randint(0, most)))


def rights(random_: random.Random) -> Access:
    """Rights that a document may end up with, those that lost a part included."""
    return Access(
        random_.choice(TENANTS),
        some(random_, LABELS, 3),
        some(random_, SUBJECTS, 3),
        some(random_, SUBJECTS, 1),
    )


@pytest.fixture
def index(es_url: str, elastic: Engine) -> Iterator[tuple[Elasticsearch, str, dict[str, Access]]]:
    """One index with a generation's own mapping, full of random rights, under the engine's test prefix."""
    random_ = random.Random(7)
    documents = {f"d{number}": rights(random_) for number in range(DOCUMENTS)}
    client, name = Elasticsearch(es_url.split(",")), f"{elastic.prefix}-filter"
    client.indices.create(index=name, **chunks_body(IndexSettings(dimension=4)))
    try:
        actions = [
            {"_index": name, "_id": id_, "access": to_json(a) | {"labelCount": len(a.labels)}}
            for id_, a in documents.items()
        ]
        written, failed = helpers.bulk(client, actions, refresh=True)
        assert (written, failed) == (DOCUMENTS, [])
        yield client, name, documents
    finally:
        client.indices.delete(index=name)
        client.close()


def found(client: Elasticsearch, index: str, scope: Scope) -> set[str]:
    answer: Any = client.search(index=index, query=elastic_filter(scope), size=DOCUMENTS, source=False)
    return {hit["_id"] for hit in answer["hits"]["hits"]}


def test_the_engine_finds_what_the_rule_lets_see(index: tuple[Elasticsearch, str, dict[str, Access]]) -> None:
    client, name, documents = index
    random_ = random.Random(8)
    scopes = [
        Scope(random_.choice(TENANTS), some(random_, LABELS, 6), some(random_, SUBJECTS, 4))
        for _ in range(SCOPES)
    ]
    everything = frozenset(LABELS)
    scopes += [
        Scope("", everything, frozenset(SUBJECTS)),
        Scope("acme", everything, frozenset()),
        Scope("acme", frozenset(), frozenset(SUBJECTS)),
        Scope("acme", frozenset({"unknown"}), frozenset(SUBJECTS)),
        Scope("ACME", everything, frozenset(SUBJECTS)),
        Scope("acme", everything, frozenset({"group:eng"})),
    ]
    sizes = []
    for scope in scopes:
        expected = {id_ for id_, access in documents.items() if visible(access, scope)}
        assert found(client, name, scope) == expected, scope
        sizes.append(len(expected))
    assert sizes[-6:-1] == [0] * 5
    # Had the sets never met, agreement would prove nothing.
    assert sum(size > 0 for size in sizes) > SCOPES // 2
    assert max(sizes) > 10


def test_a_document_without_labels_or_count_is_seen_by_nobody(
    index: tuple[Elasticsearch, str, dict[str, Access]],
) -> None:
    client, name, _ = index
    whole: dict[str, Any] = {
        "tenant": "lost",
        "labels": ["public"],
        "labelCount": 1,
        "allow": ["*"],
        "deny": [],
    }
    damaged = {"labels": [], "allow": [], "labelCount": 0, "tenant": ""}
    client.index(index=name, id="whole", document={"access": whole})
    for key, value in damaged.items():
        client.index(index=name, id=f"emptied-{key}", document={"access": whole | {key: value}})
        left = {k: v for k, v in whole.items() if k != key}
        client.index(index=name, id=f"without-{key}", document={"access": left})
    client.index(index=name, id="nothing", document={})
    client.indices.refresh(index=name)
    assert found(client, name, Scope("lost", frozenset(LABELS), frozenset(SUBJECTS))) == {"whole"}


def test_a_count_of_labels_that_is_too_low_is_seen_by_the_check(es_url: str, elastic: Engine) -> None:
    """Nothing of ours writes one; in a query it would ask for fewer labels than the document has."""
    both = Access("acme", frozenset({"public", "secret"}), frozenset({"*"}))
    generation = built(elastic, [chunk("doc", access=both)])
    [whole] = elastic.generations.scan(generation)
    assert whole.access == both
    with Elasticsearch(es_url.split(",")) as client:
        [hit] = client.search(index=generation.name)["hits"]["hits"]
        client.update(index=generation.name, id=hit["_id"], doc={"access": {"labelCount": 1}}, refresh=True)
    [damaged] = elastic.generations.scan(generation)
    assert damaged.access != both and not visible(damaged.access, Scope("acme", both.labels, both.allow))
    elastic.generations.spread_access(generation, "doc", both)
    assert [item.access for item in elastic.generations.scan(generation)] == [both]
