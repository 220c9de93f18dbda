"""attest build · check · gate · generations"""

from __future__ import annotations

import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

import click

from service.cli.shared import as_json, echo_json, needs, peak_memory_mib, progress_bars, services
from service.domain.generations import Manifest
from service.offline.generations.switch import live_generation
from service.offline.overview import Row, overview
from service.web.present_ops import generation_json, manifest_json


@needs("operator")
@click.command("build", epilog="\b\nExample:\n  attest build handbook --publish")
@click.argument("corpus")
@click.option("--publish", "and_publish", is_flag=True, help="Publish it when it passes its checks.")
@as_json
def build_command(corpus: str, and_publish: bool, as_json: bool) -> None:
    """Build a new generation of CORPUS beside the live one, and check it. The live one is not touched."""
    offline = services().offline
    with progress_bars() as progress:
        manifest = offline.build(corpus, progress)
        if and_publish:
            manifest, _ = offline.publish(corpus, manifest.generation, progress)
    if as_json:
        echo_json(_json(manifest))
        return
    timings = manifest.timings
    seconds = timings.get("fillSeconds", 0.0)
    click.echo(
        f"{manifest.generation}: {manifest.state}, {len(manifest.documents)} documents, {manifest.chunks} chunks in "
        f"{seconds:.1f} s ({manifest.chunks / max(seconds, 0.001):.1f} chunks a second, "
        f"{int(timings.get('vectorsReused', 0))} vectors reused), peak memory {peak_memory_mib():.0f} MiB"
    )
    _print_checks(manifest.checks)
    if not and_publish:
        click.echo(f"Next: attest publish {corpus}")


@needs("operator")
@click.command("check", epilog="\b\nExample:\n  attest check handbook")
@click.argument("corpus")
@click.option("--generation", help="A generation's name; the live one when left out.")
@as_json
def check_command(corpus: str, generation: str | None, as_json: bool) -> None:
    """Run the integrity checks on a generation as it is now. Exit code 1 when one does not hold."""
    opened = services()
    name = generation or live_generation(opened.engine, corpus)
    if name is None:
        raise click.UsageError(f"Corpus {corpus!r} has no live generation; name one with --generation.")
    with progress_bars() as progress:
        results = [result.to_json() for result in opened.offline.check(name, progress)]
    if as_json:
        echo_json({"generation": name, "checks": results})
    else:
        click.echo(name)
        _print_checks(results)
    if not all(result["passed"] for result in results):
        sys.exit(1)


@needs("operator")
@click.command("gate", epilog="\b\nExample:\n  attest gate handbook")
@click.argument("corpus")
@click.option("--generation", help="The generation to look at; the newest ready one when left out.")
@as_json
def gate_command(corpus: str, generation: str | None, as_json: bool) -> None:
    """Look at a generation as a publish would, and switch nothing. Exit code 1 when a gate does not hold."""
    with progress_bars() as progress:
        manifest, results = services().offline.gate(corpus, generation, progress)
    if as_json:
        echo_json({"generation": manifest.generation, "gates": [result.to_json() for result in results]})
    else:
        click.echo(manifest.generation)
        for result in results:
            mark = "ok  " if result.passed else "FAIL"
            limit = f" | allowed: {result.limit}" if result.limit else ""
            click.echo(f"  {mark} {result.name:<18} {result.found}{limit}")
            for line in () if result.passed else result.evidence:
                click.echo(f"       {line}")
    if not all(result.passed for result in results):
        sys.exit(1)


@needs("operator")
@click.command("generations", epilog="\b\nExample:\n  attest generations handbook")
@click.argument("corpus", required=False)
@click.option("--log", "log", is_flag=True, help="Also each generation's history: state, when, who, why.")
@as_json
def generations_command(corpus: str | None, log: bool, as_json: bool) -> None:
    """List generations: state, age, what went in, size, aliases, processors, gates."""
    engine = services().engine
    names = [corpus] if corpus else engine.registry.corpora()
    rows = [row for name in names for row in overview(engine, name)]
    if as_json:
        shown = manifest_json if log else generation_json
        echo_json([shown(row) for row in rows])
        return
    if not rows:
        click.echo("no generations yet; attest ingest, then attest build")
        return
    lines = [_COLUMNS, *(_cells(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    histories = [[], *(row.manifest.history if log else [] for row in rows)]
    for cells, history in zip(lines, histories, strict=True):
        padded = (cell.ljust(width) for cell, width in zip(cells, widths, strict=True))
        click.echo("  ".join(padded).rstrip())
        for step in history:
            why = f": {step['reason']}" if step.get("reason") else ""
            click.echo(f"    {step['at']}  {step['state']} by {step['who']}{why}")


_COLUMNS = (
    "generation",
    "state",
    "age",
    "documents",
    "chunks",
    "size",
    "alias",
    "embedder",
    "profile",
    "gates",
    "",
)


def _cells(row: Row) -> tuple[str, ...]:
    manifest = row.manifest
    return (
        manifest.generation,
        manifest.state,
        _age(manifest.created_at),
        str(len(manifest.documents)),
        str(manifest.chunks),
        "-" if row.size is None else f"{row.size / 1024**2:.1f} MiB",
        " ".join("@" + alias.rpartition("@")[2] for alias in row.aliases) or "-",
        manifest.processors.embedder,
        str(manifest.corpus_profile.get("profile") or "-"),
        _gates(manifest),
        manifest.reason,
    )


def _gates(manifest: Manifest) -> str:
    """What the last look before a publish found."""
    if not manifest.gates:
        return "-"
    passed = sum(1 for gate in manifest.gates if gate["passed"])
    forced = sum(1 for gate in manifest.gates if gate.get("forced"))
    return f"{passed}/{len(manifest.gates)}" + (f", {forced} forced" if forced else "")


def _age(created_at: str) -> str:
    minutes = int((datetime.now(UTC) - datetime.fromisoformat(created_at)).total_seconds() // 60)
    if minutes < 120:
        return f"{max(0, minutes)} min"
    return f"{minutes // 60} h" if minutes < 48 * 60 else f"{minutes // (24 * 60)} d"


def _json(manifest: Manifest) -> dict[str, Any]:
    return {
        "generation": manifest.generation,
        "corpus": manifest.corpus,
        "corpusVersion": manifest.corpus_version,
        "state": manifest.state,
        "documents": len(manifest.documents),
        "chunks": manifest.chunks,
        "processors": asdict(manifest.processors),
        "timings": manifest.timings,
        "checks": manifest.checks,
        "createdAt": manifest.created_at,
        "replaced": manifest.replaced,
        "reason": manifest.reason,
    }


def _print_checks(results: list[dict[str, Any]]) -> None:
    for result in results:
        mark = "ok  " if result["passed"] else "FAIL"
        offenders = "" if result["passed"] else "  " + ", ".join(result["offenders"])
        click.echo(f"  {mark} {result['name']:<22} {result['found']}{offenders}")
