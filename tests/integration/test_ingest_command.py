"""`attest ingest` at the shell: its options, what it prints, and its exit code."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from service.cli import cli
from service.cli.shared import services
from service.errors import InvalidInput
from tests.fakes.pdf_writer import PdfPage, pdf

GIT = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]


class Shell:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, files: dict[str, str | bytes]) -> None:
        for name, content in files.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)

    def run(self, *options: str, source: Path | None = None) -> Result:
        arguments = ["ingest", str(source or self.folder), "--corpus", "docs", "--access", '{"allow": ["*"]}']
        return CliRunner().invoke(cli, [*arguments, *options])

    def json(self, *options: str, code: int = 0, source: Path | None = None) -> dict[str, Any]:
        result = self.run("--json", *options, source=source)
        assert result.exit_code == code, result.output
        return dict(json.loads(result.stdout))

    def git(self, *arguments: str) -> None:
        subprocess.run([*GIT, "-C", str(self.folder), *arguments], check=True, capture_output=True)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name in ("ATTEST_TOKEN", "REDIS_URL", "ATTEST_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_ENGINE", "embedded")
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "source").mkdir()
    return Shell(tmp_path / "source")


def test_the_summary_tells_what_was_passed_over_and_in_which_encodings(shell: Shell) -> None:
    shell.write(
        {"a.md": "a", "copy.md": "a", "b.txt": "设备的保修期为两年，请联系售后部门。".encode("gb18030")}
    )
    shell.write({"x.png": "", "y.png": "", "z.svg": "", ".hidden/q.md": "q"})
    result = shell.run()
    assert result.exit_code == 0
    assert "docs: 3 added" in result.stdout
    assert "3 files of other kinds were passed over: .png 2, .svg 1" in result.stdout
    assert "1 hidden file or folder was passed over" in result.stdout
    assert "JSONL" not in result.stdout
    assert "copy.md: same content as a.md" in result.stdout
    assert "b.txt: read as gb18030" in result.stdout
    shell.write({"c.txt": "设备的保修期为三年，请联系售后部门。".encode("gb18030")})
    told = shell.json()
    assert (told["added"], told["unchanged"], told["encodings"]) == (["c.txt"], 3, {"gb18030": 1})
    assert told["otherEncodings"][0]["encoding"] == "gb18030"
    assert (told["otherKinds"], told["hidden"]) == ({".png": 2, ".svg": 1}, 1)


def test_pages_that_could_not_be_read_are_told_of_what_is_read_anew(shell: Shell) -> None:
    scanned = pdf([PdfPage().text(72, 760, "The fee is 30 euros."), PdfPage().picture(), PdfPage().picture()])
    shell.write({"a.pdf": scanned})
    told = shell.json()
    assert told["added"] == ["a.pdf"]
    [warning] = told["warnings"]
    assert warning["documentId"] == "a.pdf" and "on pages 2-3 of 3;" in warning["warning"]
    assert shell.json()["warnings"] == []
    shell.write({"b.pdf": scanned + b"\n"})
    result = shell.run()
    assert result.exit_code == 0
    assert "  b.pdf: no text, only pictures (a scan?), on pages 2-3 of 3" in result.stdout


def test_jsonl_in_a_folder_is_told_to_be_named_by_itself(shell: Shell) -> None:
    shell.write({"a.md": "a", "faq.jsonl": json.dumps({"documentId": "q", "text": "Goods can be returned."})})
    said = shell.run().stdout
    assert "1 file of another kind was passed over: .jsonl 1" in said
    assert "must be named by itself: attest ingest FOLDER/corpus.jsonl --corpus docs" in said
    assert shell.json(source=shell.folder / "faq.jsonl")["added"] == ["q"]


@pytest.mark.parametrize("name", ["faq.jsonl", "a.md"])
def test_a_corpus_profile_beside_a_file_counts(shell: Shell, name: str) -> None:
    line = json.dumps({"documentId": "a.md", "text": "Goods can be returned."})
    shell.write({"faq.jsonl": line, "a.md": "Goods can be returned."})
    ingest = ["ingest", str(shell.folder / name), "--corpus", "docs"]
    refused = CliRunner().invoke(cli, ingest)
    assert refused.exit_code == 2
    assert "nothing says who may see it" in refused.stderr
    shell.write({"corpus.toml": 'name = "docs"\ntitle = "FAQ"\ndefault_access = { allow = ["*"] }'})
    assert "1 added" in CliRunner().invoke(cli, ingest).stdout
    profile = services().engine.registry.corpus_profile("docs")
    assert profile is not None
    assert profile["title"] == "FAQ"


def test_the_profile_of_another_corpus_is_not_taken(shell: Shell) -> None:
    text = 'name = "public-pages"\ndefault_access = { allow = ["*"] }'
    shell.write({"corpus.toml": text, "a.md": "Goods can be returned."})
    refused = CliRunner().invoke(cli, ["ingest", str(shell.folder), "--corpus", "docs"])
    assert isinstance(refused.exception, InvalidInput)
    assert "is the profile of corpus 'public-pages', not of 'docs'" in str(refused.exception)
    assert services().engine.registry.corpus_profile("docs") is None
    assert list(services().engine.registry.scan("docs")) == []


def test_missing_files_are_deleted_up_to_the_share(shell: Shell) -> None:
    shell.write({f"{n}.md": f"page {n}" for n in range(3)})
    shell.json()
    (shell.folder / "1.md").rename(shell.folder / "one.md")
    told = shell.run()
    assert told.exit_code == 0
    assert "one.md: renamed from 1.md; 1.md is still in the corpus" in told.stdout
    assert (
        "1 document is still in the corpus though its file is gone; --delete-missing deletes it"
        in told.stdout
    )
    stopped = shell.json("--delete-missing", code=2)
    assert (stopped["gone"], stopped["deleted"]) == (["1.md"], [])
    assert "nothing was deleted" in stopped["stopped"]
    assert shell.json("--delete-missing", "--max-deletions", "25%")["deleted"] == ["1.md"]
    assert shell.json("--delete-missing", "--max-deletions", "100%")["deleted"] == []


@pytest.mark.parametrize("share", ["101%", "-1", "a fifth", "20%%", ""])
def test_a_share_is_a_percentage(shell: Shell, share: str) -> None:
    result = shell.run("--max-deletions", share)
    assert result.exit_code == 2
    assert "no percentage" in result.stderr


def test_a_commit_is_read_with_its_own_settings_and_addresses(shell: Shell) -> None:
    shell.git("init", "-q")
    shell.write({"a.md": "then", "corpus.toml": 'name = "docs"\ntitle = "Then"', "drafts/d.md": "draft"})
    shell.git("add", "-A")
    shell.git("commit", "-q", "-m", "x")
    shell.write({"a.md": "now", "corpus.toml": 'name = "docs"\ntitle = "Now"', "new.md": "new"})
    template = "https://git.example/{path}?at={commit}"
    told = shell.json("--git", "HEAD", "--url-template", template, "--exclude", "drafts/**")
    assert told["added"] == ["a.md"]
    told = shell.json("--delete-missing")
    assert (told["added"], told["updated"], told["gone"]) == (["drafts/d.md", "new.md"], ["a.md"], [])


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (["--git", "HEAD"], "not a git repository"),
        (["--url-template", "javascript:{path}"], "http(s)"),
        (["--url-template", "https://x.example/"], "{path}"),
        (["--url-template", "https://x.example/{path}/{branch}"], "{branch}"),
        (["--url-template", "https://x.example/{path}@{commit}"], "--git"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(
    shell: Shell, options: list[str], reason: str
) -> None:
    shell.write({"a.md": "a"})
    result = shell.run(*options)
    assert result.exit_code not in (0, None)
    assert reason in str(result.exception) + result.output


@pytest.mark.parametrize("options", [["--delete-missing"], ["--git", "HEAD"]])
def test_some_options_are_for_folders(shell: Shell, options: list[str]) -> None:
    shell.write({"a.md": "a"})
    result = shell.run(*options, source=shell.folder / "a.md")
    assert "folder" in str(result.exception) + result.output


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty.md": ("", "it is empty"),
    "empty.docx": ("", "it is empty"),
    "blank.txt": (" \n\f\n", "no text"),
    "binary.txt": (bytes(range(256)) * 8, "binary"),
    "picture.md": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 8, "binary"),
    "latin.txt": (("L'été dernier, déjà très élevé, à Genève. " * 3).encode("latin-1"), "encoding"),
    "cut.txt": ("\ufeff设备的保修期".encode("utf-16-le")[:-1], "begins like"),
    "front.md": ("---\naccess: {allow: [", "front matter"),
    "rule.md": ("---\naccess: {allow: [eng]}\n---\nx", "not a subject"),
    "long.md": (f"---\nid: {'x' * 5000}\n---\nx", "longer"),
    "\x1b[2J\n.txt": ("", "it is empty"),
}


def test_bad_files_are_listed_with_their_reason_and_the_rest_goes_on(shell: Shell) -> None:
    shell.write(
        {name: content for name, (content, _) in BAD.items()} | {"good.md": "good", "z.md": "good too"}
    )
    (shell.folder / "loop.md").symlink_to(shell.folder / "loop.md")
    told = shell.json(code=2)
    assert told["added"] == ["good.md", "z.md"]
    refused = {one["source"]: one["reason"] for one in told["refused"]}
    assert set(refused) == {*BAD, "loop.md"}
    for name, (_, reason) in BAD.items():
        assert reason in refused[name]
    result = shell.run()
    assert result.exit_code == 2
    assert "0 added, 0 updated, 2 unchanged, 12 refused" in result.stdout
    assert "\x1b" not in result.output, "a name must not command the terminal"
    assert "refused \\x1b[2J\\n.txt: it is empty" in result.stderr


@pytest.mark.slow
def test_deep_long_and_large_files_are_read_or_refused_in_time(shell: Shell) -> None:
    shell.write(
        {
            "quotes.md": ">" * 100_000 + " deep",
            "lists.md": "".join("  " * n + "- deep\n" for n in range(300)),
            "deep.html": "<div>" * 20_000 + "deep",
            "tables.html": "<table><tr><td>" * 500 + "deep",
            "line.txt": "设备的保修期为两年。" * 170_000,
            "pages.txt": "a line of text\n\f" * 20_000,
            "rows.md": "| a | b |\n|---|---|\n" + "".join(f"| {n} | x |\n" for n in range(5_000)),
            "rows.html": "<table>" + "".join(f"<tr><td>{n}</td></tr>" for n in range(5_000)) + "</table>",
            "z.md": "the rest",
        }
    )
    result = shell.run("--json")
    told = json.loads(result.stdout)
    assert "z.md" in told["added"]
    assert {"line.txt", "pages.txt", "rows.md", "rows.html", "quotes.md"} <= set(told["added"])
    assert all("please report" not in one["reason"] for one in told["refused"]), told["refused"]
