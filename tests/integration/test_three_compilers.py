"""One visibility rule in three forms, each as it really runs: the predicate, the filter in an Elasticsearch index
with a generation's own mapping, the condition over the embedded engine's own access classes. Random documents and
principals in batches; every document is asked about for every principal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from elasticsearch import Elasticsearch, helpers
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.access.compile import elastic_filter
from service.access.policy import visible
from service.access.rules import from_json
from service.adapters.acceptance import askable_scope
from service.adapters.chunk_records import access_record
from service.adapters.elastic.mappings import chunks_body
from service.domain.generations import Generation
from service.domain.ports import Engine, IndexSettings
from service.domain.rights import Access, Scope
from service.text.wellformed import storable
from tests.contract.material import TIMEOUT_S, built, chunk

pytestmark = pytest.mark.elasticsearch

DOCUMENTS, SCOPES, BATCHES = 40, 10, 32
IDS = [f"d{number:02d}@v1#1" for number in range(DOCUMENTS)]

# Met often, so that sets overlap; beside them what an encoding, a separator or a query syntax might confuse.
COMMON = ["public", "*", "group:eng", "group:hr"]
ODD = [
    "",
    " ",
    "group:eng ",
    "group:ENG",
    "group:eng,group:hr",
    "group:eng\x00",
    "group:eng\x00hr",
    "group:eng%00hr",
    "group:eng%",
    "group:*",
    "group:?",
    "group:e*",
    "/.*/",
    "eng OR hr",
    '["group:eng"]',
    'group:"eng"',
    "group:eng\\",
    "group:eng'",
    "ｇｒｏｕｐ：ｅｎｇ",
    "公开",
    "公開",
    "\u00e9",
    "e\u0301",
    "\U0001f600",
    "\U0001f600" * 2000,
    "x" * 8000,
    "null",
    "0",
    "\ue000",
    "\uffff",
]
# Half of a UTF-16 pair: a token may carry one, no document can.
HALVES = ["\ud800", "group:\udfff", "group:eng\ud83d"]
TENANTS = ["t"] * 30 + ["T", "t ", "t\x00", "t*", "*", "租", ""]

common, odd = st.sampled_from(COMMON), st.sampled_from(ODD)


def names(pool: list[str]) -> st.SearchStrategy[str]:
    """Mostly names that meet; else odd ones, and this batch's own."""
    return st.one_of(common, common, common, odd, st.sampled_from(pool))


@st.composite
def rights(draw: st.DrawFn, pool: list[str]) -> Access:
    name = names([name for name in pool if storable(name)] or ["group:eng"])
    public, some = st.just(frozenset({"public"})), st.frozensets(name, max_size=3)
    return Access(
        draw(st.sampled_from(TENANTS)),
        draw(st.one_of(public, public, some)),
        draw(st.one_of(st.frozensets(name, min_size=1, max_size=4), some)),
        draw(st.one_of(st.just(frozenset()), st.just(frozenset()), st.frozensets(name, max_size=2))),
    )


@st.composite
def scopes(draw: st.DrawFn, pool: list[str]) -> Scope:
    name = st.one_of(names(pool), st.sampled_from(HALVES))
    some, public = st.frozensets(name, max_size=6), st.frozensets(name, max_size=6).map({"public"}.union)
    whole = st.just(frozenset([*COMMON, *pool, *HALVES]))
    everyone = some.map({"*"}.union)
    return Scope(
        draw(st.sampled_from([*TENANTS, "t\ud800", "\udfff"])),
        frozenset(draw(st.one_of(public, whole, some))),
        frozenset(draw(st.one_of(everyone, everyone, some, whole))),
    )


@st.composite
def damaged(draw: st.DrawFn, access: Access) -> dict[str, Any]:
    """The document's stored rights, sometimes with a part lost. `labelCount` is what the filter counts by: a
    document whose count does not add up must be seen by nobody."""
    record = access_record(access)
    count = len(access.labels)
    match draw(st.sampled_from(["whole"] * 20 + ["labels", "count", "missing", "zero", "more", "part"])):
        case "labels":
            record["labels"] = []
        case "count":
            record["labels"], record["labelCount"] = [], 0
        case "missing":
            del record["labelCount"]
        case "zero":
            record["labelCount"] = 0
        case "more":
            record["labelCount"] = count + draw(st.integers(1, 9))
        case "part":
            record[draw(st.sampled_from(["tenant", "allow"]))] = None
    return record


@st.composite
def batches(draw: st.DrawFn) -> tuple[list[Access], list[dict[str, Any]], list[Scope]]:
    text = st.text(st.characters(codec=None), min_size=1, max_size=6)
    pool = draw(st.lists(text, min_size=2, max_size=3))
    accesses = draw(st.lists(rights(pool), min_size=DOCUMENTS, max_size=DOCUMENTS))
    records = [draw(damaged(access)) for access in accesses]
    return accesses, records, draw(st.lists(scopes(pool), min_size=SCOPES, max_size=SCOPES))


@dataclass
class Tally:
    """What was compared: agreement over documents that nobody sees would prove nothing."""

    counts: Counter[str] = field(default_factory=Counter)
    accesses: set[Access] = field(default_factory=set)
    scopes: set[Scope] = field(default_factory=set)


@dataclass(frozen=True)
class Index:
    """An index with the mapping of a generation and nothing but rights in it."""

    client: Elasticsearch
    name: str

    def fill(self, records: list[dict[str, Any]]) -> None:
        actions = [
            {"_index": self.name, "_id": id_, "access": record}
            for id_, record in zip(IDS, records, strict=True)
        ]
        assert helpers.bulk(self.client, actions, refresh=True) == (len(IDS), [])

    def seen(self, asked: list[Scope]) -> list[set[str]]:
        searches: list[dict[str, Any]] = []
        for scope in asked:
            query = {"bool": {"filter": [elastic_filter(askable_scope(scope))]}}
            searches += [{"index": self.name}, {"query": query, "size": DOCUMENTS, "_source": False}]
        answers = self.client.msearch(searches=searches)["responses"]
        return [{hit["_id"] for hit in answer["hits"]["hits"]} for answer in answers]


@pytest.fixture
def index(es_url: str, elastic: Engine) -> Iterator[Index]:
    client, name = Elasticsearch(es_url.split(",")), f"{elastic.prefix}-filter"
    client.indices.create(index=name, **chunks_body(IndexSettings(dimension=4)))
    yield Index(client, name)
    client.indices.delete(index=name)
    client.close()


@pytest.fixture
def classes(embedded: Engine) -> tuple[Engine, Generation]:
    """A sealed generation of the embedded engine; its documents' rights are changed from batch to batch."""
    return embedded, built(embedded, [chunk(id_.split("@")[0]) for id_ in IDS])


def test_predicate_filter_and_sql_agree_on_random_batches(
    index: Index, classes: tuple[Engine, Generation]
) -> None:
    tally = Tally()
    engine, generation = classes

    @settings(
        max_examples=BATCHES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    @given(batches())
    def agree(batch: tuple[list[Access], list[dict[str, Any]], list[Scope]]) -> None:
        accesses, records, asked = batch
        index.fill(records)
        for id_, access in zip(IDS, accesses, strict=True):
            engine.generations.spread_access(generation, id_.split("@")[0], access)
        for scope, found in zip(asked, index.seen(asked), strict=True):
            whole = {id_ for id_, access in zip(IDS, accesses, strict=True) if visible(access, scope)}
            assert set(engine.retrieval.fetch(generation, IDS, scope, TIMEOUT_S)) == whole
            assert engine.retrieval.any_visible(generation, scope, TIMEOUT_S) is bool(whole)
            expected = {
                id_ for id_, record in zip(IDS, records, strict=True) if seen_as_stored(record, scope)
            }
            assert found == expected
            tally.counts["pairs"] += DOCUMENTS
            tally.counts["visible"] += len(whole)
            tally.counts["lost by damage"] += len(whole - expected)
            tally.counts["scopes that see nothing"] += not whole
        tally.accesses.update(accesses)
        tally.scopes.update(asked)

    agree()
    pairs = tally.counts["pairs"]
    assert pairs >= 10_000, tally.counts
    assert 0.08 * pairs < tally.counts["visible"] < 0.8 * pairs, tally.counts
    assert tally.counts["lost by damage"] > 100, tally.counts
    assert tally.counts["scopes that see nothing"] > 20, tally.counts
    assert len(tally.accesses) > 500
    assert len(tally.scopes) > 100


def seen_as_stored(record: dict[str, Any], scope: Scope) -> bool:
    """The predicate over what is stored; a count that is not that of the labels shows the document to nobody."""
    return record.get("labelCount") == len(record["labels"]) and visible(from_json(record), scope)


def test_names_longer_than_any_term_find_nothing_and_fail_nothing(index: Index) -> None:
    """Elasticsearch refuses a query with a name of more than 32766 bytes; a token may hold one all the same."""
    record = access_record(Access("t", frozenset({"public"}), frozenset({"group:eng"})))
    index.fill([record] * DOCUMENTS)
    huge = ["x" * 40_000, "\U0001f600" * 20_000]
    many = [f"group:{number}" for number in range(5_000)]
    asked = [
        Scope("t", frozenset(["public", *huge]), frozenset(["group:eng", *huge, *many])),
        Scope("t", frozenset(["public", *many]), frozenset(huge + many)),
        Scope("t", frozenset(huge), frozenset({"group:eng"})),
        Scope(huge[0], frozenset({"public"}), frozenset({"group:eng"})),
    ]
    assert [len(found) for found in index.seen(asked)] == [DOCUMENTS, 0, 0, 0]
