"""What the commands share: services from the environment, the role each needs, who asks, output and progress."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from service.access.policy import principal_of
from service.bootstrap import Services, build
from service.domain.rights import Principal
from service.errors import AttestError, Unauthenticated
from service.settings import Settings, load_settings

Command = TypeVar("Command", bound=Callable[..., Any])
ClickCommand = TypeVar("ClickCommand", bound=click.Command)

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def services() -> Services:
    settings = load_settings()
    acting = acting_principal(settings)
    return build(settings, acting=f"user:{acting.subject}" if acting else None)


def acting_principal(settings: Settings) -> Principal | None:
    """Whom ATTEST_TOKEN lets act; None where it is not set, and the person at the shell acts.

    A token that does not hold is refused, an empty one too: what should have given it may have failed.
    """
    if settings.token is None:
        return None
    from service.web.auth import TokenChecker

    try:
        return TokenChecker.of(settings).principal_of_token(settings.token.get_secret_value().strip())
    except Unauthenticated as error:
        raise AttestError(
            "ATTEST_TOKEN holds no token that is valid now; get a new one, or unset it.", code=error.code
        ) from error


def needs(role: str) -> Callable[[ClickCommand], ClickCommand]:
    """The role that a command, and every command of a group, needs: its help says so, and a token is held to it."""

    def mark(command: ClickCommand) -> ClickCommand:
        command.epilog = f"{command.epilog or ''}\n\nNeeds the role: {role}.".strip("\n")
        if isinstance(command, click.Group):
            add = command.add_command
            command.add_command = lambda cmd, name=None: add(mark(cmd), name)  # type: ignore[method-assign]
        elif command.callback is not None:
            command.callback = _held_to(role, command.callback)
        return command

    return mark


def _held_to(role: str, callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    def held(*args: Any, **kwargs: Any) -> Any:
        acting = acting_principal(load_settings())
        if acting is not None:
            from service.web.auth import require

            require(acting, role)
        return callback(*args, **kwargs)

    return held


def echo_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def principal_options(command: Command) -> Command:
    """Options that say who asks: `asking` reads them. Where ATTEST_TOKEN is set, it says so instead."""
    for option in reversed(
        (
            click.option("--tenant", default="demo", show_default=True, help="Tenant of the principal."),
            click.option(
                "--user", default="anonymous", show_default=True, help="User name of the principal."
            ),
            click.option(
                "--group", "groups", multiple=True, help="A group of the principal; may be repeated."
            ),
            click.option(
                "--label", "labels", multiple=True, help="A label the principal holds besides public."
            ),
        )
    ):
        command = option(command)
    return command


def asking(who: Mapping[str, Any]) -> Principal:
    """Who asks: the token's principal, else the one of `principal_options`."""
    acting = acting_principal(load_settings())
    if acting is None:
        return principal(who["tenant"], who["user"], who["groups"], who["labels"])
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(str(parameter.name))
        if parameter.name in who and given is not ParameterSource.DEFAULT:
            raise click.UsageError(
                f"{parameter.opts[0]} cannot stand beside ATTEST_TOKEN, which says who asks; leave it out, or unset "
                "the variable."
            )
    return acting


def principal(tenant: str, user: str, groups: tuple[str, ...], labels: tuple[str, ...]) -> Principal:
    return principal_of(
        tenant=tenant, subject=user, groups=list(groups), labels=list(labels), roles=["reader", "inspect"]
    )


@contextmanager
def progress_bars() -> Iterator[Callable[[str, int, int], None]]:
    """A bar per step on stderr; nothing is drawn where stderr is not a terminal but a line at each tenth."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _lines(console)
        return
    columns = (TextColumn("{task.description:<10}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as bars:
        tasks: dict[str, TaskID] = {}

        def advance(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step, total=total or None)
            bars.update(tasks[step], completed=done, total=total or None)

        yield advance


def _lines(console: Console) -> Callable[[str, int, int], None]:
    said: dict[str, int] = {}

    def advance(step: str, done: int, total: int) -> None:
        tenth = done * 10 // total if total else done // 500
        if said.get(step) != tenth:
            said[step] = tenth
            console.print(f"{step}: {done}" + (f" of {total}" if total else ""), highlight=False)

    return advance


def peak_memory_mib() -> float:
    """Largest resident size of this process so far; the system counts it in KiB, on macOS in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
