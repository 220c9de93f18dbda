"""attest ingest"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import click

from service.cli.shared import as_json, echo_json, needs, peak_memory_mib, progress_bars, services
from service.errors import InvalidInput
from service.offline.story import IngestReport
from service.profiles.corpus import CorpusProfile, read_corpus_profile


@needs("operator")
@click.command(
    "ingest",
    epilog="""\b
Example:
  attest ingest ./handbook --corpus handbook --access '{"allow": ["*"]}'
  attest build handbook && attest publish handbook""",
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--corpus", required=True, help="The corpus the documents go into.")
@click.option(
    "--access", help='Access for documents without a rule of their own, as JSON: {"allow": ["group:eng"]}.'
)
@as_json
def ingest_command(sources: tuple[Path, ...], corpus: str, access: str | None, as_json: bool) -> None:
    """Read SOURCES (folders, files, JSONL) into archive and registry.

    Markdown, HTML and plain text. Nothing is written for unchanged documents. A file that cannot be read is listed with
    the reason and stops nothing; the exit code is 2 then.
    """
    profile = _profile(corpus, sources)
    began = time.perf_counter()
    with progress_bars() as progress:
        report = services().offline.ingest(corpus, sources, profile, _access(access), progress)
    if as_json:
        echo_json(
            {
                "corpus": corpus,
                "added": report.added,
                "updated": report.updated,
                "unchanged": len(report.unchanged),
                "refused": [{"source": source, "reason": reason} for source, reason in report.refused],
                "unfinished": [{"documentId": name, "reason": reason} for name, reason in report.unfinished],
            }
        )
    else:
        _print(corpus, report, time.perf_counter() - began)
    if report.refused or report.unfinished:
        sys.exit(2)


def _profile(corpus: str, sources: tuple[Path, ...]) -> CorpusProfile:
    """The first `corpus.toml` found at the root of a source; else the corpus's stored profile; else a plain one."""
    for source in sources:
        found = read_corpus_profile(source) if source.is_dir() else None
        if found is not None:
            return found
    stored = services().engine.registry.corpus_profile(corpus)
    return CorpusProfile.model_validate(stored) if stored else CorpusProfile(name=corpus)


def _access(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    try:
        value = json.loads(text)
    except ValueError as error:
        raise InvalidInput(f"--access is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInput('--access must be a JSON object such as {"allow": ["*"]}.')
    return value


def _print(corpus: str, report: IngestReport, seconds: float) -> None:
    click.echo(
        f"{corpus}: {len(report.added)} added, {len(report.updated)} updated, {len(report.unchanged)} unchanged, "
        f"{len(report.refused)} refused in {seconds:.1f} s, peak memory {peak_memory_mib():.0f} MiB"
    )
    for source, reason in report.refused:
        click.echo(f"  refused {source}: {reason}", err=True)
    for document_id, reason in report.unfinished:
        click.echo(
            f"  {document_id}: its new rights hold, but not every chunk carries them yet ({reason}); "
            f"run `attest access resume {corpus}`",
            err=True,
        )
