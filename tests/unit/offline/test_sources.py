"""Finding sources: what is read, what is a fault, and that one bad file never stops the others."""

from __future__ import annotations

import json
import os
import unicodedata
from pathlib import Path
from typing import Any

import pytest

from service.domain.rights import Access
from service.domain.sources import ParsedDocument, SourceFault, SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.jsonl import JSON_DOCUMENT
from service.offline.ingest.sources import LARGEST, read_sources, resolve_access
from service.profiles.corpus import CorpusProfile


def write(root: Path, files: dict[str, str | bytes]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def read(*paths: Path) -> tuple[dict[str, SourceItem], dict[str, str]]:
    """Items by id, faults by origin."""
    found = list(read_sources(paths))
    items = [f for f in found if isinstance(f, SourceItem)]
    faults = [f for f in found if isinstance(f, SourceFault)]
    assert len({i.document_id for i in items}) == len(items)
    return {i.document_id: i for i in items}, {f.origin: f.reason for f in faults}


def jsonl(root: Path, *lines: Any, name: str = "docs.jsonl") -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return write(root, {name: text}) / name


def test_a_folder_gives_its_documents_in_name_order(tmp_path: Path) -> None:
    files = {"b.txt": "b", "a/z.md": "z", "a/y.HTML": "y", "c.markdown": "c", "d.mdx": "d", "e.xhtml": "e"}
    items, faults = read(write(tmp_path, dict(files)))
    assert faults == {}
    assert {name: (i.media_type, i.raw, i.text) for name, i in items.items()} == {
        "a/y.HTML": ("text/html", b"y", None),
        "a/z.md": ("text/markdown", b"z", None),
        "b.txt": ("text/plain", b"b", None),
        "c.markdown": ("text/markdown", b"c", None),
        "d.mdx": ("text/markdown", b"d", None),
        "e.xhtml": ("text/html", b"e", None),
    }
    assert list(items) == sorted(files)


def test_hidden_things_settings_and_other_files_are_no_documents(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            "kept.md": "k",
            ".hidden.md": "h",
            ".git/x.md": "g",
            "sub/.cache/y.md": "y",
            "corpus.toml": 'name = "c"',
            "access.toml": '[default]\nallow = ["*"]',
            "logo.png": b"\x89PNG",
            "LICENSE": "free",
        },
    )
    items, faults = read(tmp_path)
    assert (list(items), faults) == (["kept.md"], {})


def test_a_hidden_folder_given_by_name_is_read(tmp_path: Path) -> None:
    """Hidden counts below the source: who names a folder means it."""
    items, _ = read(write(tmp_path / ".notes", {"a.md": "a"}))
    assert list(items) == ["a.md"]


def test_links_out_of_the_source_are_faults_and_links_inside_are_read(tmp_path: Path) -> None:
    root = write(tmp_path / "docs", {"a.md": "a"})
    write(tmp_path, {"secret.md": "secret"})
    (root / "inside.md").symlink_to(root / "a.md")
    (root / "out.md").symlink_to(tmp_path / "secret.md")
    (root / "gone.md").symlink_to(root / "nothing.md")
    items, faults = read(root)
    assert {name: i.raw for name, i in items.items()} == {"a.md": b"a", "inside.md": b"a"}
    assert set(faults) == {"out.md", "gone.md"}
    assert "leads out" in faults["out.md"] and "cannot be read" in faults["gone.md"]


def test_a_linked_folder_is_not_walked_into(tmp_path: Path) -> None:
    root = write(tmp_path / "docs", {"a.md": "a"})
    outside = write(tmp_path / "other", {"secret.md": "secret"})
    (root / "linked").symlink_to(outside, target_is_directory=True)
    (root / "self").symlink_to(root, target_is_directory=True)
    items, _ = read(root)
    assert list(items) == ["a.md"]


def test_a_link_to_itself_is_a_fault_and_stops_nothing(tmp_path: Path) -> None:
    root = write(tmp_path, {"z.md": "z"})
    (root / "loop.md").symlink_to(root / "loop.md")
    items, faults = read(root)
    assert list(items) == ["z.md"]
    assert list(faults) == ["loop.md"]


def test_a_file_given_by_name_is_read_with_the_rules_of_its_folder(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a", "access.toml": '[default]\nallow = ["group:eng"]'})
    items, faults = read(tmp_path / "a.md")
    assert faults == {}
    assert items["a.md"].access_rule == {"allow": ["group:eng"]}


@pytest.mark.parametrize("name", ["a.mp4", "README"])
def test_a_file_of_an_unknown_kind_given_by_name_is_a_fault_that_says_what_is_known(
    tmp_path: Path, name: str
) -> None:
    _, faults = read(write(tmp_path, {name: "x"}) / name)
    assert ".md" in faults[name] and ".jsonl" in faults[name]


def test_a_file_too_large_is_a_fault(tmp_path: Path) -> None:
    with (tmp_path / "big.txt").open("wb") as big:
        big.truncate(LARGEST + 1)  # sparse: takes no room
    items, faults = read(write(tmp_path, {"a.md": "a"}))
    assert list(items) == ["a.md"]
    assert str(LARGEST) in faults["big.txt"]


def test_missing_sources_are_faults(tmp_path: Path) -> None:
    items, faults = read(tmp_path / "gone.md", tmp_path / "gone.jsonl", write(tmp_path / "d", {"a.md": "a"}))
    assert list(items) == ["a.md"]
    assert set(faults) == {"gone.md", "gone.jsonl"}


def test_a_broken_access_toml_refuses_its_files_and_no_others(tmp_path: Path) -> None:
    files = {"ok/a.md": "a", "bad/access.toml": "[default", "bad/b.md": "b"}
    items, faults = read(write(tmp_path, dict(files)))
    assert list(items) == ["ok/a.md"]
    assert set(faults) == {"bad/b.md"}
    assert "access.toml" in faults["bad/b.md"]


def test_names_that_differ_only_in_case_width_or_form_are_faults(tmp_path: Path) -> None:
    composed = unicodedata.normalize("NFC", "café.md")
    one = write(tmp_path / "one", {"Guide.md": "1", composed: "2", "straße.md": "3", "ABC.md": "4"})
    two = write(
        tmp_path / "two",
        {"guide.MD": "1", unicodedata.normalize("NFD", composed): "2", "STRASSE.md": "3", "ＡＢＣ.md": "4"},
    )
    items, faults = read(one, two)
    assert set(items) == {"Guide.md", composed, "straße.md", "ABC.md"}
    assert len(faults) == 4
    assert "Guide.md" in faults["guide.MD"]


def test_document_ids_are_in_composed_form(tmp_path: Path) -> None:
    items, _ = read(write(tmp_path, {unicodedata.normalize("NFD", "überblick.md"): "x"}))
    assert list(items) == [unicodedata.normalize("NFC", "überblick.md")]


def test_jsonl_lines_are_documents(tmp_path: Path) -> None:
    write(tmp_path, {"page.html": "<p>x</p>"})
    path = jsonl(
        tmp_path,
        {"documentId": "a", "text": "甲", "title": "T", "access": {"allow": ["*"]}},
        "",
        {"documentId": "b", "path": "page.html"},
    )
    items, faults = read(path)
    assert faults == {}
    a, b = items["a"], items["b"]
    assert (a.media_type, a.text, a.title, a.origin) == (JSON_DOCUMENT, "甲", "T", "docs.jsonl:1")
    assert a.access_rule == {"allow": ["*"]}
    assert (b.media_type, b.raw, b.text, b.origin) == ("text/html", b"<p>x</p>", None, "docs.jsonl:3")


def test_another_title_is_another_content(tmp_path: Path) -> None:
    path = jsonl(
        tmp_path,
        {"documentId": "a", "text": "same", "title": "one"},
        {"documentId": "b", "text": "same", "title": "two"},
        {"documentId": "c", "text": "same", "title": "one"},
    )
    items, _ = read(path)
    assert items["a"].raw == items["c"].raw != items["b"].raw


def test_the_rule_of_a_line_speaks_before_that_of_its_file(tmp_path: Path) -> None:
    write(tmp_path, {"p.md": "p", "access.toml": '[default]\nallow = ["group:folder"]'})
    path = jsonl(
        tmp_path,
        {"documentId": "own", "path": "p.md", "access": {"allow": ["group:line"]}},
        {"documentId": "folder", "path": "p.md"},
    )
    items, _ = read(path)
    assert items["own"].access_rule == {"allow": ["group:line"]}
    assert items["folder"].access_rule == {"allow": ["group:folder"]}


@pytest.mark.parametrize(
    "line",
    [
        "{not json",
        "[" * 100_000,
        "[]",
        '"text"',
        {"text": "no id"},
        {"documentId": "  ", "text": "x"},
        {"documentId": 7, "text": "x"},
        {"documentId": "x", "text": 7},
        {"documentId": "x", "text": "t", "title": 7},
        {"documentId": "x", "text": "t", "access": ["*"]},
        {"documentId": "x"},
        {"documentId": "x", "path": "../outside.md"},
        {"documentId": "x", "path": "/etc/hostname.md"},
        {"documentId": "x", "path": "missing.md"},
        {"documentId": "x", "path": "a\0b.md"},
        {"documentId": "x", "path": "docs.jsonl"},
        {"documentId": "x" * 3, "path": "n" * 5000 + ".md"},
        {"documentId": "x", "text": "lone \ud800 surrogate"},
        {"documentId": "lone \ud800", "text": "x"},
        {"documentId": "x", "title": "\udfff", "text": "x"},
    ],
    ids=lambda line: json.dumps(line)[:40],
)
def test_a_bad_line_is_a_fault_at_its_number_and_the_next_is_read(tmp_path: Path, line: Any) -> None:
    write(tmp_path, {"outside.md": "x"})
    path = jsonl(tmp_path / "in", line, {"documentId": "good", "text": "good"})
    items, faults = read(path)
    assert list(items) == ["good"]
    assert list(faults) == ["docs.jsonl:1"]
    assert len(faults["docs.jsonl:1"]) > 10


def test_jsonl_that_is_not_utf8_is_a_fault_not_a_text_with_holes(tmp_path: Path) -> None:
    good = json.dumps({"documentId": "good", "text": "好"}, ensure_ascii=False)
    bad = json.dumps({"documentId": "bad", "text": "坏"}, ensure_ascii=False)
    write(tmp_path, {"x.jsonl": b"\xef\xbb\xbf" + good.encode() + b"\r\n" + bad.encode("gb18030")})
    items, faults = read(tmp_path / "x.jsonl")
    assert {name: i.text for name, i in items.items()} == {"good": "好"}
    assert "UTF-8" in faults["x.jsonl:2"]


def test_a_file_name_in_another_encoding_is_a_fault(tmp_path: Path) -> None:
    write(tmp_path, {"a.md": "a"})
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    items, faults = read(tmp_path)
    assert list(items) == ["a.md"]
    [origin] = faults
    assert origin.encode() == b"caf\\udce9.md"


def test_an_id_that_comes_twice_is_a_fault_never_merged(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"documentId": "Same", "text": "1"}, {"documentId": "same", "text": "2"})
    items, faults = read(path)
    assert list(items) == ["Same"] and items["Same"].text == "1"
    assert "docs.jsonl:1" in faults["docs.jsonl:2"]


# ── rights of a document ────────────────────────────────────────────────────────────────────────────────


def resolved(
    *, own: Any = None, folder: Any = None, flag: Any = None, default: Any = None, tenant: str = "acme"
) -> Access:
    front = {} if own is None else {"access": own}
    parsed = ParsedDocument("d", "v", "h", "text", (), "", "", "p@1", front)
    item = SourceItem(
        "d", b"", "text/plain", "d.md", access_rule=folder, access_where="x/access.toml [default]"
    )
    return resolve_access(parsed, item, flag, CorpusProfile(name="c", tenant=tenant, default_access=default))


def to(group: str) -> dict[str, list[str]]:
    return {"allow": [f"group:{group}"]}


def test_the_nearest_rule_wins() -> None:
    everything = {"own": to("own"), "folder": to("folder"), "flag": to("flag"), "default": to("default")}
    while everything:
        nearest = next(iter(everything))
        assert resolved(**everything).allow == {f"group:{nearest}"}
        del everything[nearest]


def test_without_any_rule_a_document_is_refused_and_told_what_to_write() -> None:
    with pytest.raises(SourceUnreadable, match=r"access\.toml.*--access.*default_access"):
        resolved()


def test_a_bad_near_rule_is_not_passed_over_for_a_good_far_one() -> None:
    for bad in ({}, {"allow": []}, ["group:eng"], "everyone", {"alow": ["*"]}, False, 0, ""):
        with pytest.raises(SourceUnreadable, match=r"d\.md front matter"):
            resolved(own=bad, folder=to("folder"), flag=to("flag"))


def test_the_tenant_is_the_corpus_s_unless_the_rule_says_another() -> None:
    assert resolved(own=to("a")).tenant == "acme"
    assert resolved(own=to("a") | {"tenant": "Rival"}).tenant == "rival"
