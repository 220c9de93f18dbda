"""attest compare"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from service.cli.shared import as_json, echo_json, needs
from service.evaluation import stored
from service.evaluation.statistics import Difference

Buckets = Mapping[str, Mapping[str, Difference]]
_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@needs("inspect")
@click.command("compare", epilog="\b\nExample:\n  attest compare before.json after.json")
@click.argument("first", type=_FILE)
@click.argument("second", type=_FILE)
@click.option(
    "--every", is_flag=True, help="Also print the differences that the interval cannot tell from none."
)
@as_json
def compare_command(first: Path, second: Path, every: bool, as_json: bool) -> None:
    """Print what a run kept by `attest eval --store` changed against another, case by case, with 95 % intervals.

    Runs of different cases, or of another version of the same, are refused.
    """
    runs = [stored.read(path) for path in (first, second)]
    found = stored.compare(*runs)
    if as_json:
        made = {"first": runs[0]["made"], "second": runs[1]["made"]}
        echo_json({**made, "buckets": differences_json(found)})
        return
    print_made(*runs)
    print_differences(found, every=every)


def differences_json(found: Buckets) -> dict[str, Any]:
    return {
        bucket: {name: asdict(value) | {"clear": value.clear} for name, value in differences.items()}
        for bucket, differences in found.items()
    }


def print_made(first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    """What the two were made of, where it differs."""
    for name in first["made"]:
        before, after = (run["made"].get(name) for run in (first, second))
        if before != after and name not in ("at", "seconds"):
            click.echo(f"{name}: {before} → {after}")


def print_differences(found: Buckets, *, every: bool) -> None:
    for bucket, differences in found.items():
        shown = {name: value for name, value in differences.items() if every or value.clear}
        cases = next(iter(differences.values())).cases if differences else 0
        click.echo(f"== {bucket}: {cases} cases" + ("" if shown else ", no clear difference"))
        for name, value in shown.items():
            click.echo(
                f"  {name:<24} {value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"
                f"  {value.better} better, {value.worse} worse"
            )
