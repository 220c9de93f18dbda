"""What the commands share: services from the environment, a principal from options, output and progress."""

from __future__ import annotations

import json
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from service.access.policy import principal_of
from service.bootstrap import Services, build
from service.domain.rights import Principal
from service.settings import load_settings

Command = TypeVar("Command", bound=Callable[..., Any])

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")


def services() -> Services:
    return build(load_settings())


def echo_json(value: Any) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def principal_options(command: Command) -> Command:
    """Options that say who asks. On the command line the operator chooses; over HTTP the token says it."""
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
