"""The command line: one file per command group.

Takes: arguments and the environment's settings. Returns: printed results, exit code 0 only for success.
Called by: people, scripts/ and CI.
Never does: anything the stories could not do for the web as well.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from service.errors import AttestError, Cancelled

# Command → module that holds it. A module is imported when its command runs, so `--help` stays quick.
_COMMANDS = {
    "ingest": "ingest",
    "build": "generations",
    "check": "generations",
    "gate": "generations",
    "publish": "switching",
    "rollback": "switching",
    "prune": "switching",
    "repair": "switching",
    "generations": "generations",
    "jobs": "jobs",
    "review": "review",
    "access": "access",
    "ask": "ask",
    "search": "ask",
    "source": "ask",
    "inspect": "ask",
    "chunks": "chunks",
    "eval": "evaluate",
    "compare": "compare",
    "tune": "tune",
    "experiment": "experiment",
    "rerankers": "rerankers",
    "bench": "bench",
    "serve": "serve",
    "token": "token",
    "doctor": "doctor",
    "demo": "demo",
}


class _LazyGroup(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _COMMANDS.get(cmd_name)
        if module is None:
            return None
        command = getattr(import_module(f"service.cli.{module}"), f"{cmd_name}_command")
        return command if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            raise Cancelled("Stopped at the keyboard.") from error


@click.group(
    cls=_LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Settings come from the environment (docs/configuration.md). Start with: scripts/demo",
)
@click.version_option(package_name="attest")
def cli() -> None:
    """Search and answers over your own documents; every claim is proven, or refused."""


def main() -> None:
    """Entry point: every failure of ours is one sentence on stderr, never a traceback. Exit code 1, or 130 where it was
    stopped at the keyboard, as shells have it."""
    try:
        cli(standalone_mode=True)
    except AttestError as error:
        click.echo(f"attest: {error.code}: {error.message}", err=True)
        sys.exit(130 if isinstance(error.__cause__, KeyboardInterrupt) else 1)
