"""Commands that the documents show can be typed as they stand: subcommands, options and scripts exist."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path

import click
import pytest

from service.cli import cli
from service.web.auth import ROLES

REPOSITORY = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted(REPOSITORY.glob("docs/**/*.md")),
]
ENDS = {"|", "&&", "||", ";", ">", "2>&1"}


def shell_lines(path: Path) -> list[str]:
    """Lines of the document's shell blocks, continued ones joined."""
    blocks = re.findall(r"^```sh\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def words(line: str) -> list[str]:
    return shlex.split(line.replace("$(", " ; ").replace(")", " ; "), comments=True)


def calls(program: str) -> list[tuple[str, list[str]]]:
    """(document, arguments) of every call of the program in a shell block or in code within a sentence."""
    found = []
    for path in DOCUMENTS:
        inline = re.findall(rf"`((?:\.venv/bin/)?{program} [^`]+)`", path.read_text(encoding="utf-8"))
        for line in [*shell_lines(path), *inline]:
            # In a table a bar within code is escaped.
            parts = words(line.replace("\\|", "|"))
            for place, word in enumerate(parts):
                if word == program or word.endswith(f"/{program}"):
                    rest = parts[place + 1 :]
                    end = next((n for n, part in enumerate(rest) if part in ENDS), len(rest))
                    found.append((path.name, rest[:end]))
    return found


def faults(command: click.Command, arguments: list[str]) -> list[str]:
    """What of the arguments the command line does not know."""
    rest = list(arguments)
    while isinstance(command, click.Group):
        if not rest or rest[0].startswith("-"):
            break
        context = click.Context(command)
        found = command.get_command(context, rest[0])
        if found is None:
            return [f"{rest[0]} is no command of {command.name}"]
        command, rest = found, rest[1:]
    known = {name for p in command.params for name in (*p.opts, *p.secondary_opts)} | {"--help", "-h"}
    return [part for part in rest if part.startswith("--") and part.partition("=")[0] not in known]


def test_calls_are_found() -> None:
    """The tests below look at what is really there."""
    seen = calls("attest")
    assert ("README.md", ["rollback", "handbook"]) in seen
    assert ("docker.md", ["build", "handbook", "--publish"]) in seen
    assert len(seen) > 30


def test_a_wrong_call_is_seen() -> None:
    assert faults(cli, ["publsh", "handbook"]) == ["publsh is no command of cli"]
    assert faults(cli, ["build", "handbook", "--publsh"]) == ["--publsh"]
    assert faults(cli, ["access", "take", "handbook"]) == ["take is no command of access"]


@pytest.mark.parametrize(("document", "arguments"), calls("attest"), ids=lambda value: str(value)[:60])
def test_attest_knows_what_the_documents_call(document: str, arguments: list[str]) -> None:
    assert faults(cli, arguments) == []


@cache
def help_of(script: str, *subcommand: str) -> str:
    """The script's own help, run by a shell that finds nothing else in the way."""
    done = subprocess.run(
        [REPOSITORY / script, *subcommand, "--help"],
        capture_output=True,
        text=True,
        timeout=30,
        cwd=REPOSITORY,
        env={**os.environ, "COLUMNS": "200"},
        check=True,
    )
    return done.stdout


SCRIPTS = ("demo", "setup", "stack", "test")


@pytest.mark.parametrize(
    ("script", "document", "arguments"),
    [(name, *call) for name in SCRIPTS for call in calls(f"scripts/{name}")],
    ids=lambda value: str(value)[:60],
)
def test_scripts_know_the_options_that_the_documents_give(
    script: str, document: str, arguments: list[str]
) -> None:
    command = (
        next((a for a in arguments if a in ("up", "down", "status", "env")), None)
        if script == "stack"
        else None
    )
    text = help_of(f"scripts/{script}") + (help_of(f"scripts/{script}", command) if command else "")
    options = [a.partition("=")[0] for a in arguments if a.startswith("--")]
    assert [option for option in options if not re.search(rf"{option}\b", text)] == []


def every_command(group: click.Group = cli, path: tuple[str, ...] = ()) -> list[tuple[str, click.Command]]:
    """Each command and each group, by the words one types."""
    found: list[tuple[str, click.Command]] = []
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        found.append((" ".join((*path, name)), command))
        if isinstance(command, click.Group):
            found += every_command(command, (*path, name))
    return found


def role_in_help(command: click.Command) -> str | None:
    said = command.get_help(click.Context(command)).rstrip().splitlines()[-1].strip()
    found = re.fullmatch(r"Needs the role: (\w+)\.", said)
    return found[1] if found else None


def test_every_command_says_which_role_it_needs() -> None:
    roles = {name: role_in_help(command) for name, command in every_command()}
    assert [name for name, role in roles.items() if role not in ROLES] == []
    # A command of a group needs what the group needs.
    assert [name for name, role in roles.items() if role != roles[name.split()[0]]] == []


def test_a_command_without_a_role_is_seen() -> None:
    assert role_in_help(click.Command("x", help="Does things.")) is None
    assert role_in_help(click.Command("x", epilog="Needs the role: reader. Perhaps.")) is None


def test_the_table_of_roles_is_that_of_the_commands() -> None:
    rows = re.findall(
        r"^\| (\w+) \| (.+) \|$", (REPOSITORY / "docs" / "configuration.md").read_text("utf-8"), re.MULTILINE
    )
    stated = {name: role for role, text in rows if role in ROLES for name in re.findall(r"`(\w+)`", text)}
    assert stated == {n: role_in_help(command) for n, command in every_command() if " " not in n}
