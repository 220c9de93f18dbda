"""attest build · check · gate · publish · rollback · prune · generations"""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

import click

from service.cli.shared import as_json, echo_json, needs, peak_memory_mib, progress_bars, services
from service.domain.generations import Manifest
from service.offline.generations.gates import Force
from service.offline.generations.switch import live_generation


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
        manifest, _ = offline.publish(corpus, manifest.generation)
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
    results = [result.to_json() for result in opened.offline.check(name)]
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
    manifest, results = services().offline.gate(corpus, generation)
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
@click.command("publish", epilog="\b\nExample:\n  attest publish handbook")
@click.argument("corpus")
@click.option("--generation", help="The generation to make live; the newest ready one when left out.")
@click.option(
    "--force",
    metavar="REASON",
    help="Pass over gates that do not hold, and say why. Integrity and rights cannot be passed over.",
)
@as_json
def publish_command(corpus: str, generation: str | None, force: str | None, as_json: bool) -> None:
    """Make a ready generation live: checks and gates, then one atomic alias call."""
    forced = Force(force) if force is not None else None
    manifest, switched = services().offline.publish(corpus, generation, force=forced)
    if as_json:
        echo_json({"live": switched.live, "before": switched.before, "changed": switched.changed})
        return
    click.echo(f"live: {manifest.generation}" + (f" (was {switched.before})" if switched.before else ""))


@needs("operator")
@click.command("rollback", epilog="\b\nExample:\n  attest rollback handbook")
@click.argument("corpus")
@as_json
def rollback_command(corpus: str, as_json: bool) -> None:
    """Switch back to the generation that was live before. Rights and deletions stay as they are now."""
    _, switched = services().offline.rollback(corpus)
    if as_json:
        echo_json({"live": switched.live, "before": switched.before, "changed": switched.changed})
        return
    click.echo(f"live: {switched.live} (was {switched.before})")


@needs("operator")
@click.command("prune", epilog="\b\nExample:\n  attest prune handbook --keep 1 --dry-run")
@click.argument("corpus")
@click.option(
    "--keep", default=1, show_default=True, type=click.IntRange(0), help="Retained generations to keep."
)
@click.option("--dry-run", is_flag=True, help="Only say what would go.")
@as_json
def prune_command(corpus: str, keep: int, dry_run: bool, as_json: bool) -> None:
    """Drop old generations; never one that is live."""
    names = services().offline.prune(corpus, keep=keep, dry_run=dry_run)
    if as_json:
        echo_json({"pruned": names, "dryRun": dry_run})
        return
    for name in names:
        click.echo(("would drop " if dry_run else "dropped ") + name)
    if not names:
        click.echo("nothing to drop")


@needs("operator")
@click.command("generations", epilog="\b\nExample:\n  attest generations handbook")
@click.argument("corpus", required=False)
@as_json
def generations_command(corpus: str | None, as_json: bool) -> None:
    """List generations with their state, what went in, and the aliases on them."""
    engine = services().engine
    rows: list[dict[str, Any]] = []
    for name in [corpus] if corpus else engine.registry.corpora():
        behind: dict[str, list[str]] = {}
        for alias, generations in engine.generations.aliases(name).items():
            for generation in generations:
                behind.setdefault(generation, []).append(alias)
        rows += [
            {**_json(m), "aliases": sorted(behind.get(m.generation, []))} for m in engine.builds.scan(name)
        ]
    if as_json:
        echo_json(rows)
        return
    for row in rows:
        click.echo(
            f"{row['generation']}  {row['state']:<10} {row['documents']:>6} documents {row['chunks']:>7} chunks  "
            f"{row['createdAt']}  {' '.join(row['aliases'])}"
            + (f"  {row['reason']}" if row["reason"] else "")
        )
        for gate in row["gates"]:
            if gate.get("forced"):
                click.echo(f"  forced past {gate['name']} by {gate['who']} at {gate['at']}: {gate['reason']}")
    if not rows:
        click.echo("no generations yet; attest ingest, then attest build")


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
        "gates": manifest.gates,
        "history": manifest.history,
        "createdAt": manifest.created_at,
        "replaced": manifest.replaced,
        "reason": manifest.reason,
    }


def _print_checks(results: list[dict[str, Any]]) -> None:
    for result in results:
        mark = "ok  " if result["passed"] else "FAIL"
        offenders = "" if result["passed"] else "  " + ", ".join(result["offenders"])
        click.echo(f"  {mark} {result['name']:<22} {result['found']}{offenders}")
