"""A build that takes over what earlier generations hold gives what a build from nothing gives, on both engines."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.adapters.elastic.mappings import mapping_version
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation, Manifest
from service.domain.ports import Engine, IndexSettings
from service.offline.ingest.chunking import Chunker
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile
from tests.fakes.hash_embedder import HashEmbedder

EVERYONE = {"allow": ["*"]}
# Each text also appears alone in other pages: what is near another and what points where is the whole corpus's affair.
PASSAGES = (
    "备份任务在每天凌晨自动开始，期间读写照常进行，完成之后通知值班人员核对。",
    "备份任务在每天凌晨自动开始，期间读写照常进行，完成之后通知值班人员复核。",
    "The retry limit is three; see [the guide](p1.md#part-0) and [the other page](p2.md).",
    "Set `tidb_mem_quota_query` to 1 GiB, see https://example.org/a and table 3.",
    "| name | value |\n|---|---|\n| a | 1 |\n| b | 2 |\n| c | 3 |",
    "- one\n- two\n- three",
    "……",
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["edit", "add", "delete", "shorten", "rename", "retitle", "rights"]),
        st.integers(0, 5),
        st.integers(0, len(PASSAGES) - 1),
    ),
    min_size=1,
    max_size=6,
)


def page(title: str, *numbers: int) -> str:
    parts = (f"## Part {place}\n\n{PASSAGES[number]}" for place, number in enumerate(numbers))
    return "\n\n".join((f"# {title}", *parts)) + "\n"


def first_pages() -> dict[str, str]:
    return {f"p{n}.md": page(f"Page {n}", n, n + 1, (n + 2) % 7) for n in range(5)}


@dataclasses.dataclass
class Desk:
    """A folder, the corpus made of it, and the embedder that tells what it was asked for."""

    offline: Offline
    embedder: HashEmbedder
    folder: Path
    corpus: str

    @property
    def engine(self) -> Engine:
        return self.offline.engine

    def ingest(self, files: dict[str, str], access: dict[str, Any] | None = None) -> None:
        for path in self.folder.iterdir():
            path.unlink()
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")
        profile = CorpusProfile(name=self.corpus)
        self.offline.ingest(
            self.corpus, [self.folder], profile, access or EVERYONE, quiet, most_deletions=1.0
        )

    def build(self) -> Manifest:
        self.embedder.seen.clear()
        return self.offline.build(self.corpus, quiet)

    def from_nothing(self) -> Manifest:
        for name in self.engine.generations.names(self.corpus):
            self.engine.generations.drop(generation(name))
        return self.build()

    def chunks(self, manifest: Manifest) -> list[IndexedChunk]:
        """Everything but the name of the generation, which is its own."""
        scan = self.engine.generations.scan(generation(manifest.generation), vectors=True)
        return [dataclasses.replace(chunk, generation="") for chunk in scan]


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""


def generation(name: str) -> Generation:
    found = Generation.parse(name)
    assert found is not None
    return found


def desk_of(engine: Engine, folder: Path, corpus: str) -> Desk:
    embedder = HashEmbedder()
    folder.mkdir()
    index = IndexSettings(dimension=embedder.dimension)
    offline = Offline(engine, embedder, Chunker(), mapping_version(), index, "test")
    return Desk(offline, embedder, folder, corpus)


@pytest.fixture
def desk(engine: Engine, tmp_path: Path) -> Desk:
    desk = desk_of(engine, tmp_path / "sources", "pages")
    desk.ingest(first_pages())
    return desk


def changed(files: dict[str, str], step: str, which: int, passage: int) -> dict[str, str]:
    names = sorted(files)
    name = names[which % len(names)]
    rest = {other: text for other, text in files.items() if other != name}
    match step:
        case "edit":
            return files | {name: files[name] + f"\n{PASSAGES[passage]}\n"}
        case "add":
            return files | {f"new{which}.md": page(f"New {which}", passage, passage)}
        case "delete" if rest:
            return rest
        case "shorten":
            return files | {name: files[name][: files[name].rfind("\n## ")] + "\n"}
        case "rename":
            return rest | {f"moved{which}.md": files[name]}
        case "retitle":
            return files | {name: files[name].replace("# ", "# Again ", 1)}
    return files


@pytest.mark.slow
def test_any_change_gives_what_a_build_from_nothing_gives(engine: Engine, tmp_path: Path) -> None:
    examples = iter(range(1_000))

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(STEPS)
    def holds(steps: list[tuple[str, int, int]]) -> None:
        number = next(examples)
        desk = desk_of(engine, tmp_path / f"sources{number}", f"pages{number}")
        files = first_pages()
        desk.ingest(files)
        desk.build()
        access = None
        for step, which, passage in steps:
            files = changed(files, step, which, passage)
            access = {"allow": [f"group:{which}", "*"]} if step == "rights" else access
        desk.ingest(files, access)
        taken = desk.build()
        embedded, chunks = len(desk.embedder.seen), desk.chunks(taken)
        fresh = desk.from_nothing()
        assert set(taken.chunks_per_document) == set(files)
        assert desk.chunks(fresh) == chunks
        assert {c.chunk.document_id for c in chunks} == set(files)
        # Pages that stayed are most of them, whatever was changed.
        assert embedded < len(desk.embedder.seen)

    holds()


def test_one_changed_page_embeds_only_what_is_new(desk: Desk) -> None:
    desk.build()
    files = first_pages()
    desk.ingest(
        files | {"p0.md": files["p0.md"] + "\nA new sentence stands here.\n", "p9.md": files["p1.md"]}
    )
    manifest = desk.build()
    assert any("new sentence" in text for text in desk.embedder.seen)
    # The signs alone have no vector to take over.
    assert all("new sentence" in text or "……" in text for text in desk.embedder.seen)
    reused = manifest.timings["vectorsReused"]
    assert reused == manifest.chunks - len(
        [c for c in desk.chunks(manifest) if c.vector is None or "new sentence" in c.chunk.text]
    )
    assert manifest.timings["termsReused"] == reused


def test_another_model_takes_over_the_terms_alone(desk: Desk) -> None:
    first = desk.build()
    desk.embedder.identity = "hash@2"
    manifest = desk.build()
    assert manifest.timings["vectorsReused"] == 0
    assert manifest.timings["termsReused"] == manifest.chunks == first.chunks
    # Back again: what the first model made is older than what the second did, and still taken.
    desk.embedder.identity = "hash@1"
    back = desk.build()
    assert [text for text in desk.embedder.seen if "……" not in text] == []
    assert desk.chunks(back) == desk.chunks(first)


def test_another_chunker_takes_over_texts_that_stay(desk: Desk) -> None:
    desk.build()
    other = dataclasses.replace(desk, offline=dataclasses.replace(desk.offline, chunker=Chunker(overlap=40)))
    manifest = other.build()
    assert manifest.timings["vectorsReused"] > 0
    chunks = other.chunks(manifest)
    assert {c.chunker_version for c in chunks} == {manifest.processors.chunker}
    assert chunks == other.chunks(other.from_nothing())


def test_several_generations_lend(desk: Desk) -> None:
    """A build that was killed holds some, what came before it the rest."""
    first = desk.build()
    files = first_pages() | {"p9.md": "# Nine\n\nNobody has read this yet.\n"}
    desk.ingest(files)
    partial = dataclasses.replace(first, state="failed", reason="killed", checks=[], history=[], token=None)
    name = dataclasses.replace(generation(first.generation), number=2).name
    desk.engine.builds.write(dataclasses.replace(partial, generation=name))
    desk.engine.generations.create(generation(name), desk.offline.index)
    made = desk.build()
    new = next(c for c in desk.chunks(made) if c.chunk.document_id == "p9.md")
    desk.engine.generations.write(generation(name), [dataclasses.replace(new, generation=name)])
    desk.engine.generations.drop(generation(made.generation))
    desk.build()
    assert all("……" in text for text in desk.embedder.seen)


@pytest.mark.parametrize(
    "found",
    [
        {"checks": [{"name": "vector", "passed": False}]},
        {"gates": [{"name": "integrity", "passed": False}]},
    ],
)
def test_a_generation_that_was_found_broken_lends_nothing(desk: Desk, found: dict[str, Any]) -> None:
    manifest = desk.build()
    whole = len(desk.embedder.seen)
    desk.engine.builds.write(dataclasses.replace(manifest, **found))
    again = desk.build()
    assert len(desk.embedder.seen) == whole
    assert again.timings["termsReused"] == again.timings["vectorsReused"] == 0


def test_a_generation_that_goes_while_it_is_read_costs_only_time(desk: Desk) -> None:
    """A prune beside a build takes away what it reads from."""
    desk.build()
    [old] = desk.engine.generations.names(desk.corpus)
    inner = desk.engine.generations

    class Pruned:
        def __getattr__(self, name: str) -> Any:
            return getattr(inner, name)

        def scan(self, wanted: Generation, **asked: bool) -> Any:
            if wanted.name == old:
                inner.drop(wanted)
            return inner.scan(wanted, **asked)

    engine = dataclasses.replace(desk.engine, generations=Pruned())
    other = dataclasses.replace(desk, offline=dataclasses.replace(desk.offline, engine=engine))
    manifest = other.build()
    assert manifest.state == "ready"
    assert manifest.timings["vectorsReused"] == 0
