"""attest ingest"""

from __future__ import annotations

import contextlib
import json
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from service.cli.ingest_output import print_report, report_to_json
from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.domain.sources import Selection
from service.errors import Cancelled, InvalidInput
from service.evaluation.gates import golden_cases
from service.offline.ingest.git_source import at_commit
from service.offline.ingest.sources import LARGEST, is_read
from service.offline.ingest.worker import ParseWorker
from service.profiles.corpus import CorpusProfile, read_corpus_profile


class _Share(click.ParamType[float]):
    """A percentage: `20%` or `20`."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = re.fullmatch(r"([0-9]{1,3}(?:\.[0-9]+)?) ?%?", str(value).strip())
        if found is None or float(found[1]) > 100:
            self.fail(f"{value!r} is no percentage from 0% to 100%.", param, ctx)
        return float(found[1]) / 100


@needs("operator")
@click.command(
    "ingest",
    epilog="""\b
Examples:
  attest ingest ./handbook --corpus handbook --access '{"allow": ["*"]}'
  attest ingest ./handbook --corpus handbook --delete-missing
  attest ingest ./repo/docs --corpus docs --git v2.1 --exclude 'drafts/**' \\
      --url-template 'https://git.example/docs/{path}?at={commit}'
  attest build handbook && attest publish handbook""",
)
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--corpus", required=True, help="The corpus the documents go into.")
@click.option(
    "--access", help='Access for documents without a rule of their own, as JSON: {"allow": ["group:eng"]}.'
)
@click.option(
    "--include",
    multiple=True,
    metavar="GLOB",
    help="Only files whose path below the folder matches; may be repeated.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="GLOB",
    help="No files that match, even included ones; may be repeated.",
)
@click.option(
    "--git",
    "committish",
    metavar="COMMIT",
    help="Read the folders as they are in this commit (or tag, or branch) of their git repository.",
)
@click.option(
    "--url-template",
    default="",
    metavar="URL",
    help="Where a document can be seen: an http(s) address with {path}, and with {commit} where --git is given.",
)
@click.option(
    "--delete-missing", is_flag=True, help="Delete documents that were read from these folders and are gone."
)
@click.option(
    "--max-deletions",
    type=_Share(),
    default="20%",
    show_default=True,
    help="Delete none if more than this share of a folder's documents would go.",
)
@as_json
def ingest_command(
    sources: tuple[Path, ...],
    corpus: str,
    access: str | None,
    include: tuple[str, ...],
    exclude: tuple[str, ...],
    committish: str | None,
    url_template: str,
    delete_missing: bool,
    max_deletions: float,
    as_json: bool,
) -> None:
    """Read SOURCES (folders, files, JSONL) into archive and registry.

    Nothing is written for unchanged documents. A file that cannot be read is listed with the reason and stops nothing;
    the exit code is 2 then, and when --delete-missing would have deleted too much.
    """
    if delete_missing and not all(source.is_dir() for source in sources):
        raise InvalidInput("--delete-missing is for folders; name no single file beside it.")
    _check_template(url_template, with_commit=committish is not None)
    selection = Selection(include, exclude, url_template)
    began = time.perf_counter()
    taken = 0
    try:
        with _opened(sources, committish, selection) as (folders, chosen), ParseWorker() as worker:
            profile = _profile(corpus, folders)
            with progress_bars() as bars:

                def progress(step: str, done: int, total: int) -> None:
                    nonlocal taken
                    taken = done - 1  # It is told of each before it is taken.
                    bars(step, done, total)

                report = services().offline.ingest(
                    corpus,
                    folders,
                    profile,
                    _access(access),
                    progress,
                    selection=chosen,
                    most_deletions=max_deletions if delete_missing else None,
                    parse=worker.parse,
                )
    except KeyboardInterrupt as error:
        raise Cancelled(
            f"This ingest was stopped at the keyboard. The first {taken} documents are dealt with, and what was new of "
            "them is kept for the next build. The same command goes on: it passes over what it has read."
        ) from error
    if as_json:
        echo_json(report_to_json(corpus, report))
    else:
        print_report(corpus, report, time.perf_counter() - began)
    if report.refused or report.unfinished or report.stopped:
        sys.exit(2)


def _check_template(template: str, *, with_commit: bool) -> None:
    fields = set(re.findall(r"\{[^{}]*\}", template))
    if template and not (template.startswith(("https://", "http://")) and "{path}" in fields):
        raise InvalidInput("--url-template must be an http(s) address with {path} in it.")
    if unknown := fields - {"{path}", "{commit}"}:
        raise InvalidInput(f"--url-template knows {{path}} and {{commit}}, not {min(unknown)}.")
    if "{commit}" in fields and not with_commit:
        raise InvalidInput("--url-template speaks of {commit}; say which with --git.")


@contextlib.contextmanager
def _opened(
    sources: tuple[Path, ...], committish: str | None, selection: Selection
) -> Iterator[tuple[tuple[Path, ...], Selection]]:
    """The folders to read: the sources themselves, or their files at a commit in folders that stand in for them."""
    if committish is None:
        yield sources, selection
        return
    if not all(source.is_dir() for source in sources):
        raise InvalidInput("--git reads folders; name the folder, and the file by --include.")
    with contextlib.ExitStack() as stack:
        commits = [stack.enter_context(at_commit(source, committish, is_read, LARGEST)) for source in sources]
        ids = {commit.id for commit in commits}
        if len(ids) > 1:
            raise InvalidInput(
                f"{committish!r} is not the same commit in all of these folders; read them apart."
            )
        originals = {commit.folder: source for commit, source in zip(commits, sources, strict=True)}
        yield tuple(originals), replace(selection, commit=ids.pop(), stand_ins=originals)


def _profile(corpus: str, sources: tuple[Path, ...]) -> CorpusProfile:
    """The first `corpus.toml` at the root of a folder, or beside a file that is named by itself, as with access.toml;
    else the corpus's stored profile; else a plain one."""
    for folder in (source if source.is_dir() else source.parent for source in sources):
        found = read_corpus_profile(folder)
        if found is not None:
            # Another corpus's tenant and default rights would be taken over in silence.
            if found.name != corpus:
                raise InvalidInput(
                    f"{folder}/corpus.toml is the profile of corpus {found.name!r}, not of {corpus!r}: "
                    "name the corpus as it does, or give this one its own."
                )
            golden_cases(found.gates.cases)  # A mistake in them is told now, not at the next publish.
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
