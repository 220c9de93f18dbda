"""attest publish · rollback · prune · repair"""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.offline.generations.gates import Force
from service.profiles.corpus import rollback_window_h


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
    with progress_bars() as progress:
        manifest, switched = services().offline.publish(corpus, generation, progress, force=forced)
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
    with progress_bars() as progress:
        _, switched = services().offline.rollback(corpus, progress)
    if as_json:
        touched = {"withdrawn": switched.withdrawn, "rightsChanged": switched.rights_changed}
        echo_json({"live": switched.live, "before": switched.before, "changed": switched.changed, **touched})
        return
    click.echo(f"live: {switched.live}" + (f" (was {switched.before})" if switched.before else ""))
    click.echo(
        f"Since it was built {switched.withdrawn} of its documents were withdrawn and the rights of "
        f"{switched.rights_changed} have changed; both stay as they are now."
    )


@needs("operator")
@click.command(
    "prune", epilog="\b\nExample:\n  attest prune handbook --keep 1\n  attest prune handbook --keep 1 --yes"
)
@click.argument("corpus")
@click.option(
    "--keep", default=1, show_default=True, type=click.IntRange(0), help="Retained generations to keep."
)
@click.option(
    "--window-hours",
    type=click.FloatRange(0, 8760),
    help="Keep what was live within these hours; when left out, what corpus.toml says, else "
    "ATTEST_ROLLBACK_WINDOW_HOURS.",
)
@click.option("--yes", is_flag=True, help="Drop them; without it they are only named.")
@click.option("--dry-run", is_flag=True, help="Only say what would go, whatever else is given.")
@as_json
def prune_command(
    corpus: str, keep: int, window_hours: float | None, yes: bool, dry_run: bool, as_json: bool
) -> None:
    """Drop old generations: never one that is live or being built, nor what was live within the window."""
    opened = services()
    profile = opened.engine.registry.corpus_profile(corpus)
    usual_h = rollback_window_h(profile, opened.settings.rollback_window_hours)
    window_h = usual_h if window_hours is None else window_hours
    only_named = dry_run or not yes
    names = opened.offline.prune(corpus, keep=keep, dry_run=only_named, window_h=window_h)
    if as_json:
        echo_json({"pruned": names, "dryRun": only_named})
        return
    for name in names:
        click.echo(("would drop " if only_named else "dropped ") + name)
    if not names:
        click.echo("nothing to drop")
    elif only_named:
        click.echo("nothing was dropped; --yes does it")


@needs("operator")
@click.command("repair", epilog="\b\nExample:\n  attest repair handbook --dry-run\n  attest repair handbook")
@click.argument("corpus")
@click.option("--dry-run", is_flag=True, help="Only say what is wrong and what would be done.")
@as_json
def repair_command(corpus: str, dry_run: bool, as_json: bool) -> None:
    """Compare aliases, indices, manifests and rights of CORPUS, and mend what has one right mending.

    What a person must decide is told with the command for it, and left alone; the exit code is 1 then.
    """
    findings = services().offline.repair(corpus, dry_run=dry_run)
    if as_json:
        echo_json({"found": [asdict(finding) for finding in findings], "dryRun": dry_run})
    for finding in () if as_json else findings:
        mark = "yours  " if finding.by_hand else "would  " if dry_run else "mended "
        click.echo(f"{mark}{finding.what}: {finding.mending}")
    if not findings and not as_json:
        click.echo("nothing is at odds")
    if any(finding.by_hand for finding in findings):
        sys.exit(1)
