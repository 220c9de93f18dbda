"""attest compare"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json, needs
from service.evaluation import stored

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
        echo_json(
            {
                "first": runs[0]["made"],
                "second": runs[1]["made"],
                "buckets": {
                    bucket: {
                        name: asdict(value) | {"clear": value.clear} for name, value in differences.items()
                    }
                    for bucket, differences in found.items()
                },
            }
        )
        return
    for name in runs[0]["made"]:
        before, after = (run["made"].get(name) for run in runs)
        if before != after and name not in ("at", "seconds"):
            click.echo(f"{name}: {before} → {after}")
    for bucket, differences in found.items():
        shown = {name: value for name, value in differences.items() if every or value.clear}
        cases = next(iter(differences.values())).cases if differences else 0
        click.echo(f"== {bucket}: {cases} cases" + ("" if shown else ", no clear difference"))
        for name, value in shown.items():
            click.echo(
                f"  {name:<24} {value.mean:+.3f} [{value.low:+.3f}, {value.high:+.3f}]"
                f"  {value.better} better, {value.worse} worse"
            )
