"""attest experiment"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from service.bootstrap import Services, build
from service.cli.shared import as_json, echo_json
from service.evaluation.experiments import Expectation, lesson
from service.settings import load_settings

SAMPLES = Path(__file__).parent.parent / "samples"


@click.group("experiment", epilog="\b\nExample:\n  attest experiment lesson --engine embedded")
def experiment_command() -> None:
    """Experiments: each prints what it expected and saw, and exits 0 only when all of it holds."""


@experiment_command.command("lesson")
@click.option("--engine", type=click.Choice(["embedded", "elasticsearch"]), help="ATTEST_ENGINE otherwise.")
@as_json
def lesson_command(engine: str | None, as_json: bool) -> None:
    """The teaching corpus: answer, refusals, restricted document, shifted citation, hand-computed measures."""
    with throwaway(engine) as services:
        report("lesson", lesson.run(services.offline, services.online, SAMPLES / "lesson"), as_json)


@contextmanager
def throwaway(engine: str | None) -> Iterator[Services]:
    """Services on a prefix and a folder of their own, erased afterwards: experiments touch no real corpus."""
    with TemporaryDirectory(prefix="attest-experiment-") as folder:
        changes: dict[str, Any] = {"engine": engine} if engine else {}
        prefix = f"experiment-{uuid.uuid4().hex[:8]}"
        services = build(load_settings(prefix=prefix, data_dir=Path(folder), **changes))
        try:
            yield services
        finally:
            services.engine.erase()


def report(name: str, expectations: list[Expectation], as_json: bool) -> None:
    """Prints every expectation; exit code 1 when one does not hold."""
    holds = all(expectation.holds for expectation in expectations)
    if as_json:
        echo_json({"experiment": name, "holds": holds, "expectations": [e.to_json() for e in expectations]})
    else:
        for e in expectations:
            click.echo(f"{'ok  ' if e.holds else 'FAIL'} {e.what}: expected {e.expected}, saw {e.seen}")
        click.echo(f"{name}: {sum(e.holds for e in expectations)} of {len(expectations)} hold")
    if not holds:
        sys.exit(1)
