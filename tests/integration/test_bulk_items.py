"""Report 12: a bulk write is as good as its items. Nothing is "5 of 5" that was not taken, and it does not go live."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import numpy as np
import pytest

from service.adapters.elastic import open_elastic
from service.adapters.elastic.bulk import FIRST_PAUSE_S, TRIES, Item, bulk
from service.adapters.elastic.client import make_client
from service.adapters.elastic.mappings import mapping_version
from service.adapters.elastic.system import key_id
from service.domain.ports import Engine, IndexSettings
from service.domain.retrieval import KnnLeg
from service.domain.rights import Scope
from service.errors import BuildRefused
from service.offline.ingest.chunking import Chunker
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile
from tests.contract.material import DIMENSION, chunk, new_generation
from tests.fakes.hash_embedder import HashEmbedder

CORPUS = "five"
EVERYBODY = Scope("demo", frozenset({"public"}), frozenset({"*"}))


@dataclass
class Relay:
    """A door before the real node that says 429 for items of an id, as often as it is told; all else passes."""

    url: str
    refusals: dict[str, int] = field(default_factory=dict)
    bulks: list[list[str]] = field(default_factory=list)

    def passed_on(self, method: str, path: str, headers: Any, body: bytes) -> bytes:
        refused = self._taken_out(body) if path.split("?")[0].endswith("/_bulk") else {}
        lines = body.splitlines(keepends=True)
        body = b"".join(line for place, line in enumerate(lines) if place // 2 not in refused)
        told: dict[str, Any] = {"took": 1, "items": []}
        if body or not refused:
            kept = {name: headers[name] for name in ("Content-Type", "Accept") if name in headers}
            with urlopen(Request(self.url + path, data=body or None, headers=kept, method=method)) as answer:
                read: bytes = answer.read()
            if not refused:
                return read
            told = json.loads(read)
        for place in sorted(refused):
            told["items"].insert(place, refused[place])
        return json.dumps(told | {"errors": True}).encode()

    def _taken_out(self, body: bytes) -> dict[int, dict[str, Any]]:
        """What is answered for the items that are refused now, by their places."""
        sent = [json.loads(line)["index"]["_id"] for line in body.splitlines()[::2]]
        self.bulks.append(sent)
        refused = {}
        for place, item_id in enumerate(sent):
            if self.refusals.get(item_id, 0):
                self.refusals[item_id] -= 1
                error = {"type": "es_rejected_execution_exception", "reason": "the queue is full"}
                refused[place] = {"index": {"_id": item_id, "status": 429, "error": error}}
        return refused


@pytest.fixture
def relay(es_url: str) -> Iterator[tuple[Relay, str]]:
    relay = Relay(es_url.split(",")[0])

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            text = relay.passed_on(self.command, self.path, self.headers, body)
            self.send_response(200)
            self.send_header("Content-Type", "application/vnd.elasticsearch+json;compatible-with=9")
            self.send_header("X-Elastic-Product", "Elasticsearch")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_PUT = do_POST = do_DELETE = answer

        def log_message(self, *_: Any) -> None:
            """Nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield relay, f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.elasticsearch
def test_of_five_two_are_named_one_is_sent_again_alone_and_three_are_counted(
    relay: tuple[Relay, str], make_elastic: Callable[[str], Engine], prefix: str
) -> None:
    between, url = relay
    make_elastic(prefix)  # Removes the prefix at the end.
    engine = open_elastic(prefix, [url])
    names = [f"item-{n}" for n in range(1, 6)]
    ids = {name: key_id("chunk", f"{name}@v1#1") for name in names}
    between.refusals[ids["item-5"]] = 1
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    five = [chunk(name, generation=generation) for name in names]
    five[2] = replace(five[2], vector=(0.0,) * DIMENSION)
    five[3] = replace(five[3], vector=(1.0,) * (DIMENSION - 1))
    report = engine.generations.write(generation, five)
    reasons = {one.document_id: one.reason for one in report.refused}
    assert reasons.keys() == {"item-3", "item-4"}
    assert "zero vector" in reasons["item-3"] and "3 dimensions" in reasons["item-4"]
    assert (report.written, report.retried) == (3, 1)
    assert between.bulks == [[ids["item-1"], ids["item-2"], ids["item-5"]], [ids["item-5"]]]
    engine.generations.seal(generation, IndexSettings(DIMENSION))
    stored = [c.chunk.document_id for c in engine.generations.scan(generation)]
    assert stored == ["item-1", "item-2", "item-5"]


@pytest.mark.elasticsearch
@pytest.mark.parametrize("times", [1, 2, TRIES - 1, TRIES])
def test_a_refusal_for_now_is_tried_again_after_pauses_that_grow_and_is_a_failure_in_the_end(
    relay: tuple[Relay, str], make_elastic: Callable[[str], Engine], prefix: str, times: int
) -> None:
    between, url = relay
    engine = make_elastic(prefix)
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    between.refusals["late"] = times
    items = [Item("index", name, name, {"chunkId": name}) for name in ("early", "late")]
    pauses: list[float] = []
    outcome = bulk(make_client([url]), generation.name, items, sleep=pauses.append)
    again = min(times, TRIES - 1)
    assert between.bulks == [["early", "late"], *[["late"]] * again]
    assert pauses == [FIRST_PAUSE_S * 2**n for n in range(again)]
    failed = [(f.key, f.status) for f in outcome.failures]
    assert failed == ([("late", 429)] if times == TRIES else [])
    assert (outcome.done, outcome.retried) == (2 - len(failed), again)


@dataclass
class Odd(HashEmbedder):
    """An embedder that gives nothing for one text and one number too few for another."""

    short: bool = True

    def embed_passages(self, texts: Any) -> Any:
        whole = super().embed_passages(texts)
        rows = [np.zeros_like(v) if "page 3" in text else v for text, v in zip(texts, whole, strict=True)]
        return [v[:-1] if self.short and "page 4" in t else v for t, v in zip(texts, rows, strict=True)]


def test_a_build_that_the_engine_did_not_take_whole_is_refused_by_name_and_cannot_be_published(
    engine: Engine, tmp_path: Path
) -> None:
    """Both kinds of bad vector through the offline story: the engine refuses one, the checks the other."""
    embedder = Odd()
    settings = IndexSettings(embedder.dimension)
    offline = Offline(engine, embedder, Chunker(), mapping_version(), settings, "test")
    for n in range(1, 6):
        (tmp_path / f"{n}.md").write_text(f"This is page {n} of the pump manual.\n", encoding="utf-8")
    profile = CorpusProfile(name=CORPUS, default_access={"allow": ["*"]})
    assert offline.ingest(CORPUS, [tmp_path], profile, None, lambda *_: None).refused == []
    told = r"refused 1 of 5 chunks: 4\.md.*vector has 31 dimensions, the index 32"
    with pytest.raises(BuildRefused, match=told):
        offline.build(CORPUS, lambda *_: None)
    [failed] = engine.builds.scan(CORPUS)
    assert failed.state == "failed" and "4.md" in failed.reason
    for name in (failed.generation, None):
        with pytest.raises(BuildRefused):
            offline.publish(CORPUS, name)
    assert engine.generations.aliases(CORPUS) == {}

    embedder.short = False
    with pytest.raises(BuildRefused, match=r"vector: 1 of 5 at fault \(3\.md@"):
        offline.build(CORPUS, lambda *_: None)
    with pytest.raises(BuildRefused, match="no generation that is ready"):
        offline.publish(CORPUS, None)
    assert engine.generations.aliases(CORPUS) == {}
    # Mended, nothing of either failed build is left in the next one: all five have a direction.
    offline = replace(offline, embedder=HashEmbedder())
    offline.publish(CORPUS, offline.build(CORPUS, lambda *_: None).generation)
    live = engine.retrieval.resolve(CORPUS, "live")
    assert live is not None
    nearest = KnnLeg(embedder.embed_question("page 3 of the pump manual").pooled, 10, 10)
    [found] = engine.retrieval.search(live, [nearest], EVERYBODY, 10.0)
    assert {hit.chunk.document_id for hit in found.hits} == {f"{n}.md" for n in range(1, 6)}
