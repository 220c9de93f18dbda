"""What was live before never answers as current again: reports 10 and 11, through the door and over both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.domain.generations import Generation, Manifest, live_alias
from service.errors import BuildRefused, Unavailable
from service.evaluation.experiments.kill_matrix_points import Trap, named
from service.profiles.corpus import CorpusProfile
from tests.fakes.redis_server import Server, free_port
from tests.integration.http.doors import Door, document, ids
from tests.integration.http.material import POSTS, citations, refused
from tests.integration.world import quiet

REFUND = "退款期限是多少天？"
LONG = "# 售后政策\n\n" + "\n\n".join(
    f"## 第{n}节\n\n{text}"
    for n, text in zip(
        "一二三四五六",
        ("保修卡请妥善保存。", "送修请先登记。", "配件另行计价。", "运费由买家承担。", "发票随货寄出。", "退款期限 30 天。"),
        strict=True,
    )
)  # fmt: skip
# So many that a shorter page or a missing one stays within what the gates allow.
OTHERS = {f"canteen-{n}": f"# 食堂 {n}\n\n食堂 {n} 在早上七点开门。" for n in range(20)}
SHORT = "# 售后政策\n\n## 第一节\n\n保修卡请妥善保存。\n\n## 第二节\n\n退款期限 7 天。"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path, free_port())
    yield started
    started.stop()


class Pages:
    """A corpus read from a folder of Markdown, where a file that is gone is a document that is gone."""

    def __init__(self, door: Door, corpus: str, folder: Path) -> None:
        self.door, self.corpus, self.folder = door, corpus, folder
        folder.mkdir()

    def publish(self, **pages: str | None) -> Manifest:
        for name, text in pages.items():
            path = self.folder / f"{name}.md"
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
        offline = self.door.services.offline
        profile = CorpusProfile(name=self.corpus, default_access={"allow": ["*"]})
        report = offline.ingest(self.corpus, [self.folder], profile, None, quiet, most_deletions=1.0)
        assert report.refused == []
        manifest = offline.build(self.corpus, quiet)
        offline.publish(self.corpus, manifest.generation)
        return manifest

    def live_chunks(self, document_id: str) -> list[str]:
        engine = self.door.services.engine
        generation = engine.retrieval.resolve(self.corpus, "live")
        assert generation is not None
        chunks = engine.generations.scan(generation)
        return [c.chunk.text for c in chunks if c.chunk.document_id == document_id]

    def asked(self, client: FlaskClient, text: str = REFUND) -> dict[str, Any]:
        """The reply of every route, and that of a second time, which is from the cache where it may be."""
        who = self.door.who("ann")
        told = {}
        for path in POSTS:
            for _ in range(2):
                response = self.door.post(who, path, self.corpus, text, client=client)
                assert response.status_code == 200, response.text
                told[path] = response
        return told


def test_a_shorter_version_leaves_nothing_of_the_longer_one(
    door: Door, redis: Server, tmp_path: Path
) -> None:
    """Report 10: old tail chunks, an old citation's link, a cached answer of the version before."""
    client = door.app(redis_url=redis.url)
    pages = Pages(door, "superseded-tail", tmp_path / "pages")
    first = pages.publish(D1=LONG, **OTHERS)
    before = pages.asked(client)
    assert all("30 天" in reply.text for reply in before.values())
    old = next(citations(before["/v1/answers"].get_json()))
    assert first.chunks_per_document["D1.md"] > 2

    second = pages.publish(D1=SHORT)
    after = pages.asked(client)
    for reply in after.values():
        assert "7 天" in reply.text and "30 天" not in reply.text
    assert after["/v1/answers"].get_json()["retrieval"]["generation"] == second.generation
    live = pages.live_chunks("D1.md")
    assert len(live) == second.chunks_per_document["D1.md"] < first.chunks_per_document["D1.md"]
    assert "30 天" not in " ".join(live)

    link = f"/v1/sources/{old['documentId']}/{old['documentVersion']}"
    part = f"{link}?start={old['startOffset']}&end={old['endOffset']}"
    view = client.get(part, headers=door.who("ann")).get_json()
    assert (view["status"], view["text"]) == ("superseded", old["quote"])
    new = next(citations(after["/v1/answers"].get_json()))
    shown = client.get(
        f"/v1/sources/{new['documentId']}/{new['documentVersion']}", headers=door.who("ann")
    ).get_json()
    assert shown["status"] == "current"


def test_a_page_that_vanished_is_gone_from_answers_cache_and_links(
    door: Door, redis: Server, tmp_path: Path
) -> None:
    client = door.app(redis_url=redis.url)
    pages = Pages(door, "superseded-gone", tmp_path / "pages")
    pages.publish(gone=LONG, **OTHERS)
    before = pages.asked(client)
    assert all("30 天" in reply.text for reply in before.values())
    old = next(citations(before["/v1/answers"].get_json()))
    manifest = pages.publish(gone=None)
    for reply in pages.asked(client).values():
        assert "30 天" not in reply.text and "gone.md" not in reply.text
    assert pages.live_chunks("gone.md") == []
    assert "gone.md" not in manifest.documents
    link = f"/v1/sources/{old['documentId']}/{old['documentVersion']}"
    refused(client.get(link, headers=door.who("ann")), 404, "NOT_FOUND")


def ten(times: str) -> list[Any]:
    return [document(f"{name}-page", f"The {name} job is retried {times} times.") for name in JOBS]


JOBS = "billing backup report import export search mail audit cleanup restart".split()
ASKED = "How many times is the import job retried?"


def test_a_generation_that_lacks_a_source_never_goes_live_however_often_it_is_tried(
    door: Door, redis: Server
) -> None:
    """Report 11: counts differ, the publish fails, and so does its rerun; alias and cached answers stay."""
    corpus, client, who = "swap-counts", door.app(redis_url=redis.url), door.who("ann")
    offline, engine = door.services.offline, door.services.engine
    first = door.publish(corpus, ten("three"))
    asked = door.post(who, "/v1/answers", corpus, ASKED, client=client).get_json()
    assert "three" in asked["claims"][0]["text"]
    before = engine.generations.aliases(corpus)

    door.ingest(corpus, ten("two"))
    built = offline.build(corpus, quiet)
    generation = Generation.parse(built.generation)
    assert generation is not None and built.chunks == 10
    assert (
        engine.generations.spread_access(generation, "mail-page", None) == 1
    )  # Blocked: nine of ten arrive.
    for _ in range(2):
        with pytest.raises(BuildRefused, match=r"integrity: .*mail-page"):
            offline.publish(corpus, built.generation)
        assert engine.generations.aliases(corpus) == before
        again = door.post(who, "/v1/answers", corpus, ASKED, client=client).get_json()
        assert (again["retrieval"], again["claims"]) == (asked["retrieval"], asked["claims"])
    with pytest.raises(BuildRefused, match="integrity"):
        offline.publish(corpus, None)  # Whoever names none gets the same refusal, not a word of success.

    calls: list[Any] = []
    counting = Counting(engine.generations, calls)
    mended = offline.build(corpus, quiet)
    _, switched = replace(offline, engine=replace(engine, generations=counting)).publish(
        corpus, mended.generation
    )
    assert (switched.before, switched.changed, len(calls)) == (first.generation, True, 1)
    assert engine.generations.aliases(corpus)[live_alias(engine.prefix, corpus)] == (mended.generation,)
    new = door.post(who, "/v1/answers", corpus, ASKED, client=client).get_json()
    assert new["retrieval"]["generation"] == mended.generation
    assert "two" in new["claims"][0]["text"]


def test_a_publish_that_ended_right_after_the_swap_goes_by_the_aliases(door: Door) -> None:
    """Report 11: no note was written of the swap. The rerun finds it done; nothing live is ever dropped."""
    corpus = "swap-ended"
    offline, engine = door.services.offline, door.services.engine
    first = door.publish(corpus, ten("three"))
    door.ingest(corpus, ten("two"))
    built = offline.build(corpus, quiet)

    def ended() -> None:
        raise Unavailable("The answer to the swap was lost.")

    trap = Trap(named("after the alias call", "publish"), ended)
    with pytest.raises(Unavailable):
        replace(offline, engine=trap.on(engine)).publish(corpus, built.generation)
    noted = engine.builds.get(built.generation)
    assert noted is not None and noted.state == "ready", "its manifest knows nothing of it"
    # A prune in between goes by the aliases too.
    assert offline.prune(corpus, keep=0, dry_run=True) == (first.generation,)
    calls: list[Any] = []
    rerun = replace(offline, engine=replace(engine, generations=Counting(engine.generations, calls)))
    manifest, switched = rerun.publish(corpus, None)
    assert (manifest.generation, manifest.state, switched.changed) == (built.generation, "live", False)
    assert calls == []
    assert set(engine.generations.names(corpus)) == {first.generation, built.generation}
    assert offline.prune(corpus, keep=0, dry_run=False) == (first.generation,)
    assert ids(door.search(door.who("ann"), corpus, ASKED))[0] == "import-page"
    assert door.search(door.who("ann"), corpus, ASKED)["retrieval"]["generation"] == built.generation


class Counting:
    """The generations port, which notes each alias call on its way."""

    def __init__(self, inner: Any, calls: list[Any]) -> None:
        self._inner, self._calls = inner, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def switch(self, add: Any, remove: Any) -> None:
        self._calls.append((add, remove))
        self._inner.switch(add, remove)
