"""attest doctor"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click

from service.cli.shared import as_json, echo_json, needs, services
from service.domain.generations import live_alias
from service.domain.ports import Engine, Generator, Message, Prompt
from service.errors import AttestError, GenerationFailed
from service.offline.rights import pending
from service.offline.work import as_seen, jobs_of
from service.online.rerank.registry import read_catalogue

_MODEL_S = 5.0  # what a language model may take for a word


@needs("operator")
@click.command("doctor", epilog="\b\nExample:\n  attest doctor --json")
@as_json
def doctor_command(as_json: bool) -> None:
    """What is configured, what answers, what is wrong. Exit code 1 when something needs a hand."""
    from service.bootstrap import data_folder

    opened = services()
    findings: dict[str, str] = {}
    try:
        findings |= opened.online.ready()
        findings |= opened.engine.facts()
        if opened.online.story.writer is not None:
            findings["language model"] = _language_model(opened.online.story.writer.generator)
        findings["embedder"] = f"ok: {opened.embedder.identity}, {opened.embedder.dimension} dimensions"
        for corpus in opened.engine.registry.corpora():
            findings[f"corpus {corpus}"] = _corpus(opened.engine, corpus, opened.embedder.identity)
            waiting = sum(review.state == "open" for review in opened.engine.reviews.scan(corpus))
            if waiting:
                findings[f"corpus {corpus}, reviews"] = f"ok: {waiting} claims to look at; attest review list"
            findings |= {
                f"corpus {corpus}, {what}": finding
                for what, finding in _left_behind(opened.engine, corpus, opened.offline.mapping_version)
            }
    except AttestError as error:
        findings[error.code] = error.message
    root = opened.settings.rerank_models_dir or data_folder("rerank_models")
    for name, faults in read_catalogue(root).faults.items():
        findings[f"reranker {name}"] = "; ".join(faults)
    if as_json:
        echo_json({"engine": opened.settings.engine, "findings": findings})
    else:
        click.echo(f"engine: {opened.settings.engine}, prefix {opened.settings.prefix}")
        for part, finding in findings.items():
            click.echo(f"  {part:<24} {finding}")
    if any(not finding.startswith(("ok", "degraded")) for finding in findings.values()):
        sys.exit(1)


def _language_model(generator: Generator) -> str:
    """Asks it for a word: that it answers at all is all that is looked at."""
    try:
        generator.reply(Prompt((Message("user", "Say: ready"),), None, 200), _MODEL_S)
    except GenerationFailed as failed:
        return f"degraded: {generator.identity} gives no whole reply ({failed.kind})"
    return f"ok: {generator.identity}"


def _corpus(engine: Engine, corpus: str, embedder: str) -> str:
    behind = engine.generations.aliases(corpus).get(live_alias(engine.prefix, corpus), ())
    if not behind:
        return "degraded: nothing is live yet"
    if len(behind) > 1:
        return f"the live alias stands on {len(behind)} generations; run attest repair {corpus}"
    manifest = engine.builds.get(behind[0])
    if manifest is None:
        return f"{behind[0]} is live without a manifest; run attest repair {corpus}"
    if manifest.processors.embedder != embedder:
        return _other_embedder(corpus, behind[0], manifest.processors.embedder, embedder)
    waiting = sum(1 for _ in pending(engine, corpus))
    if waiting:
        return (
            f"degraded: {waiting} changes of rights are still to be spread; run attest access resume {corpus}"
        )
    return f"ok: {behind[0]}, {len(manifest.documents)} documents, {manifest.chunks} chunks"


def _other_embedder(corpus: str, generation: str, built_with: str, runs: str) -> str:
    """Identities are "folder@version": another folder can be named, another version is that of another release."""
    folder = built_with.partition("@")[0]
    start = "" if folder == runs.partition("@")[0] else f"start it with ATTEST_EMBEDDER={folder}, or "
    return (
        f"{generation} was built with {built_with}, this service runs {runs}, so nothing is answered from it; "
        f"{start}attest build {corpus}, then attest publish {corpus}"
    )


def _left_behind(engine: Engine, corpus: str, mapping: str) -> Iterator[tuple[str, str]]:
    """What belongs to nothing any more, or to an earlier release; nothing of it is searched by mistake."""
    manifests = list(engine.builds.scan(corpus))
    indices = set(engine.generations.names(corpus))
    with_index = {m.generation for m in manifests if m.state not in ("pruned", "failed", "building")}
    for name in sorted(indices - {m.generation for m in manifests}):
        yield name, f"an index without a manifest; run attest repair {corpus}"
    for name in sorted(with_index - indices):
        yield name, f"a manifest without its index; run attest repair {corpus}"
    for alias, behind in engine.generations.aliases(corpus).items():
        if len(behind) > 1 and alias != live_alias(engine.prefix, corpus):
            yield alias, f"stands on {len(behind)} generations; run attest repair {corpus}"
        for name in sorted(set(behind) - indices):
            yield alias, f"stands on {name}, which is not there; run attest repair {corpus}"
    jobs = jobs_of(engine.jobs, corpus)
    building = any(job.kind == "build" and not job.is_over for job in jobs)
    for manifest in manifests:
        if manifest.state in ("building", "validating") and not building:
            yield (
                manifest.generation,
                f"degraded: half built and nobody at work; attest build {corpus} goes on or clears it",
            )
        if manifest.state == "live" and manifest.processors.mapping != mapping:
            yield (
                manifest.generation,
                f"was made with {manifest.processors.mapping}, this release has {mapping}; attest build {corpus}",
            )
    for stored in engine.jobs.scan(corpus):
        if not stored.is_over and as_seen(stored).is_over:
            yield (
                f"job {stored.job_id}",
                f"degraded: {stored.kind} is lost, its process is gone; run the same command again",
            )
