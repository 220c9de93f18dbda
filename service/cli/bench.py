"""attest bench"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import click

from service.adapters.redis_cache import NoCache
from service.cli.shared import (
    as_json,
    asking,
    echo_json,
    needs,
    peak_memory_mib,
    principal_options,
    progress_bars,
    services,
)
from service.errors import InvalidInput
from service.evaluation.bench import PathTimes, time_path


@needs("inspect")
@click.group("bench", epilog="\b\nExample:\n  attest bench path --corpus tidb --questions cases.jsonl")
def bench_command() -> None:
    """Benchmarks; ratios are of one run."""


@bench_command.command("path")
@click.option("--corpus", required=True)
@click.option(
    "--questions",
    "question_file",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help='JSONL with a "query" or "question" in each line.',
)
@click.option("--limit", default=200, show_default=True, type=click.IntRange(1))
@principal_options
@as_json
def path_command(corpus: str, question_file: Path, limit: int, as_json: bool, **who: object) -> None:
    """p50 and p95 of every stage of the online path, and whose work the time is. The cache is left out."""
    caller = asking(who)
    online = replace(services().online, cache=NoCache())
    with progress_bars() as progress:
        times = time_path(
            online,
            corpus,
            _questions(question_file)[:limit],
            caller,
            progress,
        )
    if as_json:
        echo_json(asdict(times))
    else:
        _print(times)


@bench_command.command("read")
@click.argument("sources", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@as_json
def read_command(sources: tuple[Path, ...], as_json: bool) -> None:
    """Read and cut every document of SOURCES, and check it: what is refused and why, blocks by kind, coverage, spans.

    Exit code 1 when a character is lost or a span does not come back. Nothing is stored.
    """
    from service.evaluation.reading import read_trees

    with progress_bars() as progress:
        told = read_trees(sources, progress)
    figures: dict[str, object] = {
        "read": told.read,
        "formats": dict(told.formats),
        "refused": [{"source": source, "reason": reason} for source, reason in told.refused],
        "blocks": dict(told.blocks.most_common()),
        "chunks": told.chunks,
        "megabytes": round(told.raw_bytes / 1e6, 2),
        "parseSeconds": round(told.parse_seconds, 2),
        "megabytesASecond": round(told.megabytes_a_second, 2),
        "overheadToBareLibrary": {kind: round(ratio, 2) for kind, ratio in told.overhead.items()},
        "cutSeconds": round(told.cut_seconds, 2),
        "coverage": told.covered_share,
        "excluded": dict(told.excluded),
        "lostCharacters": told.lost,
        "losses": told.losses,
        "spans": told.spans,
        "brokenSpans": told.broken_spans[:20],
        **{name: int(count) for name, count in told.links.items()},
        "sentencesOnTheirPage": told.placed,
        "sentencesElsewhere": len(told.displaced),
        "elsewhere": told.displaced[:20],
        "peakMiB": round(peak_memory_mib()),
    }
    if as_json:
        echo_json(figures)
    else:
        for name, value in figures.items():
            click.echo(f"{name:<22}{value}")
    if told.lost or told.broken_spans:
        sys.exit(1)


def _questions(path: Path) -> list[str]:
    questions = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            entry = json.loads(line)
            text = entry.get("query") or entry.get("question")
            if not isinstance(text, str):
                raise InvalidInput(f'{path.name}: every line needs a "query" or a "question".')
            questions.append(text)
    return questions


def _print(times: PathTimes) -> None:
    click.echo(f"{times.questions} questions, {times.answered} answered; milliseconds")
    click.echo(f"  {'stage':<16}{'p50':>9}{'p95':>9}")
    for name, (p50, p95) in times.stages.items():
        click.echo(f"  {name:<16}{p50:>9.1f}{p95:>9.1f}")
    click.echo(f"  {'whole request':<16}{times.total[0]:>9.1f}{times.total[1]:>9.1f}")
    for name, share in times.shares.items():
        click.echo(f"  {name:<32}{share:>7.1%}")
