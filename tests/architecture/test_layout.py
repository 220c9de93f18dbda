"""The layout holds: sizes, docstrings, the where-is-it table, documents that point at what exists."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path

import pytest

from service.cli import cli
from service.domain.answers import Reason
from service.settings import Settings

REPOSITORY = Path(__file__).resolve().parents[2]
SERVICE = REPOSITORY / "service"
TRACKED = subprocess.run(
    ["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=True
).stdout.split("\0")[:-1]
MODULES = [name for name in TRACKED if name.endswith(".py") and name.startswith(("service/", "scripts/"))]
DOCS = [
    "README.md",
    "CONTRIBUTING.md",
    "service/ARCHITECTURE.md",
    "es_mappings/README.md",
    *(name for name in TRACKED if re.fullmatch(r"docs/.*\.md", name)),
]
ARCHITECTURE = (SERVICE / "ARCHITECTURE.md").read_text(encoding="utf-8")


def read(name: str) -> str:
    return (REPOSITORY / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_can_be_read_at_one_sitting(name: str) -> None:
    assert len(read(name).splitlines()) <= 400


@pytest.mark.parametrize("name", MODULES)
def test_a_module_says_what_it_is(name: str) -> None:
    assert ast.get_docstring(ast.parse(read(name)))


def test_the_where_is_it_table_names_what_exists() -> None:
    table = ARCHITECTURE.partition("## Where is it?")[2].partition("\n## ")[0]
    places = re.findall(r"\| `([^`]+)` \|$", table, re.MULTILINE)
    assert len(places) > 30
    assert [place for place in places if not (SERVICE / place).exists()] == []


def test_the_stories_name_what_exists() -> None:
    """The paths beside the promises and the steps, in front of the table."""
    before = ARCHITECTURE.partition("## Where is it?")[0]
    places = set(re.findall(r"(?<![\w/.])((?:[a-z_]+/)+(?:[a-z_]+\.(?:py|toml))?)", before))
    assert len(places) > 20
    found = [place for place in places if (SERVICE / place).exists() or (REPOSITORY / place).exists()]
    assert sorted(places.difference(found)) == []


def test_every_folder_with_modules_is_a_package() -> None:
    folders = {Path(name).parent for name in MODULES if name.startswith("service/")}
    assert sorted(f for f in folders if f"{f.as_posix()}/__init__.py" not in TRACKED) == []


def test_every_room_is_in_the_architecture() -> None:
    rooms = {Path(name).parts[1] for name in TRACKED if name.startswith("service/") and name.count("/") > 1}
    assert sorted(room for room in rooms if f"{room}/" not in ARCHITECTURE) == []


def test_every_setting_is_documented_and_no_other() -> None:
    documented = set(re.findall(r"^\| `(ATTEST_[A-Z_]+)`", read("docs/configuration.md"), re.MULTILINE))
    assert documented == {f"ATTEST_{name.upper()}" for name in Settings.model_fields}


@pytest.mark.parametrize("name", DOCS)
def test_links_lead_somewhere(name: str) -> None:
    links = re.findall(r"\]\(([^)#\s]+)[^)]*\)", read(name))
    folder = (REPOSITORY / name).parent
    local = [link for link in links if "://" not in link]
    assert [link for link in local if not (folder / link).exists()] == []


@pytest.mark.parametrize("name", DOCS)
def test_commands_in_the_documents_exist(name: str) -> None:
    blocks = "\n".join(re.findall(r"^```sh\n(.*?)^```", read(name), re.MULTILINE | re.DOTALL))
    for script in re.findall(r"(?:^|\s)(scripts/[a-z-]+)", blocks):
        assert (REPOSITORY / script).is_file(), script
    for command in re.findall(r"(?:^|[\s/])attest ([a-z]+)\b", blocks):
        assert command in cli.list_commands(None), command  # type: ignore[arg-type]


def test_every_public_reason_is_documented() -> None:
    text = read("docs/api.md")
    assert [reason for reason in Reason if f"`{reason}`" not in text] == []
