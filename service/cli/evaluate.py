"""attest eval"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from service.bootstrap import Services
from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.cli.sides import compare_sides
from service.evaluation import perturbing, stored
from service.evaluation.cases import Case, load_case_set
from service.evaluation.runs import ANSWER_MEASURES, CaseResult, Figures, Miss, figures, misses, run
from service.profiles.ranking import load_profile

# Printed of each stage; --json and --store have all of them.
_SHOWN = ("recall@1", "recall@5", "recall@10", "recall@50", "mrr@10", "ndcg@10", "passageMrr@10")


@needs("inspect")
@click.command(
    "eval",
    epilog="""\b
Examples:
  attest eval --corpus xquad-zh --cases cases.report.jsonl --limit 50 --store before.json
  attest eval --corpus handbook --cases cases.jsonl --show-misses
  attest eval --corpus handbook --cases cases.jsonl --compare generation:attest-chunks-handbook-cv0123456789ab-g0007""",
)
@click.option("--corpus", required=True)
@click.option(
    "--cases",
    "case_file",
    required=True,
    type=click.Path(exists=True, path_type=Path),
    help="JSONL of cases.",
)
@click.option("--limit", type=click.IntRange(1), help="Ask only the first N cases.")
@click.option("--profile", help="Ranking profile.")
@click.option(
    "--store", type=click.Path(path_type=Path), help="Keep the run as a JSON file, for `attest compare`."
)
@click.option("--perturb", is_flag=True, help="Print how little changes of numbers and wording move instead.")
@click.option(
    "--compare",
    "other",
    metavar="KIND:NAME",
    help="Also ask generation:NAME, profile:NAME or corpus:NAME, and print both side by side.",
)
@click.option(
    "--show-misses",
    is_flag=True,
    help="Print the cases that fall short: first those answered that must be refused, then other wrong answers, "
    "then those refused that could be answered.",
)
@as_json
def eval_command(
    corpus: str,
    case_file: Path,
    limit: int | None,
    profile: str | None,
    store: Path | None,
    perturb: bool,
    other: str | None,
    show_misses: bool,
    as_json: bool,
) -> None:
    """Ask every case and print figures per bucket: each leg, fused, reranked, packed, answered, a refusal matrix.

    Figures carry 95 % bootstrap intervals. A refused question packs and answers nothing, so it counts as not found
    there. Nothing is read from the cache.

    With --perturb every case is asked again with weights ± 10 %, another k of the fusion, a polite beginning, a typo
    and turned words: how far the first ten agree, how many answers flip, and which cases come out wrong for it.

    With --compare every case is asked of what is live and of the other side in turns; a generation need not be live,
    and one of another embedder is asked through that. Printed are figures, latency, size and cost of the build beside
    each other, what differs clearly in a bucket, and each case that came out worse.
    """
    if other is not None:
        if perturb or store or show_misses:
            raise click.UsageError("--compare stands alone; leave out --perturb, --store and --show-misses.")
        compare_sides(corpus, profile, other, load_case_set(case_file), limit, as_json)
        return
    if perturb and (store or show_misses):
        raise click.UsageError(
            "--perturb keeps no run and shows no misses; leave out --store and --show-misses."
        )
    case_set, opened, began = load_case_set(case_file), services(), time.perf_counter()
    if perturb:
        _perturbed(opened, corpus, case_set.cases[:limit], profile, as_json)
        return
    with progress_bars() as progress:
        results = run(opened.online, corpus, case_set.cases[:limit], profile, progress)
    if store:
        seconds = time.perf_counter() - began
        stored.write(
            stored.to_json(results, case_set, corpus, opened.online.story.embedder.identity, seconds), store
        )
    found, missed = figures(results), misses(results) if show_misses else []
    if as_json:
        told = {
            "corpus": corpus,
            "cases": case_file.name,
            "buckets": {name: asdict(f) for name, f in found.items()},
        }
        echo_json(told | {"misses": [_missed(*one) for one in missed]} if show_misses else told)
        return
    for kind, result in missed:
        click.echo(
            f"{kind}: {result.case.case_id}: {result.case.query}\n   {result.answer.reason or result.answer.answer}"
        )
    for name, bucket in found.items():
        _print(name, bucket)


def _perturbed(
    opened: Services, corpus: str, cases: Sequence[Case], profile: str | None, as_json: bool
) -> None:
    named = load_profile(profile or opened.settings.profile)
    with progress_bars() as progress:
        found = perturbing.perturb(opened.online, corpus, cases, named, progress)
    if as_json:
        echo_json({"corpus": corpus, "profile": named.identity, "changes": [asdict(one) for one in found]})
        return
    for one in found:
        low, high = one.bounds
        click.echo(
            f"{one.kind:<15} {one.cases} asked  overlap of the first ten {one.overlap:.3f} [{low:.3f}, {high:.3f}]  "
            f"same first {one.same_first:.3f}  jumped {one.jumped}  answers lost {one.lost}, gained {one.gained}, "
            f"cite elsewhere {one.other}  wrong now {len(one.spoilt)}, right now {one.mended}"
        )
    for one in found:
        for flip in one.spoilt:
            click.echo(f"{one.kind}: {flip.case_id}: {flip.query}: {flip.miss}")


def _missed(kind: Miss, result: CaseResult) -> dict[str, str | None]:
    return {
        "kind": kind,
        "caseId": result.case.case_id,
        "query": result.case.query,
        "answer": result.answer.answer,
        "reason": result.answer.reason,
    }


def _print(name: str, bucket: Figures) -> None:
    click.echo(f"== {name}: {bucket.cases} cases")
    for stage, values in bucket.ranking.items():
        shown = "  ".join(f"{m} {_value(values[m], bucket, f'{stage}.{m}')}" for m in _SHOWN)
        click.echo(f"  {stage:<8} {shown}")
    for measure, value in bucket.answers.items():
        known = measure in ANSWER_MEASURES and value is not None
        click.echo(f"  {measure}: {_value(value, bucket, measure) if known else value}")


def _value(value: float, bucket: Figures, name: str) -> str:
    """With its interval where that is what one looks at."""
    if name.endswith(("recall@1", "recall@5", "recall@50", "ndcg@10")):
        return f"{value:.3f}"
    low, high = bucket.intervals[name]
    return f"{value:.3f} [{low:.3f}, {high:.3f}]"
