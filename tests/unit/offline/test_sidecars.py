"""A rights file beside a document: what goes before it, what it goes before, and that it is never passed over."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from service.domain.sources import SourceFault, SourceItem
from service.errors import InvalidInput, SourceUnreadable
from service.offline.ingest import folder_rules
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources, resolve_access
from service.profiles.corpus import CorpusProfile, read_corpus_profile

EVERYBODY = {"allow": ["*"]}
CORPUS = CorpusProfile(name="handbook", default_access=EVERYBODY)


def only(group: str) -> str:
    return f'allow = ["group:{group}"]\n'


def read(root: Path, files: dict[str, str], source: str = "") -> tuple[dict[str, set[str]], dict[str, str]]:
    """Who is allowed, by documentId, and the reasons of what was refused, by origin."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    rights: dict[str, set[str]] = {}
    refused: dict[str, str] = {}
    for found in read_sources([root / source]):
        if isinstance(found, SourceFault):
            refused[found.origin] = found.reason
            continue
        assert isinstance(found, SourceItem)
        try:
            rights[found.document_id] = set(resolve_access(parse(found), found, EVERYBODY, CORPUS).allow)
        except SourceUnreadable as error:
            refused[found.origin] = error.message
    return rights, refused


def test_a_sidecar_goes_before_the_folder_and_after_front_matter(tmp_path: Path) -> None:
    files = {
        "access.toml": '[default]\nallow = ["group:folder"]\n[[rule]]\nmatch = "*"\nallow = ["group:rule"]',
        "a.md": "a",
        "b.md": "b",
        "b.md.access.toml": only("beside"),
        "c.md": '---\naccess: {allow: ["group:own"]}\n---\nc',
        "c.md.access.toml": only("beside"),
        "deep/d.txt": "d",
        "deep/d.txt.access.toml": only("beside"),
        "deep/access.toml": '[default]\nallow = ["group:deep"]',
    }
    assert read(tmp_path, files) == (
        {"a.md": {"group:rule"}, "b.md": {"group:beside"}, "c.md": {"group:own"}, "deep/d.txt": {"group:beside"}},
        {},
    )  # fmt: skip


def test_a_sidecar_has_every_key_of_a_rule(tmp_path: Path) -> None:
    text = 'tenant = "acme"\nlabels = ["Secret"]\nallow = ["*"]\ndeny = ["user:bob"]\n'
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "a.md.access.toml").write_text(text)
    (item,) = read_sources([tmp_path])
    assert isinstance(item, SourceItem)
    access = resolve_access(parse(item), item, None, CORPUS)
    assert (access.tenant, access.labels, access.deny) == ("acme", {"secret"}, {"user:bob"})


def test_a_sidecar_is_found_for_a_file_given_by_name_and_is_no_document_itself(tmp_path: Path) -> None:
    files = {"a.md": "a", "a.md.access.toml": only("hr")}
    assert read(tmp_path, files, "a.md") == ({"a.md": {"group:hr"}}, {})
    assert "not read" in read(tmp_path, {}, "a.md.access.toml")[1]["a.md.access.toml"]


def test_a_sidecar_of_a_file_that_is_no_document_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, {"a.md": "a", "logo.png": "", "logo.png.access.toml": "["}) == ({"a.md": {"*"}}, {})


@pytest.mark.parametrize(
    "name", ["gone.md.access.toml", "b.access.toml", "hr.access.toml", "Gone.ACCESS.TOML"]
)
def test_a_sidecar_without_its_document_is_refused(tmp_path: Path, name: str) -> None:
    rights, refused = read(tmp_path, {"a.md": "a", "hr/x.md": "x", name: only("hr")})
    assert rights == {"a.md": {"*"}, "hr/x.md": {"*"}}
    assert list(refused) == [name] and "no such file" in refused[name]


@pytest.mark.parametrize(
    "name",
    ["a.md.ACCESS.toml", "A.md.access.toml", "a.md.access.TOML", "ａ.md.access.toml", "a.md.access.toml ",
     "a.md.access.toml\u200b", "a.access.toml", "A.Access.toml"],
)  # fmt: skip
def test_a_misspelt_sidecar_refuses_its_document(tmp_path: Path, name: str) -> None:
    rights, refused = read(tmp_path, {"a.md": "a", "b.md": "b", name: only("hr")})
    assert rights == {"b.md": {"*"}}
    assert "'a.md.access.toml'" in refused["a.md"]


def test_the_sidecar_of_a_file_without_an_ending_is_its_own(tmp_path: Path) -> None:
    files = {
        "a": "",
        "a.md": "a",
        "a.access.toml": only("hr"),
        "a.md.md": "b",
        "a.md.access.toml": only("it"),
    }
    assert read(tmp_path, files) == ({"a.md": {"group:it"}, "a.md.md": {"*"}}, {})


@pytest.mark.parametrize(
    "text",
    ["", "allow = [", 'allow = "*"', "allow = []", 'alow = ["*"]', '[access]\nallow = ["*"]', '[default]\nallow = ["*"]',
     'allow = ["eng"]', 'labels = ["x"]', "\x00"],
)  # fmt: skip
def test_a_sidecar_that_cannot_be_meant_refuses_its_document(tmp_path: Path, text: str) -> None:
    rights, refused = read(tmp_path, {"a.md": "a", "b.md": "b", "a.md.access.toml": text})
    assert rights == {"b.md": {"*"}}
    assert "a.md.access.toml" in refused["a.md"]


def test_a_sidecar_that_is_no_readable_file_refuses_its_document(tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text('allow = ["*"]')
    root = tmp_path / "docs"
    root.mkdir()
    (root / "folder.md.access.toml").mkdir()
    os.mkfifo(root / "pipe.md.access.toml")
    (root / "gone.md.access.toml").symlink_to(root / "nowhere.toml")
    (root / "loop.md.access.toml").symlink_to(root / "loop.md.access.toml")
    (root / "out.md.access.toml").symlink_to(outside)
    (root / "shared").mkdir()
    (root / "shared" / "hr.toml").write_text(only("hr"))
    (root / "in.md.access.toml").symlink_to(root / "shared" / "hr.toml")
    (root / "latin.md.access.toml").write_bytes(b'allow = ["group:caf\xe9"]')
    names = ("folder", "pipe", "gone", "loop", "out", "in", "latin")
    rights, refused = read(root, {f"{name}.md": name for name in names})
    assert rights == {"in.md": {"group:hr"}}
    for name in names:
        assert (f"{name}.md" in refused) == (name != "in")


@pytest.mark.parametrize("name", ["Access.toml", "ACCESS.TOML", "access.toml ", "ａccess.toml"])
def test_a_misspelt_access_toml_refuses_what_lies_below_it(tmp_path: Path, name: str) -> None:
    files = {
        "a.md": "a",
        "hr/b.md": "b",
        "hr/deep/c.md": "c",
        f"hr/{name}": '[default]\nallow = ["group:hr"]',
    }
    rights, refused = read(tmp_path, files)
    assert rights == {"a.md": {"*"}}
    assert set(refused) == {"hr/b.md", "hr/deep/c.md"}
    assert all("'access.toml'" in reason for reason in refused.values())


def test_an_access_toml_that_is_no_file_of_the_source_refuses_what_lies_below_it(tmp_path: Path) -> None:
    (tmp_path / "wide.toml").write_text('[default]\nallow = ["*"]')
    root = tmp_path / "docs"
    for name in ("out", "gone"):
        (root / name).mkdir(parents=True)
    (root / "out" / "access.toml").symlink_to(tmp_path / "wide.toml")
    (root / "gone" / "access.toml").symlink_to(root / "nowhere.toml")
    rights, refused = read(root, {"a.md": "a", "out/b.md": "b", "gone/c.md": "c"})
    assert rights == {"a.md": {"*"}}
    assert set(refused) == {"out/b.md", "gone/c.md"}


def test_a_line_s_own_rule_goes_before_the_sidecar_of_its_file_and_that_before_the_folder(
    tmp_path: Path,
) -> None:
    lines = [
        {"documentId": "own", "path": "a.txt", "access": {"allow": ["group:line"]}},
        {"documentId": "beside", "path": "a.txt"},
        {"documentId": "folder", "path": "b.txt"},
        {"documentId": "broken", "path": "c.txt", "access": {"allow": ["*"]}},
    ]
    files = {
        "a.txt": "a", "a.txt.access.toml": only("beside"), "b.txt": "b", "c.txt": "c", "c.txt.ACCESS.toml": only("hr"),
        "access.toml": '[default]\nallow = ["group:folder"]', "all.jsonl": "\n".join(map(json.dumps, lines)),
    }  # fmt: skip
    rights, refused = read(tmp_path, files, "all.jsonl")
    assert rights == {"own": {"group:line"}, "beside": {"group:beside"}, "folder": {"group:folder"}}
    assert list(refused) == ["all.jsonl:4"]


def test_a_folder_is_listed_once_however_many_of_its_files_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [json.dumps({"documentId": f"line {n}", "path": f"{n}.txt"}) for n in range(20)]
    for n in range(20):
        (tmp_path / f"{n}.txt").write_text("text")
    (tmp_path / "all.jsonl").write_text("\n".join(lines))
    listed: list[Path] = []
    real = folder_rules._list
    monkeypatch.setattr(folder_rules, "_list", lambda folder: listed.append(folder) or real(folder))
    found = list(read_sources([tmp_path / "all.jsonl", *sorted(tmp_path.glob("*.txt"))]))
    assert len(found) == 40 and listed == [tmp_path]


@pytest.mark.parametrize("beside", ["all.jsonl.access.toml", "all.jsonl.Access.toml", "all.access.toml"])
def test_jsonl_with_a_sidecar_is_refused_whole(tmp_path: Path, beside: str) -> None:
    line = json.dumps({"documentId": "a", "text": "a"})
    rights, refused = read(tmp_path, {"all.jsonl": line, beside: only("hr")}, "all.jsonl")
    assert rights == {} and list(refused) == ["all.jsonl"]


@pytest.mark.parametrize("path", ["hr/../open/a.txt", "./../docs/open/a.txt", "ABSOLUTE"])
def test_a_line_s_path_leads_straight_down(tmp_path: Path, path: str) -> None:
    """Otherwise the rules of a folder that it only passes through would be asked."""
    root = tmp_path / "docs"
    target = str(root / "open" / "a.txt") if path == "ABSOLUTE" else path
    files = {"open/a.txt": "a", "hr/b.txt": "b", "all.jsonl": json.dumps({"documentId": "a", "path": target})}
    rights, refused = read(root, files, "all.jsonl")
    assert rights == {} and "leads out" in refused["all.jsonl:1"]


def test_a_corpus_of_one_tenant_refuses_documents_of_another(tmp_path: Path) -> None:
    corpus = CorpusProfile(name="c", tenant="Acme", single_tenant=True, default_access=EVERYBODY)
    texts = {
        "a.md": "a",
        "b.md": '---\naccess: {allow: ["*"], tenant: ACME}\n---\nb',
        "c.md": '---\naccess: {allow: ["*"], tenant: other}\n---\nc',
        "d.md": "d",
        "d.md.access.toml": 'allow = ["*"]\ntenant = "other"',
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    seen, refused = {}, []
    for item in read_sources([tmp_path]):
        assert isinstance(item, SourceItem)
        try:
            seen[item.document_id] = resolve_access(parse(item), item, None, corpus).tenant
        except SourceUnreadable as error:
            refused.append(error.message)
    assert seen == {"a.md": "acme", "b.md": "acme"}
    assert len(refused) == 2
    for reason in refused:
        assert "'other'" in reason and "'acme'" in reason and "single_tenant" in reason
    (item,) = read_sources([tmp_path / "a.md"])
    assert isinstance(item, SourceItem)
    with pytest.raises(SourceUnreadable, match="--access"):
        resolve_access(parse(item), item, {"allow": ["*"], "tenant": "other"}, corpus)


def test_a_corpus_of_one_tenant_says_which() -> None:
    with pytest.raises(ValueError, match="single_tenant needs `tenant`"):
        CorpusProfile(name="c", single_tenant=True)
    kept = CorpusProfile(name="c", tenant="acme", single_tenant=True)
    assert CorpusProfile.model_validate(kept.model_dump(mode="json")) == kept


@pytest.mark.parametrize("name", ["Corpus.toml", "corpus.TOML", "corpus.toml "])
def test_a_misspelt_corpus_profile_is_not_passed_over(tmp_path: Path, name: str) -> None:
    assert read_corpus_profile(tmp_path) is None
    (tmp_path / name).write_text('name = "c"')
    with pytest.raises(InvalidInput, match=r"'corpus\.toml'"):
        read_corpus_profile(tmp_path)
    (tmp_path / name).rename(tmp_path / "corpus.toml")
    assert read_corpus_profile(tmp_path) == CorpusProfile(name="c")
    (tmp_path / "corpus.toml").unlink()
    (tmp_path / "corpus.toml").symlink_to(tmp_path / "nowhere.toml")
    with pytest.raises(InvalidInput):
        read_corpus_profile(tmp_path)
