"""A folder as it was at a commit: only what the commit says counts, and nothing of it is executed or followed."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from service.domain.sources import Selection, SourceFault, SourceItem, Survey
from service.errors import InvalidInput
from service.offline.ingest.git_source import at_commit
from service.offline.ingest.sources import LARGEST, is_read, read_sources

WHO = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


def git(folder: Path, *arguments: str, given: bytes = b"") -> str:
    done = subprocess.run(
        ["git", *WHO, "-C", str(folder), *arguments], input=given, capture_output=True, check=True
    )
    return done.stdout.decode().strip()


def commit(folder: Path, files: dict[str, str | bytes]) -> str:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "x", "--allow-empty")
    return git(folder, "rev-parse", "HEAD")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    return root


def read(
    folder: Path, committish: str, largest: int = LARGEST
) -> tuple[dict[str, SourceItem], dict[str, str], str, Survey]:
    survey = Survey()
    with at_commit(folder, committish, is_read, largest) as found:
        selection = Selection(commit=found.id, stand_ins={found.folder: folder})
        items = list(read_sources([found.folder], selection, survey))
    assert not found.folder.exists()
    documents = {i.document_id: i for i in items if isinstance(i, SourceItem)}
    return documents, {i.origin: i.reason for i in items if isinstance(i, SourceFault)}, found.id, survey


def test_the_files_of_the_commit_are_read_and_not_those_that_lie_there(repository: Path) -> None:
    first = commit(repository, {"a.md": "first", "hr/b.txt": "乙", "logo.png": b"\x89PNG"})
    second = commit(repository, {"a.md": "second"})
    (repository / "a.md").write_text("not committed", encoding="utf-8")
    (repository / "new.md").write_text("not committed", encoding="utf-8")
    documents, faults, commit_id, survey = read(repository, first[:10])
    assert (commit_id, faults) == (first, {})
    assert {name: i.raw for name, i in documents.items()} == {"a.md": b"first", "hr/b.txt": "乙".encode()}
    assert survey.other_kinds == {".png": 1}
    assert documents["a.md"].place is not None
    assert documents["a.md"].place.folder == str(repository.resolve()), "the same source as the folder itself"
    git(repository, "tag", "v2")
    for name in ("HEAD", "v2", second):
        documents, _, commit_id, _ = read(repository, name)
        assert (documents["a.md"].raw, commit_id) == (b"second", second)


def test_the_rules_of_the_commit_count(repository: Path) -> None:
    first = commit(
        repository,
        {
            "a.md": "a",
            "b.md": "b",
            "access.toml": '[default]\nallow = ["group:then"]',
            "b.md.access.toml": 'allow = ["user:then"]',
        },
    )
    commit(repository, {"access.toml": '[default]\nallow = ["*"]', "b.md.access.toml": 'allow = ["*"]'})
    documents, _, _, _ = read(repository, first)
    assert documents["a.md"].access_rule == {"allow": ["group:then"]}
    assert documents["b.md"].access_rule == {"allow": ["user:then"]}
    assert documents["a.md"].access_where == "repo/access.toml [default]"


def test_a_folder_within_the_repository_is_its_own_root(repository: Path) -> None:
    commit(repository, {"a.md": "a", "docs/b.md": "b", "docs/c/d.md": "d"})
    documents, _, _, _ = read(repository / "docs", "HEAD")
    assert set(documents) == {"b.md", "c/d.md"}


def test_links_are_not_followed_neither_to_documents_nor_to_rules(repository: Path) -> None:
    (repository / "link.md").symlink_to("a.md")
    (repository / "out.md").symlink_to("/etc/hostname")
    (repository / "sub").mkdir()
    (repository / "sub" / "access.toml").symlink_to("../open.toml")
    commit(repository, {"a.md": "a", "open.toml": '[default]\nallow = ["*"]', "sub/b.md": "b"})
    documents, faults, _, _ = read(repository, "HEAD")
    assert set(documents) == {"a.md"}
    assert set(faults) == {"link.md", "out.md", "sub/b.md"}


def test_what_is_too_large_is_told_and_not_laid_out(repository: Path) -> None:
    commit(repository, {"a.md": "a", "b.md": "b" * 5000})
    with at_commit(repository, "HEAD", is_read, 1000) as found:
        assert (found.folder / "b.md").stat().st_size == 5000
        assert (found.folder / "b.md").read_bytes().count(b"b") == 0


def test_odd_names_and_submodules(repository: Path) -> None:
    odd = ["-x.md", "a\nb.md", 'q"\\.md', "手册.md", "with space.md"]
    commit(repository, dict.fromkeys(odd, "x"))
    (repository / os.fsdecode(b"caf\xe9.md")).write_bytes(b"x")
    git(repository, "add", "-A")
    git(repository, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},module.md")
    git(repository, "commit", "-q", "-m", "x")
    documents, faults, _, _ = read(repository, "HEAD")
    assert (sorted(documents), list(faults)) == (sorted(odd), ["caf\\udce9.md"])


def test_a_tree_that_leads_out_of_its_folder_is_refused(repository: Path, tmp_path: Path) -> None:
    blob = git(repository, "hash-object", "-w", "--stdin", given=b"x")
    inner = git(repository, "mktree", given=f"100644 blob {blob}\tescaped.md\n".encode())
    raw = b"40000 ..\0" + bytes.fromhex(inner)
    tree = git(repository, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", given=raw)
    bad = git(repository, "commit-tree", tree, "-m", "x")
    with pytest.raises(InvalidInput, match="leads out"), at_commit(repository, bad, is_read, LARGEST):
        pass
    assert not list(tmp_path.rglob("escaped.md"))


@pytest.mark.parametrize("name", ["nothing", "-h", "--help", "HEAD:a.md", "", "HEAD^{tree}"])
def test_what_is_no_commit_is_refused(repository: Path, name: str) -> None:
    commit(repository, {"a.md": "a"})
    with pytest.raises(InvalidInput, match="--git cannot read"), at_commit(repository, name, is_read, 1):
        pass


def test_a_folder_in_no_repository_and_a_machine_without_git_are_refused(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidInput, match="not a git repository"), at_commit(tmp_path, "HEAD", is_read, 1):
        pass
    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(InvalidInput, match="needs the program git"),
        at_commit(repository, "HEAD", is_read, 1),
    ):
        pass


def test_it_reads_the_folder_s_repository_even_inside_a_hook(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, {"a.md": "a"})
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert set(read(repository, "HEAD")[0]) == {"a.md"}


def test_nothing_that_the_repository_configures_is_run(repository: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    commit(repository, {"a.md": "a", ".gitattributes": "*.md filter=f diff=f text eol=crlf\n"})
    for key in ("filter.f.smudge", "diff.f.textconv", "core.fsmonitor", "core.sshCommand", "core.pager"):
        git(repository, "config", key, f"touch {ran}")
    documents, _, _, _ = read(repository, "HEAD")
    assert documents["a.md"].raw == b"a"
    assert not ran.exists()
