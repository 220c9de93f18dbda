"""ATTEST_TOKEN: commands act as the token's principal, with its roles, rights and name in the audit."""

from __future__ import annotations

import os
import pwd
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

import service.cli.shared
from service.bootstrap import build
from service.cli import cli, main
from service.cli.shared import needs
from service.errors import AttestError, NotFound, RoleRequired
from service.settings import Settings
from service.web.auth import ROLES, issue_token
from tests.architecture.test_commands import every_command, role_in_help

SECRET = "0123456789abcdef0123456789abcdef"
Act = Callable[..., str]


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [
        name for name in os.environ if name.startswith("ATTEST_") or name in ("ES_URL", "REDIS_URL")
    ]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ATTEST_TOKEN_SECRET", SECRET)
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ATTEST_PREFIX", "test-acting")


@pytest.fixture
def act(monkeypatch: pytest.MonkeyPatch) -> Act:
    def as_holder(*roles: str, **changes: Any) -> str:
        who = {"tenant": "demo", "subject": "Alice", "groups": [], "labels": [], "ttl_s": 60, **changes}
        settings = Settings.model_validate({"token_secret": SECRET, "token": None})
        token = issue_token(settings, roles=list(roles), **who)
        monkeypatch.setenv("ATTEST_TOKEN", token)
        return token

    return as_holder


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, arguments)


def arguments_of(name: str, command: click.Command, folder: Path) -> list[str]:
    """Enough for the command to be called: its role is asked for before anything of it is done."""
    given = name.split()
    for parameter in command.params:
        if isinstance(parameter, click.Argument) and (parameter.required or parameter.nargs == -1):
            given.append(some_argument(parameter.type, folder))
        elif parameter.required:
            given += [parameter.opts[0], str(folder) if isinstance(parameter.type, click.Path) else "x"]
    return given


def some_argument(kind: click.ParamType, folder: Path) -> str:
    if isinstance(kind, click.Choice):
        return str(kind.choices[0])
    return some_path(kind, folder) if isinstance(kind, click.Path) else "handbook"


def some_path(kind: click.Path, folder: Path) -> str:
    if kind.dir_okay:
        return str(folder)
    (folder / "file.json").write_text("{}", encoding="utf-8")
    return str(folder / "file.json")


COMMANDS = [(name, c) for name, c in every_command() if not isinstance(c, click.Group)]


@pytest.mark.parametrize(("name", "command"), COMMANDS, ids=[name for name, _ in COMMANDS])
def test_every_command_is_held_to_its_role(
    name: str, command: click.Command, act: Act, tmp_path: Path
) -> None:
    role = role_in_help(command)
    act(*[other for other in ROLES if other not in (role, "admin")])
    done = run(*arguments_of(name, command, tmp_path))
    assert isinstance(done.exception, RoleRequired), done.output
    assert done.exception.role == role
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("roles", "runs"), [(["operator"], True), (["admin"], True), (["reader"], False), ([], False)]
)
def test_the_role_or_admin_lets_a_command_run(roles: list[str], runs: bool, act: Act) -> None:
    @needs("operator")
    @click.group()
    def group() -> None: ...

    ran = []

    @group.command("do")
    def do() -> None:
        ran.append(1)

    act(*roles)
    done = CliRunner().invoke(group, ["do"])
    assert (done.exit_code == 0) == runs == bool(ran)


def test_a_missing_role_is_one_sentence_and_exit_code_1(
    act: Act, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    act("reader")
    monkeypatch.setattr(sys, "argv", ["attest", "generations"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 1
    assert capsys.readouterr().err == "attest: ROLE_REQUIRED: This needs the role 'operator'.\n"


@pytest.mark.parametrize("token", ["", " ", "x", "a.b.c", "expired", "forged"])
def test_a_token_that_does_not_hold_lets_nobody_act(
    token: str, act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    if token == "expired":
        act("admin", ttl_s=-60)
    elif token == "forged":
        monkeypatch.setenv("ATTEST_TOKEN", act("admin")[:-6] + "AAAAAA")
    else:
        monkeypatch.setenv("ATTEST_TOKEN", token)
    done = run("generations")
    assert isinstance(done.exception, AttestError) and done.exception.code == "UNAUTHENTICATED"
    assert "ATTEST_TOKEN" in done.exception.message


def test_a_token_that_nothing_can_check_lets_nobody_act(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    act("admin")
    monkeypatch.delenv("ATTEST_TOKEN_SECRET")
    assert isinstance(run("generations").exception, AttestError)


@pytest.mark.parametrize("option", ["--tenant", "--user", "--group", "--label"])
@pytest.mark.parametrize(
    "command",
    [
        ("ask", "x", "--corpus", "c"),
        ("search", "x", "--corpus", "c"),
        ("source", "d@0"),
        ("inspect", "0" * 32),
    ],
)
def test_who_asks_is_not_said_twice(act: Act, command: tuple[str, ...], option: str) -> None:
    act("reader", "inspect")
    done = run(*command, option, "demo")
    assert done.exit_code == 2
    assert option in done.output and "ATTEST_TOKEN" in done.output


def test_what_is_asked_is_asked_with_the_token_s_rights(act: Act, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    class Recorded:
        def search(self, question: Any, principal: Any, size: int) -> Any:
            asked.append((question.explain, principal))
            raise NotFound

    class Opened:
        online = Recorded()

    monkeypatch.setattr("service.cli.ask.services", Opened)
    act("reader", groups=["HR"], labels=["Secret"])
    run("search", "x", "--corpus", "c")
    act("reader", "inspect", tenant="other")
    run("search", "x", "--corpus", "c")
    monkeypatch.delenv("ATTEST_TOKEN")
    run("search", "x", "--corpus", "c", "--user", "bob", "--group", "eng")
    [(shown, hr), (inspecting, other), (at_the_shell, bob)] = asked
    assert hr.subjects == {"user:alice", "group:hr", "*"} and hr.labels == {"secret", "public"}
    assert not shown and inspecting and at_the_shell
    assert other.tenant == "other"
    assert bob.subjects == {"user:bob", "group:eng", "*"}


def test_the_audit_names_the_token_s_subject(act: Act) -> None:
    act("operator")
    assert service.cli.shared.services().who == "user:alice"


def test_without_a_token_the_audit_names_the_account(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "user:alice")  # what the environment says is anybody's word
    opened = service.cli.shared.services()
    assert opened.who == pwd.getpwuid(os.getuid()).pw_name
    monkeypatch.setattr(os, "getuid", lambda: 987_654)
    assert build(opened.settings).who == "uid 987654"
