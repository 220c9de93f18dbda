"""attest bench"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from service.adapters.redis_cache import NoCache
from service.cli.experiment import engine_option, throwaway
from service.cli.serving import served
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
from service.evaluation.building import Bench, BuildTimes, SwitchTime
from service.evaluation.readers import Asked


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


@bench_command.command("builds")
@click.argument("source", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--documents", default=300, show_default=True, type=click.IntRange(2), help="At most so many.")
@click.option(
    "--questions",
    "question_file",
    type=click.Path(exists=True, path_type=Path),
    help='Also build and switch while readers ask these: JSONL with a "query" or "question" in each line.',
)
@click.option("--clients", default=2, show_default=True, type=click.IntRange(1, 64), help="Readers who ask.")
@engine_option
@as_json
def builds_command(
    source: Path,
    documents: int,
    question_file: Path | None,
    clients: int,
    engine: str | None,
    as_json: bool,
) -> None:
    """A build of the texts below SOURCE from nothing, after one in a hundred changed, and after one in a hundred was
    deleted, with the switches between them; the copy, the corpus and its indices are thrown away.

    With --questions also what readers of a real `attest serve` notice of a build, a publish and a rollback.
    """
    questions = _questions(question_file) if question_file else []
    asked: list[Asked] = []
    copies = TemporaryDirectory(prefix="attest-bench-")
    with copies as folder, throwaway(engine) as services, progress_bars() as progress:
        bench = Bench.of(services.offline, source, Path(folder), documents, progress)
        builds, switches = bench.alone()
        if questions:
            settings = services.settings.model_copy(update={"redis_url": None})
            with served(settings, clients) as (url, headers):
                more = bench.asked(url, headers, questions)
            builds, switches, asked = builds + more[0], switches + more[1], more[2]
    ratio = round(builds[0].build_seconds / builds[1].build_seconds, 1)
    peak = round(peak_memory_mib())
    if as_json:
        told = {
            "builds": [asdict(one) for one in builds],
            "switches": [asdict(one) for one in switches],
            "asked": [asdict(one) for one in asked],
        }
        echo_json({**told, "ratio": ratio, "peakMiB": peak})
        return
    _print_builds(builds, switches, asked)
    click.echo(f"A change of one in a hundred builds {ratio} times as fast as from nothing; peak {peak} MiB.")


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


def _print_builds(
    builds: Sequence[BuildTimes], switches: Sequence[SwitchTime], asked: Sequence[Asked]
) -> None:
    heads = ("documents", "chunks", "read s", "build s", "vectors", "terms", "index MB", "archive MB")
    click.echo(f"{'build':<28}" + "".join(f"{head:>11}" for head in heads))
    for one in builds:
        figures = (
            f"{one.documents}",
            f"{one.chunks}",
            f"{one.read_seconds:.1f}",
            f"{one.build_seconds:.1f}",
            f"{one.vectors_reused}",
            f"{one.terms_reused}",
            f"{one.index_bytes / 1e6:.1f}",
            f"{one.archive_bytes / 1e6:.1f}",
        )
        click.echo(f"{one.what:<28}" + "".join(f"{figure:>11}" for figure in figures))
    for switch in switches:
        click.echo(f"{switch.what:<28}{switch.seconds:>8.1f} s")
    for met in asked:
        faults = ", ".join(f"{count} {fault}" for fault, count in met.faults.items()) or "no fault"
        click.echo(
            f"{met.what:<32}{met.seconds:>7.1f} s{met.requests:>7} requests{met.per_second:>7.2f} a second, "
            f"p50 {met.p50_ms:.0f} ms, p95 {met.p95_ms:.0f} ms, {faults}"
        )
