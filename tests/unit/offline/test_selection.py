"""What of a folder is looked at, and what is told of the rest; folders and files that are no good."""

from __future__ import annotations

import inspect
import os
import resource
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from service.domain.documents import Place
from service.domain.sources import Selection, SourceFault, SourceItem, Survey
from service.offline.ingest import sources
from service.offline.ingest.sources import EVERYTHING, read_sources, selected
from service.offline.ingest.walking import walk


def write(root: Path, *names: str, text: str = "x") -> Path:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def read(root: Path, selection: Selection = EVERYTHING) -> tuple[list[str], dict[str, str], Survey]:
    survey = Survey()
    found = list(read_sources([root], selection, survey))
    faults = {f.origin: f.reason for f in found if isinstance(f, SourceFault)}
    return [f.document_id for f in found if isinstance(f, SourceItem)], faults, survey


# ── globs ───────────────────────────────────────────────────────────────────────────────────────────────

FILES = ["a.md", "b.txt", "hr/pay.md", "hr/old/pay.md", "eng/a.md"]


@pytest.mark.parametrize(
    ("include", "exclude", "left"),
    [
        ((), (), FILES),
        (("hr/**",), (), ["hr/pay.md", "hr/old/pay.md"]),
        (("hr/*",), (), ["hr/pay.md", "hr/old/pay.md"]),
        (("*.txt", "eng/**"), (), ["b.txt", "eng/a.md"]),
        ((), ("hr/**",), ["a.md", "b.txt", "eng/a.md"]),
        (("hr/**",), ("**/old/**",), ["hr/pay.md"]),
        (("a.md",), ("*",), []),
        (("**/a.md",), (), ["a.md", "eng/a.md"]),
        (("HR/**",), (), []),
    ],
)
def test_globs(tmp_path: Path, include: tuple[str, ...], exclude: tuple[str, ...], left: list[str]) -> None:
    ids, faults, survey = read(write(tmp_path, *FILES), Selection(include, exclude))
    assert (sorted(ids), faults) == (sorted(left), {})
    assert survey.present[str(tmp_path.resolve())] == set(left), "what is left out is not in view"


def test_exclusion_does_not_hide_a_rule(tmp_path: Path) -> None:
    write(tmp_path, "hr/pay.md")
    write(tmp_path, "hr/access.toml", text='[default]\nallow = ["group:hr"]')
    [item] = read_sources([tmp_path], Selection(exclude=("*.toml",)))
    assert isinstance(item, SourceItem)
    assert item.access_rule == {"allow": ["group:hr"]}


def test_a_sidecar_is_in_view_when_its_document_is(tmp_path: Path) -> None:
    write(tmp_path, "gone.md.access.toml", "drafts/gone.md.access.toml", text='allow = ["*"]')
    _, faults, _ = read(tmp_path, Selection(include=("*.md",), exclude=("drafts/**",)))
    assert list(faults) == ["gone.md.access.toml"]


def test_a_file_named_by_itself_is_read_whatever_the_globs(tmp_path: Path) -> None:
    ids, _, _ = read(write(tmp_path, "a.md") / "a.md", Selection(exclude=("*",)))
    assert ids == ["a.md"]


def test_addresses_are_made_of_path_and_commit(tmp_path: Path) -> None:
    selection = Selection(url_template="https://git.example/{path}?at={commit}#L", commit="abc")
    [item] = read_sources([write(tmp_path, "手册/a b#1.md")], selection)
    assert isinstance(item, SourceItem)
    assert item.canonical_url == "https://git.example/%E6%89%8B%E5%86%8C/a%20b%231.md?at=abc#L"


# ── what is passed over ─────────────────────────────────────────────────────────────────────────────────


def test_what_is_passed_over_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "a.md", "x.PNG", "y.png", "z.svg", "LICENSE", "d.jsonl", ".hidden.md", ".git/config")
    write(tmp_path, ".git/HEAD", "sub/.cache/y.md", "corpus.toml", "access.toml", text="")
    (tmp_path / "linked").symlink_to(tmp_path / "sub")
    ids, faults, survey = read(tmp_path)
    assert (ids, faults) == (["a.md"], {})
    assert survey.hidden == 3
    assert survey.other_kinds == {
        ".png": 2,
        ".svg": 1,
        "without ending": 1,
        ".jsonl": 1,
        "linked folder": 1,
    }


def test_what_is_gone_is_only_what_was_looked_for(tmp_path: Path) -> None:
    folder = str(tmp_path.resolve())
    _, _, survey = read(write(tmp_path, "a.md", "b.png"))
    survey.closed[folder].add("closed")
    assert survey.is_gone(Place(folder, "c.md"))
    assert survey.is_gone(Place(folder, "closed.md"))
    assert not survey.is_gone(Place(folder, "a.md"))
    assert not survey.is_gone(Place(folder, "b.png"))
    assert not survey.is_gone(Place(folder, "closed/x.md"))
    assert not survey.is_gone(Place("/elsewhere", "c.md"))


# ── folders and files that are no good ──────────────────────────────────────────────────────────────────


def test_folders_nested_deeper_than_the_stack_are_walked(tmp_path: Path) -> None:
    """The stack is made small, so that whoever clears up behind the tests can still do it by recursion."""
    write(tmp_path, "a.md", "d/" * 300 + "b.md")
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 150)
    try:
        files = walk(tmp_path).files
    finally:
        sys.setrecursionlimit(limit)
    assert len(files) == 2


def test_a_folder_without_permission_is_a_fault_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "closed/b.md")
    listing = os.scandir

    def scandir(path: Any = ".") -> Any:
        if Path(path).name == "closed":  # permissions would not keep root out, as whom tests may run
            raise PermissionError(13, "Permission denied")
        return listing(path)

    monkeypatch.setattr(os, "scandir", scandir)
    ids, faults, survey = read(tmp_path)
    assert ids == ["a.md"]
    assert faults == {"closed": "this folder cannot be read: Permission denied"}
    assert survey.closed == {str(tmp_path.resolve()): {"closed"}}


def test_a_file_without_permission_is_a_fault_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "a.md", "b.md")
    reading = Path.read_bytes

    def read_bytes(path: Path) -> bytes:
        if path.name == "b.md":
            raise PermissionError(13, "Permission denied")
        return reading(path)

    monkeypatch.setattr(Path, "read_bytes", read_bytes)
    ids, faults, _ = read(tmp_path)
    assert (ids, faults) == (["a.md"], {"b.md": "cannot be read: Permission denied"})


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    ids, faults, _ = read(write(tmp_path, "a.md"))
    assert (ids, faults) == (["a.md"], {"pipe.md": "it is no ordinary file"})


@pytest.mark.parametrize(
    "name",
    [
        "a\nb.md",
        "\x1b[2J.md",
        "a\tb.md",
        "‮dm.md",
        " .md",
        "a:b*?.md",
        "%2e%2e.md",
        "-rf.md",
        "字" * 80 + ".md",
    ],
)
def test_odd_names_are_names(tmp_path: Path, name: str) -> None:
    ids, faults, _ = read(write(tmp_path, name))
    assert (ids, faults) == ([name], {})
    assert selected(Selection(include=("*.md",)), name)


def test_a_name_in_no_encoding_can_be_told(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.md")).symlink_to("/nonexistent")
    _, faults, _ = read(tmp_path)
    assert list(faults) == ["caf\\udce9.md"]


def test_links_in_circles_end(tmp_path: Path) -> None:
    write(tmp_path, "sub/a.md")
    (tmp_path / "sub" / "up").symlink_to(tmp_path)
    (tmp_path / "one.md").symlink_to(tmp_path / "two.md")
    (tmp_path / "two.md").symlink_to(tmp_path / "one.md")
    ids, faults, survey = read(tmp_path)
    assert (ids, set(faults)) == (["sub/a.md"], {"one.md", "two.md"})
    assert survey.other_kinds == {"linked folder": 1}


def test_jsonl_without_line_ends_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "LARGEST", 1_000_000)
    path = tmp_path / "x.jsonl"
    with path.open("wb") as file:
        file.write(b'{"documentId": "a", "text": "good"}\n')
        file.truncate(20 * 1024**3)  # sparse: takes no room
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.perf_counter()
    ids, faults, _ = read(path)
    assert (ids, list(faults)) == (["a"], ["x.jsonl:2"])
    assert time.perf_counter() - began < 5
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
