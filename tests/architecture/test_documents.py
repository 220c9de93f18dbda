"""What the documents state as fact is so: samples can be read, tables and figures are those of the code."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from local_stack.distribution import VERSION
from local_stack.start import ES_PORT, REDIS_PORT
from service.access.rules import read_access
from service.bootstrap import EMBEDDERS
from service.domain.rights import Access
from service.domain.sources import SourceItem
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.folder_rules import FolderRules
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import LARGEST, MEDIA_TYPES, read_sources
from service.profiles.corpus import read_corpus_profile
from service.profiles.rules import compile_rules
from service.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
DECISIONS = sorted((REPOSITORY / "docs" / "decisions").glob("*.md"))
FOLDER_DOCUMENT = REPOSITORY / "docs" / "documents.md"


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


def sample(language: str, having: str) -> str:
    """The one block of that language in documents.md that has these words."""
    blocks = re.findall(
        rf"^```{language}\n(.*?)^```", FOLDER_DOCUMENT.read_text(encoding="utf-8"), re.M | re.S
    )
    (block,) = [block for block in blocks if having in block]
    return str(block)


def rights(rule: Any) -> Access:
    return read_access(rule, tenant="demo", where="documents.md")


# ── docs/security.md ────────────────────────────────────────────────────────────────────────────────────


def test_every_threat_names_tests_that_there_are() -> None:
    rows = re.findall(r"^\| [^|]+ \| [^|]+ \| ([^|]+) \|$", read("docs/security.md"), re.M)[2:]
    assert len(rows) >= 20
    for row in rows:
        named = re.findall(r"`(tests/[^`]+\.py)`", row)
        assert named, row
        assert [name for name in named if not (REPOSITORY / name).is_file()] == []


# ── docs/configuration.md ───────────────────────────────────────────────────────────────────────────────


def test_the_defaults_and_meanings_of_settings_are_those_of_the_code() -> None:
    rows = re.findall(
        r"^\| `ATTEST_(\w+)` \| (?:`([^`]*)`|–) \| (.*) \|$", read("docs/configuration.md"), re.MULTILINE
    )
    stated = {name.lower(): (default, meaning) for name, default, meaning in rows}
    actual = {
        name: ("" if field.default is None else str(field.default), field.description)
        for name, field in Settings.model_fields.items()
    }
    assert stated == actual


# ── docs/documents.md ───────────────────────────────────────────────────────────────────────────────────


def test_the_front_matter_of_the_sample_is_a_rule() -> None:
    text = sample("yaml", "Payroll")
    item = SourceItem("pay.md", f"{text}\nx\n".encode(), "text/markdown", "pay.md")
    parsed = parse(item)
    assert parsed.title == "Payroll calendar"
    assert rights(parsed.front_matter["access"]) == Access(
        tenant="demo",
        labels=frozenset({"confidential"}),
        allow=frozenset({"group:hr", "user:alice"}),
        deny=frozenset({"group:interns"}),
    )


@pytest.mark.parametrize(
    ("name", "allow"), [("a.md", "*"), ("hr/pay.md", "group:hr"), ("hr/2026/pay.md", "group:hr")]
)
def test_the_sample_of_folder_rules_does_what_is_said(tmp_path: Path, name: str, allow: str) -> None:
    (tmp_path / "access.toml").write_text(sample("toml", "[[rule]]"), encoding="utf-8")
    rule, _ = FolderRules(tmp_path).rule_for(tmp_path / name)
    assert rights(rule).allow == {allow}


def test_the_sample_of_jsonl_is_a_document(tmp_path: Path) -> None:
    line = sample("json", "documentId")
    assert len(line.splitlines()) == 1
    (tmp_path / "all.jsonl").write_text(line, encoding="utf-8")
    (item,) = read_sources([tmp_path / "all.jsonl"])
    assert isinstance(item, SourceItem)
    assert (item.document_id, item.title) == ("faq/returns", "Returns")
    assert rights(item.access_rule).allow == {"*"}
    assert parse(item).canonical_text == json.loads(line)["text"]


def test_the_sample_of_a_corpus_profile_can_be_read_and_its_rule_does_what_is_said(tmp_path: Path) -> None:
    (tmp_path / "corpus.toml").write_text(sample("toml", "[[out_of_scope]]"), encoding="utf-8")
    profile = read_corpus_profile(tmp_path)
    assert profile is not None
    assert rights(profile.default_access).allow == {"*"}
    (rule,) = compile_rules([entry.model_dump() for entry in profile.out_of_scope], where="documents.md")
    assert rule.matches("what is the price?")
    assert not rule.matches("what is the list price?")
    assert not rule.matches("what is the prize?")


def test_every_ending_that_is_read_is_in_the_table() -> None:
    rows = re.findall(r"^\| (`\.[^|]+) \|", FOLDER_DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    endings = {ending for row in rows for ending in re.findall(r"`(\.\w+)`", row)}
    assert endings == set(MEDIA_TYPES) | {".jsonl", ".ndjson"}


def test_the_figures_of_files_and_chunks_are_those_of_the_code() -> None:
    text = FOLDER_DOCUMENT.read_text(encoding="utf-8")
    assert f"more than {LARGEST // 1024**2} MiB" in text
    assert f"about {Chunker().limit:g} tokens" in text
    assert re.search(rf"other\s+character {Chunker().latin:g}\)", text)
    assert Chunker().stretch == 2, "documents.md says: up to twice the size"


# ── the others ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["README.md", "docs/docker.md", "docs/local-stack.md"])
def test_elasticsearch_is_named_in_its_version(name: str) -> None:
    named = set(re.findall(r"[Ee]lasticsearch[ -](\d+\.\d+\.\d+)", read(name)))
    assert named == {VERSION}


def test_the_ports_of_the_local_stack_are_those_of_the_code() -> None:
    text = read("docs/local-stack.md")
    assert re.search(rf"`up --es-port N` .*\| {ES_PORT} \|", text)
    assert re.search(rf"`up --redis-port N` .*\| {REDIS_PORT} \|", text)


def test_the_decision_about_the_embedder_tells_its_real_size() -> None:
    folder = EMBEDDERS / "multilingual-e5-small"
    assert f"{(folder / 'model.onnx').stat().st_size / 1e6:.0f} MB" in read(
        "docs/decisions/0005-the-embedder-is-in-the-repository.md"
    )
    pieces = len(json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"])
    assert f"{pieces:,} pieces" in read("docs/decisions/0005-the-embedder-is-in-the-repository.md")


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [path.name[:5] for path in DECISIONS] == [f"{n:04}-" for n in range(1, len(DECISIONS) + 1)]
    assert len(DECISIONS) >= 5


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_three_parts_and_fits_a_page(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.startswith(f"# {int(path.name[:4])}. ")
    assert re.findall(r"^\*\*(\w+)\.\*\*", text, re.MULTILINE) == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 40


def test_pinned_versions_hold_every_dependency() -> None:
    """An installation by constraints.txt leaves no package of ours to chance."""
    project = tomllib.loads(read("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in wanted}  # type: ignore[index]
    pinned = {
        line.partition("==")[0].lower().replace("_", "-")
        for line in read("constraints.txt").splitlines()
        if "==" in line
    }
    assert sorted(names - pinned) == []
