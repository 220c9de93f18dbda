"""Reading a folder again, on both engines: what is unchanged, gone, back, renamed or the same as another."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.adapters.elastic.mappings import mapping_version
from service.domain.documents import RegistryEntry
from service.domain.ports import Engine, IndexSettings
from service.domain.sources import ParsedDocument, Selection, SourceItem
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse
from service.offline.ingest.report import IngestReport
from service.offline.ingest.sources import EVERYTHING
from service.offline.rights import change_rights, history, only_missing
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile
from tests.fakes.hash_embedder import HashEmbedder

CORPUS = "handbook"
EVERYONE = {"allow": ["*"]}
TEN = {f"{n}.md": f"# Page {n}\n\nIt says {n}.\n" for n in range(10)}


class Shelf:
    """A folder and the corpus that it is read into. `parsed` are the files that a reader has seen."""

    def __init__(self, engine: Engine, folder: Path) -> None:
        embedder = HashEmbedder()
        index = IndexSettings(dimension=embedder.dimension)
        self.offline = Offline(engine, embedder, Chunker(), mapping_version(), index, "test")
        self.folder = folder
        self.parsed: list[str] = []

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def remove(self, *names: str) -> None:
        for name in names:
            (self.folder / name).unlink()

    def read(
        self,
        *,
        most: float | None = None,
        access: dict[str, Any] | None = EVERYONE,
        selection: Selection = EVERYTHING,
        folders: list[Path] | None = None,
    ) -> IngestReport:
        self.parsed.clear()

        def reader(item: SourceItem) -> ParsedDocument:
            self.parsed.append(item.origin)
            return parse(item)

        return self.offline.ingest(
            CORPUS,
            folders or [self.folder],
            CorpusProfile(name=CORPUS),
            access,
            lambda *_: None,
            selection=selection,
            most_deletions=most,
            parse=reader,
        )

    def entry(self, document_id: str) -> RegistryEntry:
        return self.offline.engine.registry.get_many(CORPUS, [document_id])[document_id]

    def change(self, document_id: str, action: str, **changes: Any) -> None:
        change_rights(
            self.offline.engine,
            CORPUS,
            document_id,
            lambda entry: replace(entry, **changes),
            action=action,
            who="operator",
            now="2026-12-01T00:00:00+00:00",
        )


@pytest.fixture
def shelf(engine: Engine, tmp_path: Path) -> Shelf:
    folder = tmp_path / "handbook"
    folder.mkdir()
    return Shelf(engine, folder)


# ── what is unchanged ───────────────────────────────────────────────────────────────────────────────────


def test_what_is_unchanged_is_not_parsed_whatever_its_front_matter_says(shelf: Shelf) -> None:
    named = {
        "own.md": '---\nid: policy\naccess:\n  allow: ["group:hr"]\n---\n# Policy\n',
        "a.html": "<p>text</p>",
        "b.txt": "text b",
    }
    shelf.write(TEN | named)
    assert len(shelf.read().added) == 13
    assert len(shelf.parsed) == 13
    again = shelf.read()
    assert (len(again.unchanged), again.added, again.updated, shelf.parsed) == (13, [], [], [])
    shelf.write({"3.md": "# Page 3\n\nIt says more.\n"})
    assert shelf.read().updated == ["3.md"]
    assert shelf.parsed == ["3.md"]


def test_a_rule_that_changed_outside_or_inside_the_file_is_noticed(shelf: Shelf) -> None:
    shelf.write({"a.md": "text", "own.md": '---\naccess: {allow: ["group:hr"]}\n---\ntext\n'})
    shelf.read()
    shelf.write({"access.toml": '[default]\nallow = ["group:eng"]\n'})
    assert shelf.read().updated == ["a.md"]
    assert shelf.parsed == [], "another rule is no other text"
    assert shelf.entry("a.md").access.allow == {"group:eng"}
    assert shelf.entry("own.md").access.allow == {"group:hr"}
    shelf.write({"own.md": '---\naccess: {allow: ["group:all"]}\n---\ntext\n'})
    assert shelf.read().updated == ["own.md"]
    assert shelf.entry("own.md").access.allow == {"group:all"}


def test_a_rule_that_is_broken_refuses_the_document_though_its_text_is_known(shelf: Shelf) -> None:
    shelf.write({"a.md": "text"})
    shelf.read()
    shelf.write({"access.toml": "[default"})
    assert [origin for origin, _ in shelf.read().refused] == ["a.md"]


# ── what is gone ────────────────────────────────────────────────────────────────────────────────────────


def test_what_is_gone_is_told_and_stays_until_it_is_asked_for(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.remove("4.md")
    assert (shelf.read().gone, shelf.read().deleted) == (["4.md"], [])
    assert not shelf.entry("4.md").deleted
    report = shelf.read(most=0.2)
    assert (report.deleted, report.stopped) == (["4.md"], "")
    assert shelf.entry("4.md").deleted
    assert history(shelf.offline.engine, CORPUS, "4.md")[-1].action == "missing"
    assert shelf.read(most=0.2).deleted == []


def test_it_is_out_of_what_is_live_and_back_after_the_next_build(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.offline.publish(CORPUS, shelf.offline.build(CORPUS, lambda *_: None).generation)
    shelf.remove("4.md")
    shelf.read(most=0.2)
    manifest = shelf.offline.build(CORPUS, lambda *_: None)
    assert "4.md" not in manifest.documents
    shelf.write({"4.md": TEN["4.md"]})
    assert shelf.read().returned == ["4.md"]
    assert shelf.parsed == [], "its text is in the archive still"
    assert "4.md" in shelf.offline.build(CORPUS, lambda *_: None).documents


def test_more_than_the_share_deletes_nothing_at_all(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.remove("1.md", "2.md", "3.md")
    shelf.write({"new.md": "new"})
    report = shelf.read(most=0.2)
    assert report.added == ["new.md"], "the rest is read"
    assert (report.gone, report.deleted) == (["1.md", "2.md", "3.md"], [])
    assert "3 of 10" in report.stopped and "--max-deletions" in report.stopped
    assert shelf.read(most=1.0).deleted == ["1.md", "2.md", "3.md"]


def test_an_empty_folder_deletes_nothing(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.remove(*TEN)
    assert shelf.read(most=0.2).stopped


def test_only_what_was_read_from_that_folder_can_be_missing_there(shelf: Shelf, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "other.md").write_text("other", encoding="utf-8")
    (tmp_path / "single.md").write_text("single", encoding="utf-8")
    shelf.write(TEN)
    shelf.read(folders=[shelf.folder, other, tmp_path / "single.md"])
    (other / "other.md").unlink()
    (tmp_path / "single.md").unlink()
    assert shelf.read(most=1.0).deleted == []
    shelf.remove("1.md")
    assert shelf.read(most=1.0, folders=[shelf.folder, other]).deleted == ["1.md", "other.md"]


def test_what_is_there_and_cannot_be_read_is_not_missing(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    (shelf.folder / "1.md").write_bytes(bytes(range(256)))
    shelf.write({"access.toml": '[[rule]]\nmatch = "2.md"\nallow = ["nonsense"]\n'})
    report = shelf.read(most=1.0)
    assert {origin for origin, _ in report.refused} == {"1.md", "2.md"}
    assert report.gone == []


def test_a_folder_that_cannot_be_listed_hides_and_does_not_delete(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write(TEN | {"deep/x.md": "x", "deep/er/y.md": "y"})
    shelf.read()
    deny(monkeypatch, shelf.folder / "deep")
    report = shelf.read(most=1.0)
    assert report.gone == []
    assert [origin for origin, _ in report.refused] == ["deep"]


def test_a_source_that_cannot_be_listed_deletes_nothing_whatever_the_share(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    shelf.write(TEN)
    shelf.read()
    deny(monkeypatch, shelf.folder)
    report = shelf.read(most=1.0)
    assert (report.gone, report.deleted, len(report.refused)) == ([], [], 1)


def test_globs_narrow_what_can_be_missing(shelf: Shelf) -> None:
    shelf.write(TEN | {"hr/a.md": "a", "hr/b.md": "b"})
    shelf.read()
    shelf.remove("1.md", "hr/a.md")
    assert shelf.read(most=1.0, selection=Selection(include=("hr/**",))).deleted == ["hr/a.md"]
    assert shelf.read(selection=Selection(exclude=("hr/**",))).gone == ["1.md"]
    assert not shelf.entry("hr/b.md").deleted


# ── what comes back ─────────────────────────────────────────────────────────────────────────────────────


def test_a_missing_document_comes_back_with_the_rights_it_had(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    hr = replace(shelf.entry("4.md").access, allow=frozenset({"group:hr"}))
    shelf.change("4.md", "revoke", access=hr)
    shelf.remove("4.md")
    shelf.read(most=0.2)
    shelf.write({"4.md": "# Another text\n"})
    report = shelf.read()
    assert (report.returned, report.added, report.updated) == (["4.md"], [], [])
    entry = shelf.entry("4.md")
    assert (entry.deleted, entry.access) == (False, hr)


def test_rights_changed_while_it_was_missing_do_not_keep_it_out(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.remove("4.md")
    shelf.read(most=0.2)
    hr = replace(shelf.entry("4.md").access, allow=frozenset({"group:hr"}))
    shelf.change("4.md", "revoke", access=hr)
    assert only_missing(shelf.offline.engine, shelf.entry("4.md"))
    shelf.write({"4.md": TEN["4.md"]})
    assert shelf.read().returned == ["4.md"]
    assert shelf.entry("4.md").access == hr


@pytest.mark.parametrize("first", ["delete", "missing"])
def test_what_an_operator_deleted_never_comes_back_by_itself(shelf: Shelf, first: str) -> None:
    """Whether the operator was before the file's disappearance or after it."""
    shelf.write(TEN)
    shelf.read()
    if first == "delete":
        shelf.change("4.md", "delete", deleted=True)
    shelf.remove("4.md")
    shelf.read(most=0.2)
    if first == "missing":
        shelf.change("4.md", "delete", deleted=True)
    shelf.change("4.md", "revoke")
    shelf.write({"4.md": TEN["4.md"]})
    report = shelf.read()
    assert [origin for origin, _ in report.refused] == ["4.md"]
    assert shelf.entry("4.md").deleted


def test_a_deletion_during_the_run_holds(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    shelf.remove("4.md")
    shelf.read(most=0.2)
    shelf.write({"4.md": "# Another text\n"})

    def reader(item: SourceItem) -> ParsedDocument:
        shelf.change("4.md", "delete", deleted=True)
        return parse(item)

    report = shelf.offline.ingest(
        CORPUS, [shelf.folder], CorpusProfile(name=CORPUS), EVERYONE, lambda *_: None, parse=reader
    )
    assert [origin for origin, _ in report.refused] == ["4.md"]
    assert shelf.entry("4.md").deleted


# ── the same content elsewhere ──────────────────────────────────────────────────────────────────────────


def test_a_renamed_file_is_told_as_such(shelf: Shelf) -> None:
    shelf.write(TEN)
    shelf.read()
    (shelf.folder / "4.md").rename(shelf.folder / "four.md")
    report = shelf.read(most=0.2)
    assert (report.added, report.deleted) == (["four.md"], ["4.md"])
    assert (report.renamed, report.same) == ([("four.md", "4.md")], [])


def test_a_copy_is_told_once_and_the_later_is_the_copy(shelf: Shelf) -> None:
    shelf.write({"a.md": "same", "b.md": "same", "c.md": "other"})
    assert shelf.read().same == [("b.md", "a.md")]
    shelf.write({"d.md": "other"})
    report = shelf.read()
    assert (report.same, report.renamed) == ([("d.md", "c.md")], [])
    assert shelf.read().same == []


def test_what_another_document_said_before_is_no_copy(shelf: Shelf) -> None:
    shelf.write({"a.md": "first"})
    shelf.read()
    shelf.write({"a.md": "second", "b.md": "first"})
    report = shelf.read()
    assert (report.updated, report.added, report.same) == (["a.md"], ["b.md"], [])


def test_a_file_moved_with_its_own_id_is_neither_gone_nor_new(shelf: Shelf) -> None:
    shelf.write(TEN | {"old.md": "---\nid: policy\n---\ntext\n"})
    shelf.read()
    (shelf.folder / "old.md").rename(shelf.folder / "new.md")
    report = shelf.read(most=1.0)
    assert (report.gone, report.added, report.updated, len(report.unchanged)) == ([], [], [], 11)
    assert shelf.read(most=1.0).gone == []


def test_encodings_are_told(shelf: Shelf) -> None:
    shelf.write({"a.md": "English", "b.md": "中文"})
    text = "设备的保修期为两年。如需维修，请联系售后部门。"
    (shelf.folder / "c.txt").write_bytes(text.encode("gb18030"))
    report = shelf.read()
    assert report.encodings == {"utf-8": 2, "gb18030": 1}
    [(name, encoding, confidence)] = report.other_encodings
    assert (name, encoding, confidence > 0.9) == ("c.txt", "gb18030", True)
    [archived] = shelf.offline.engine.archive.get_many(
        [("c.txt", shelf.entry("c.txt").current_version)]
    ).values()
    assert archived.canonical_text == text


def deny(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """That folder cannot be listed: its permissions would not keep out whoever runs tests as root."""
    listing = os.scandir

    def scandir(path: Any = ".") -> Any:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
