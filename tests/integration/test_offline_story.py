"""The offline story on both engines: ingest, build, publish, change, roll back, prune; rights and deletions."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from elasticsearch import Elasticsearch

from service.adapters.elastic.mappings import mapping_version
from service.domain.generations import Generation, Manifest, live_alias, version_alias
from service.domain.ports import Engine, IndexSettings
from service.domain.retrieval import Bm25Leg
from service.domain.rights import Access, Scope
from service.errors import BuildRefused, InvalidInput
from service.offline.ingest.chunking import Chunker
from service.offline.rights import change_rights
from service.offline.story import IngestReport, Offline
from service.profiles.corpus import CorpusProfile
from service.text.analysis import analyse
from tests.fakes.hash_embedder import HashEmbedder

CORPUS = "handbook"
STAFF = Scope("demo", frozenset({"public"}), frozenset({"*", "user:ann"}))
HR = Scope("demo", frozenset({"public"}), frozenset({"*", "user:eve", "group:hr"}))
EVERYONE = {"allow": ["*"]}

FILES = {
    "warranty.md": "# Warranty\n\nThe warranty lasts twelve months.\n\n## Repair\n\nRepair takes nine days.\n",
    "guide.html": "<h1>Guide</h1><p>Press the green button.</p><table><tr><th>lamp</th><th>meaning</th></tr><tr><td>red</td><td>fault</td></tr></table>",
    "notes.txt": "Kitchen opens at eight.\n",
    "pay.md": '---\naccess:\n  allow: ["group:hr"]\n---\n# Pay\n\nSalary arrives on Friday.\n',
}


@dataclasses.dataclass
class Desk:
    """One corpus on one engine, with a folder of sources."""

    offline: Offline
    embedder: HashEmbedder
    folder: Path

    @property
    def engine(self) -> Engine:
        return self.offline.engine

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def ingest(self, access: dict[str, Any] | None = EVERYONE, **profile: Any) -> IngestReport:
        said = CorpusProfile(name=CORPUS, **profile)
        return self.offline.ingest(CORPUS, [self.folder], said, access, quiet)

    def build(self) -> Manifest:
        return self.offline.build(CORPUS, quiet)

    def found(self, word: str, scope: Scope = STAFF, version: str = "live") -> set[str]:
        """Documents with the word in what is live, as the scope sees them."""
        generation = self.engine.retrieval.resolve(CORPUS, version)
        assert generation is not None
        [result] = self.engine.retrieval.search(
            generation, [Bm25Leg(tuple(analyse(word)), 1.0, 20)], scope, 10.0
        )
        assert result.error is None
        return {hit.chunk.document_id for hit in result.hits}

    def state(self, manifest: Manifest) -> str:
        found = self.engine.builds.get(manifest.generation)
        assert found is not None
        return found.state

    def change(self, document_id: str, **changes: Any) -> int:
        changed = change_rights(
            self.engine, CORPUS, document_id, lambda entry: dataclasses.replace(entry, **changes), action="test", who="test", now="2026-12-01T00:00:00Z"
        )  # fmt: skip
        return changed.chunks


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""


@pytest.fixture
def desk(engine: Engine, tmp_path: Path) -> Desk:
    embedder = HashEmbedder()
    folder = tmp_path / "sources"
    folder.mkdir()
    index = IndexSettings(dimension=embedder.dimension)
    return Desk(Offline(engine, embedder, Chunker(), mapping_version(), index, "test"), embedder, folder)


@pytest.fixture
def live(desk: Desk) -> tuple[Desk, Manifest]:
    desk.write(FILES)
    desk.ingest()
    manifest = desk.build()
    desk.offline.publish(CORPUS, None)
    return desk, manifest


def test_from_a_folder_to_a_live_generation(desk: Desk) -> None:
    desk.write(FILES)
    report = desk.ingest()
    assert (sorted(report.added), report.updated, report.unchanged, report.refused) == (
        sorted(FILES),
        [],
        [],
        [],
    )
    manifest = desk.build()
    assert manifest.state == "ready"
    assert set(manifest.documents) == set(FILES)
    # Two sections; a sentence and a row; one paragraph; one paragraph, its front matter left out.
    assert manifest.chunks_per_document == {"warranty.md": 2, "guide.html": 2, "notes.txt": 1, "pay.md": 1}
    assert manifest.chunks == len(desk.embedder.seen) == 6
    assert [check["passed"] for check in manifest.checks] == [True] * len(manifest.checks)
    assert desk.engine.retrieval.resolve(CORPUS, "live") is None, "a build touches nothing that is live"

    published, switched = desk.offline.publish(CORPUS, None)
    assert (published.state, published.replaced, switched.before) == ("live", None, None)
    assert desk.engine.generations.aliases(CORPUS) == {
        live_alias(desk.engine.prefix, CORPUS): (manifest.generation,),
        version_alias(desk.engine.prefix, CORPUS, manifest.corpus_version): (manifest.generation,),
    }
    assert desk.found("months") == {"warranty.md"}
    assert desk.found("button") == {"guide.html"}
    assert desk.found("kitchen") == {"notes.txt"}
    assert (desk.found("salary"), desk.found("salary", HR)) == (set(), {"pay.md"})


def test_what_is_indexed_is_a_span_of_what_is_archived(live: tuple[Desk, Manifest]) -> None:
    desk, manifest = live
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    chunks = list(desk.engine.generations.scan(generation, vectors=True))
    assert len(chunks) == manifest.chunks
    for indexed in chunks:
        key = (indexed.chunk.document_id, indexed.chunk.document_version)
        archived = desk.engine.archive.get_many([key])[key]
        assert indexed.chunk.span.of(archived.canonical_text) == indexed.chunk.text
        assert indexed.vector is not None
        assert sum(x * x for x in indexed.vector) == pytest.approx(1.0, abs=1e-5)


def test_ingesting_again_changes_nothing(live: tuple[Desk, Manifest]) -> None:
    desk, manifest = live
    report = desk.ingest()
    assert (report.added, report.updated, sorted(report.unchanged)) == ([], [], sorted(FILES))
    assert desk.offline.is_current(manifest.generation)


def test_change_build_beside_publish_roll_back_and_prune(live: tuple[Desk, Manifest]) -> None:
    desk, first = live
    computed = len(desk.embedder.seen)
    desk.write({"warranty.md": FILES["warranty.md"].replace("twelve", "thirty")})
    report = desk.ingest()
    assert (report.updated, len(report.unchanged)) == (["warranty.md"], 3)
    assert not desk.offline.is_current(first.generation)

    second = desk.build()
    assert second.corpus_version != first.corpus_version
    assert second.timings["vectorsReused"] == 5
    [fresh] = desk.embedder.seen[computed:]
    assert "thirty" in fresh
    assert (desk.found("twelve"), desk.found("thirty")) == ({"warranty.md"}, set())

    desk.offline.publish(CORPUS, second.generation)
    assert (desk.found("twelve"), desk.found("thirty")) == (set(), {"warranty.md"})
    assert (desk.state(first), desk.state(second)) == ("retained", "live")
    assert desk.found("twelve", version=first.corpus_version) == {"warranty.md"}

    _, switched = desk.offline.rollback(CORPUS)
    assert (switched.live, switched.before) == (first.generation, second.generation)
    assert (desk.found("twelve"), desk.found("thirty")) == ({"warranty.md"}, set())
    assert (desk.state(first), desk.state(second)) == ("live", "retained")

    assert desk.offline.prune(CORPUS, keep=1, dry_run=False) == ()
    assert desk.offline.prune(CORPUS, keep=0, dry_run=True) == (second.generation,)
    assert set(desk.engine.generations.names(CORPUS)) == {first.generation, second.generation}
    assert desk.offline.prune(CORPUS, keep=0, dry_run=False) == (second.generation,)
    assert desk.engine.generations.names(CORPUS) == (first.generation,)
    assert desk.state(second) == "pruned"
    assert desk.found("twelve") == {"warranty.md"}
    with pytest.raises(BuildRefused):
        desk.offline.publish(CORPUS, second.generation)


def test_a_corpus_says_how_its_index_is_laid_out(
    live: tuple[Desk, Manifest], request: pytest.FixtureRequest
) -> None:
    desk, first = live
    desk.ingest(index={"shards": 2, "vector_index": "int8_hnsw"})
    assert not desk.offline.is_current(first.generation)
    second = desk.build()
    assert (first.vector_index, second.vector_index) == ("flat", "int8_hnsw")
    assert second.corpus_version == first.corpus_version, "it is the same text, read the same way"
    assert second.timings["vectorsReused"] == second.chunks == first.chunks
    desk.offline.publish(CORPUS, second.generation)
    assert desk.found("twelve") == {"warranty.md"}
    if desk.engine.name == "elasticsearch":
        client = Elasticsearch(request.getfixturevalue("es_url").split(","))
        assert _laid_out(client, first) == ("1", "0", "flat")
        assert _laid_out(client, second) == ("2", "0", "int8_hnsw")
    desk.offline.rollback(CORPUS)
    assert desk.found("twelve") == {"warranty.md"}
    desk.ingest()
    assert desk.offline.is_current(first.generation), "what it no longer says is as the service is set"


def _laid_out(client: Elasticsearch, manifest: Manifest) -> tuple[str, str, str]:
    """Shards, replicas and vector index type of the real index."""
    index = client.indices.get(index=manifest.generation)[manifest.generation]
    settings = index["settings"]["index"]
    vector = index["mappings"]["properties"]["vector"]["index_options"]["type"]
    return settings["number_of_shards"], settings["number_of_replicas"], vector


def test_a_document_without_a_rule_is_refused_with_a_sentence_and_stops_no_other(desk: Desk) -> None:
    desk.write(
        {
            "open.md": "---\naccess: {allow: ['*']}\n---\nOpen.\n",
            "bare.md": "Nobody said who.\n",
            "bad.md": "---\naccess: {allow: [eng]}\n---\nBad.\n",
        }
    )
    report = desk.ingest(access=None)
    assert report.added == ["open.md"]
    reasons = dict(report.refused)
    assert set(reasons) == {"bare.md", "bad.md"}
    assert "nothing says who may see it" in reasons["bare.md"]
    assert "'eng' is not a subject" in reasons["bad.md"]
    assert set(desk.build().documents) == {"open.md"}


def test_bad_documents_never_stop_the_good_ones(desk: Desk) -> None:
    desk.write(
        {
            "good.md": "Good.\n",
            "half-id.md": '---\nid: "x\\ud800"\n---\nX.\n',
            "half-group.md": '---\naccess: {allow: ["group:\\ud800"]}\n---\nX.\n',
            "long-id.md": f"---\nid: {'x' * 5000}\n---\nX.\n",
            "empty.md": " \n",
        }
    )
    (desk.folder / "binary.txt").write_bytes(bytes(range(256)))
    report = desk.ingest()
    assert report.added == ["good.md"]
    assert {origin for origin, _ in report.refused} == {
        "half-id.md",
        "half-group.md",
        "long-id.md",
        "empty.md",
        "binary.txt",
    }
    assert desk.build().chunks == 1


def test_two_files_that_give_themselves_the_same_id_are_never_merged(desk: Desk) -> None:
    desk.write({"a.md": "---\nid: policy\n---\nFirst.\n", "b.md": "---\nid: policy\n---\nSecond.\n"})
    for _ in range(2):
        report = desk.ingest()
        [(origin, reason)] = report.refused
        assert origin == "b.md"
        assert "'policy'" in reason and "a.md" in reason
    assert report.unchanged == ["policy"]


def test_the_longest_id_goes_all_the_way(desk: Desk) -> None:
    name = "字" * 1024
    desk.write({"a.md": f"---\nid: {name}\n---\nFindable.\n"})
    assert desk.ingest().added == [name]
    desk.offline.publish(CORPUS, desk.build().generation)
    assert desk.found("findable") == {name}


def test_text_without_words_does_not_keep_a_corpus_from_going_live(desk: Desk) -> None:
    desk.write({"a.txt": "……\n", "b.md": "Words.\n\n```\n=====\n```\n\n> * * *\n", "c.txt": "aGVsbG8x" * 200})
    assert desk.ingest().refused == []
    desk.offline.publish(CORPUS, desk.build().generation)
    assert desk.found("words") == {"b.md"}


def test_a_change_of_rights_spreads_to_every_generation_and_survives_a_rollback(
    live: tuple[Desk, Manifest],
) -> None:
    desk, first = live
    desk.write({"notes.txt": "Kitchen opens at nine.\n"})
    desk.ingest()
    second = desk.build()
    desk.offline.publish(CORPUS, second.generation)
    epoch = desk.engine.registry.epoch()
    hr = Access("demo", frozenset({"public"}), frozenset({"group:hr"}))
    assert desk.change("warranty.md", access=hr) == 4, "two chunks in each of two generations"
    assert desk.engine.registry.epoch() == epoch + 2, "before and after the spread"
    for version in ("live", first.corpus_version, second.corpus_version):
        assert desk.found("warranty", version=version) == set()
        assert desk.found("warranty", HR, version=version) == {"warranty.md"}
    desk.offline.rollback(CORPUS)
    assert (desk.found("warranty"), desk.found("warranty", HR)) == (set(), {"warranty.md"})


def test_a_deletion_takes_the_chunks_everywhere_and_no_rollback_brings_them_back(
    live: tuple[Desk, Manifest],
) -> None:
    desk, first = live
    desk.write({"notes.txt": "Kitchen opens at nine.\n"})
    desk.ingest()
    desk.offline.publish(CORPUS, desk.build().generation)
    assert desk.change("warranty.md", deleted=True) == 4
    for version in ("live", first.corpus_version):
        assert desk.found("warranty", HR, version=version) == set()
    desk.offline.rollback(CORPUS)
    assert desk.found("warranty", HR) == set()
    assert desk.found("eight") == {"notes.txt"}
    assert [result.name for result in desk.offline.check(first.generation) if not result.passed] == []
    third = desk.build()
    assert "warranty.md" not in third.documents


def test_rights_changed_between_build_and_publish_hold_when_it_goes_live(live: tuple[Desk, Manifest]) -> None:
    desk, _ = live
    desk.write({"more.md": "More of it.\n"})
    desk.ingest()
    built = desk.build()
    desk.change("notes.txt", access=Access("demo", frozenset({"public"}), frozenset({"group:hr"})))
    desk.change("guide.html", deleted=True)
    desk.offline.publish(CORPUS, built.generation)
    assert (desk.found("kitchen"), desk.found("kitchen", HR)) == (set(), {"notes.txt"})
    assert desk.found("button", HR) == set()


def test_another_rule_at_ingest_is_a_change_of_rights(live: tuple[Desk, Manifest]) -> None:
    desk, manifest = live
    (desk.folder / "access.toml").write_text(
        '[[rule]]\nmatch = "notes*"\nallow = ["group:hr"]\n', encoding="utf-8"
    )
    assert desk.ingest().updated == ["notes.txt"]
    assert (desk.found("kitchen"), desk.found("kitchen", HR)) == (set(), {"notes.txt"})
    assert desk.offline.is_current(manifest.generation), "rights are no part of a corpusVersion"


def test_jsonl_is_a_source_like_any_other(desk: Desk) -> None:
    lines = [
        {"documentId": "tickets/1", "title": "Ticket one", "text": "The printer burns."},
        {"documentId": "tickets/2"},
    ]
    path = desk.folder / "tickets.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    report = desk.offline.ingest(CORPUS, [path], CorpusProfile(name=CORPUS), EVERYONE, quiet)
    assert report.added == ["tickets/1"]
    assert [origin for origin, _ in report.refused] == ["tickets.jsonl:2"]
    desk.offline.publish(CORPUS, desk.build().generation)
    assert desk.found("printer") == {"tickets/1"}


def test_what_cannot_be_done_is_refused_with_a_sentence(desk: Desk) -> None:
    with pytest.raises(BuildRefused, match="no documents yet"):
        desk.build()
    with pytest.raises(BuildRefused, match="no generation that is ready"):
        desk.offline.publish(CORPUS, None)
    with pytest.raises(BuildRefused, match="no live generation"):
        desk.offline.rollback(CORPUS)
    with pytest.raises(InvalidInput, match="no generation 'nothing'"):
        desk.offline.publish(CORPUS, "nothing")
    with pytest.raises(InvalidInput, match="corpus name"):
        desk.offline.ingest("Bad Name", [desk.folder], CorpusProfile(name=CORPUS), None, quiet)
    desk.write(FILES)
    desk.ingest()
    desk.offline.publish(CORPUS, desk.build().generation)
    with pytest.raises(BuildRefused, match="nothing to go back to"):
        desk.offline.rollback(CORPUS)


def test_another_embedder_s_generation_cannot_go_live(live: tuple[Desk, Manifest]) -> None:
    desk, manifest = live
    desk.embedder.identity = "hash@2"
    with pytest.raises(BuildRefused, match="hash@1"):
        desk.offline.publish(CORPUS, manifest.generation)
    computed = len(desk.embedder.seen)
    rebuilt = desk.build()
    assert rebuilt.corpus_version != manifest.corpus_version
    assert len(desk.embedder.seen) - computed == rebuilt.chunks, "no vector of another embedder is reused"
