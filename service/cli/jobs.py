"""attest jobs: list · show · cancel · run"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import click

from service.bootstrap import Services, build
from service.cli.shared import as_json, echo_json, needs, services
from service.domain.jobs import Job
from service.domain.ports import Engine
from service.errors import AttestError, Conflict, InvalidInput
from service.offline.generations.gates import Force
from service.offline.generations.switch import live_generation
from service.offline.story import quiet
from service.offline.work import Desk, as_seen, jobs_of, request_cancel
from service.settings import load_settings
from service.web.present_ops import job_json


class _Listing(click.Group):
    """`attest jobs handbook` lists, as `attest jobs` does: what is no command is the name of a corpus."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if not args or (args[0] not in self.commands and args[0] not in ctx.help_option_names):
            args = ["list", *args]
        return super().parse_args(ctx, args)


@needs("operator")
@click.group("jobs", cls=_Listing, epilog="\b\nExample:\n  attest jobs\n  attest jobs list handbook")
def jobs_command() -> None:
    """Builds, publishes and other long work: list it, look into it, stop it. Without a command: list."""


@jobs_command.command("list", epilog="\b\nExample:\n  attest jobs list handbook")
@click.argument("corpus", required=False)
@as_json
def list_command(corpus: str | None, as_json: bool) -> None:
    """List jobs, of CORPUS or of all, the newest last."""
    engine = services().engine
    names = [corpus] if corpus else engine.registry.corpora()
    jobs = [job for name in names for job in jobs_of(engine.jobs, name)]
    if as_json:
        echo_json([job_json(job) for job in jobs])
        return
    for job in jobs:
        click.echo(_line(job))
    if not jobs:
        click.echo("no jobs yet")


@jobs_command.command("show", epilog="\b\nExample:\n  attest jobs show 5f0c…")
@click.argument("job_id")
@as_json
def show_command(job_id: str, as_json: bool) -> None:
    """Show a job: how far it is, its log, and what came of it."""
    job = as_seen(_job(services().engine, job_id))
    if as_json:
        echo_json(job_json(job))
        return
    click.echo(_line(job))
    for line in job.log:
        click.echo(f"  {line}")
    for name, value in job.result.items():
        click.echo(f"  {name}: {value}")


@jobs_command.command("cancel", epilog="\b\nExample:\n  attest jobs cancel 5f0c…")
@click.argument("job_id")
@as_json
def cancel_command(job_id: str, as_json: bool) -> None:
    """Ask a job to stop. It does at its next step; what is live stays."""
    engine = services().engine
    request_cancel(engine.jobs, _job(engine, job_id).job_id)
    job = as_seen(_job(engine, job_id))
    if as_json:
        echo_json(job_json(job))
    elif job.is_over:
        click.echo(f"{job.kind} of {job.corpus} is over: {job.state}")
    else:
        click.echo(f"{job.kind} of {job.corpus} was asked to stop and will at its next step")


@jobs_command.command("run", epilog="\b\nExample:\n  attest jobs run 5f0c…")
@click.argument("job_id")
def run_command(job_id: str) -> None:
    """Run a queued job in this process, as who queued it. The service starts its jobs so."""
    settings = load_settings()
    queued = _job(build(settings).engine, job_id)
    if queued.state != "queued":
        raise Conflict(f"Job {job_id} is {queued.state}; only one that is queued can be run.")
    opened = build(settings, acting=queued.who)
    try:
        _run(opened, queued)
    except Exception as error:
        # What failed before the work began is written here; what failed in it, has been.
        job = opened.engine.jobs.get(job_id)
        if job is not None and not job.is_over:
            message = error.message if isinstance(error, AttestError) else f"ended by {type(error).__name__}"
            now = datetime.now(UTC).isoformat(timespec="seconds")
            opened.engine.jobs.write(replace(job, state="failed", reason=message, updated_at=now))
        raise


def _run(opened: Services, job: Job) -> None:
    offline, corpus, given = opened.offline, job.corpus, job.arguments
    named: str | None = given.get("generation")
    if job.kind == "build":
        offline.build(corpus, quiet, job=job)
    elif job.kind == "publish":
        force = Force(given["force"]) if given.get("force") else None
        offline.publish(corpus, named, force=force, job=job)
    elif job.kind == "rollback":
        offline.rollback(corpus, job=job)
    elif job.kind == "prune":
        offline.prune(
            corpus,
            keep=given["keep"],
            dry_run=given["dryRun"],
            window_h=given["windowHours"],
            job=job,
        )
    elif job.kind == "repair":
        offline.repair(corpus, dry_run=given["dryRun"], job=job)
    elif job.kind in ("check", "gate"):
        with Desk(opened.engine.jobs, opened.who).working("look", job, quiet) as work:
            if job.kind == "gate":
                manifest, gates = offline.gate(corpus, named, work.progress)
                name, results = manifest.generation, [result.to_json() for result in gates]
            else:
                name = named or live_generation(opened.engine, corpus) or ""
                results = [result.to_json() for result in offline.check(name, work.progress)]
            passed = all(result["passed"] for result in results)
            work.keep({"generation": name, "passed": passed, "results": results})
    else:
        raise InvalidInput(f"There is no work called {job.kind!r}.")


def _job(engine: Engine, job_id: str) -> Job:
    job = engine.jobs.get(job_id)
    if job is None:
        raise InvalidInput(f"There is no job {job_id!r}; `attest jobs` lists them.")
    return job


def _line(job: Job) -> str:
    far = f"{job.step} {job.done}/{job.total}" if job.step and not job.is_over else ""
    parts = (job.job_id, job.corpus, f"{job.kind:<8}", f"{job.state:<9}", job.who, job.updated_at)
    return "  ".join([*parts, *filter(None, (far, job.reason))])
