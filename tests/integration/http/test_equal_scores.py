"""Report 5: where every score is equal one order holds, whoever came first, whatever the engine has moved."""

from __future__ import annotations

import dataclasses
import itertools
import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch

from tests.fakes.hash_embedder import HashEmbedder
from tests.fakes.redis_server import Server, free_port
from tests.integration.http.doors import Door, document, ids, open_door
from tests.integration.http.material import SECRET

# The same words in another order: equal to BM25 and to the bag-of-words embedder, and yet no duplicates.
WORDS = ["alpha", "bravo", "delta", "gamma"]
TEXTS = ["; ".join(order) + "." for order in itertools.permutations(WORDS)][:12]
DOCUMENTS = [{**document(f"D{n:02d}", text), "title": "Words"} for n, text in enumerate(TEXTS)]
QUESTION = "alpha bravo delta gamma"
ORDER = [f"D{n:02d}" for n in range(len(TEXTS))]


class Counting(HashEmbedder):
    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def even(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Door]:
    """A door whose embedder tells nothing of the order of words."""
    url = request.getfixturevalue("es_url") if request.param == "elasticsearch" else None
    opened = open_door(request.param, f"test-{secrets.token_hex(5)}", tmp_path, Counting(), SECRET, url)
    yield opened
    opened.services.engine.erase()


def test_one_order_holds(even: Door, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    ann = even.who("ann")
    even.publish("forward", DOCUMENTS)
    even.publish("backward", DOCUMENTS[::-1])
    for corpus in ("forward", "backward"):
        found = even.search(ann, corpus, QUESTION, size=50)
        assert len({hit["score"] for hit in found["hits"]}) == 1, "the scores must tie"
        assert ids(found) == ORDER
    for turn in range(50):
        size = (1, 2, 5, 12, 50)[turn % 5]
        corpus = ("forward", "backward")[turn % 2]
        assert ids(even.search(ann, corpus, QUESTION, size=size)) == ORDER[:size]
    # Rights written anew move a chunk to the end of its index; a merge moves all of them.
    generation = even.services.engine.retrieval.resolve("forward", "live")
    assert generation is not None
    for name in ("D00", "D05"):
        entry = even.services.engine.registry.get_many("forward", [name])[name]
        narrowed = dataclasses.replace(entry.access, deny=frozenset({"group:x"}))
        for access in (narrowed, entry.access):
            even.services.engine.generations.spread_access(generation, name, access)
    assert ids(even.search(ann, "forward", QUESTION, size=50)) == ORDER
    if even.engine == "elasticsearch":
        client = Elasticsearch(request.getfixturevalue("es_url").split(","))
        client.indices.forcemerge(index=generation.name, max_num_segments=1)
        client.indices.refresh(index=generation.name)
        client.close()
    for size in (1, 2, 5, 12, 50):
        assert ids(even.search(ann, "forward", QUESTION, size=size)) == ORDER[:size]
    redis = Server(tmp_path, free_port())
    try:
        cached = even.app(redis_url=redis.url)
        for size in (1, 2, 12, 12, 2, 1):
            assert ids(even.search(ann, "forward", QUESTION, size=size, client=cached)) == ORDER[:size]
        assert redis.admin.dbsize() >= 3
    finally:
        redis.stop()
