"""attest eval"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.evaluation.cases import load_cases
from service.evaluation.runs import Figures, figures, run


@needs("inspect")
@click.command("eval", epilog="\b\nExample:\n  attest eval --corpus xquad-zh --cases cases.jsonl --limit 50")
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
@click.option("--show-misses", is_flag=True, help="Print the cases whose answer falls short.")
@as_json
def eval_command(
    corpus: str, case_file: Path, limit: int | None, profile: str | None, show_misses: bool, as_json: bool
) -> None:
    """Ask every case and print figures per bucket: each leg, the final ranking, answers, a refusal matrix."""
    cases = load_cases(case_file)[:limit]
    with progress_bars() as progress:
        results = run(services().online, corpus, cases, profile, progress)
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
        click.echo(
            f"  {stage:<8} " + "  ".join(f"{measure} {value:.3f}" for measure, value in values.items())
        )
    for measure, value in bucket.answers.items():
        click.echo(f"  {measure}: {value}")
