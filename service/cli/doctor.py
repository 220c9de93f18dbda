"""attest doctor"""

from __future__ import annotations

import sys

import click

from service.cli.shared import as_json, echo_json, needs, services
from service.domain.generations import live_alias
from service.domain.ports import Engine
from service.errors import AttestError
from service.offline.rights import pending
from service.online.rerank.registry import read_catalogue


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
        findings["embedder"] = f"ok: {opened.embedder.identity}, {opened.embedder.dimension} dimensions"
        for corpus in opened.engine.registry.corpora():
            findings[f"corpus {corpus}"] = _corpus(opened.engine, corpus, opened.embedder.identity)
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


def _corpus(engine: Engine, corpus: str, embedder: str) -> str:
    behind = engine.generations.aliases(corpus).get(live_alias(engine.prefix, corpus), ())
    if not behind:
        return "degraded: nothing is live yet"
    if len(behind) > 1:
        return f"the live alias stands on {len(behind)} generations; attest publish {corpus} --generation NAME mends it"
    manifest = engine.builds.get(behind[0])
    if manifest is None:
        return f"{behind[0]} is live without a manifest"
    if manifest.processors.embedder != embedder:
        return f"{behind[0]} was built with {manifest.processors.embedder}, this service runs {embedder}"
    waiting = sum(1 for _ in pending(engine, corpus))
    if waiting:
        return (
            f"degraded: {waiting} changes of rights are still to be spread; run attest access resume {corpus}"
        )
    return f"ok: {behind[0]}, {len(manifest.documents)} documents, {manifest.chunks} chunks"
