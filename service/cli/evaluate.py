"""attest eval"""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.evaluation import stored
from service.evaluation.cases import load_case_set
from service.evaluation.runs import ANSWER_MEASURES, Figures, figures, run

# Printed of each stage; --json and --store have all of them.
_SHOWN = ("recall@1", "recall@5", "recall@10", "recall@50", "mrr@10", "ndcg@10", "passageMrr@10")


@needs("inspect")
@click.command(
    "eval",
    epilog="\b\nExample:\n  attest eval --corpus xquad-zh --cases cases.report.jsonl --limit 50 --store before.json",
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
@click.option("--show-misses", is_flag=True, help="Print the cases whose answer falls short.")
@as_json
def eval_command(
    corpus: str,
    case_file: Path,
    limit: int | None,
    profile: str | None,
    store: Path | None,
    show_misses: bool,
    as_json: bool,
) -> None:
    """Ask every case and print figures per bucket: each leg, fused, reranked, packed, answered, a refusal matrix.

    Figures carry 95 % bootstrap intervals. A refused question packs and answers nothing, so it counts as not found
    there. Nothing is read from the cache.
    """
    case_set, opened, began = load_case_set(case_file), services(), time.perf_counter()
    with progress_bars() as progress:
        results = run(opened.online, corpus, case_set.cases[:limit], profile, progress)
    if store:
        seconds = time.perf_counter() - began
        stored.write(
            stored.to_json(results, case_set, corpus, opened.online.story.embedder.identity, seconds), store
        )
    if show_misses:
        for result in results:
            if result.case.answerability == "answerable" and not (result.says_it and result.cites_it):
                click.echo(
                    f"miss {result.case.case_id}: {result.case.query}\n"
                    f"   {result.answer.reason or result.answer.answer}"
                )
    found = figures(results)
    if as_json:
        echo_json(
            {
                "corpus": corpus,
                "cases": case_file.name,
                "buckets": {name: asdict(f) for name, f in found.items()},
            }
        )
        return
    for name, bucket in found.items():
        _print(name, bucket)


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
