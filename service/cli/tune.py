"""attest tune"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json, needs, progress_bars, services
from service.evaluation.gate_fit import PairFit
from service.evaluation.refusals import KINDS, Refusals
from service.evaluation.tuning_plan import read_plan
from service.evaluation.tuning_report import Compared
from service.evaluation.tuning_run import WITHOUT_TOKENS, measure, tune
from service.profiles.ranking import FOLDER, load_profile

_TABLES = ("weights", WITHOUT_TOKENS)


@needs("inspect")
@click.command(
    "tune",
    epilog="""\b
Example of a plan (paths are from its folder):
  [goal]
  answered = 0.9
  [[sets]]
  name = "handbook"
  corpus = "handbook"
  fit = ["cases.tune.jsonl"]
  report = ["cases.report.jsonl"]
  outside_fit = ["other.tune.jsonl"]
  outside_report = ["other.report.jsonl"]
\b
Example:
  attest tune plan.toml --write tuned.toml""",
)
@click.argument("plan_file", metavar="PLAN", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--profile", "name", default="default", show_default=True, help="The profile to start from.")
@click.option("--write", type=click.Path(dir_okay=False, path_type=Path), help="Write the new profile here.")
@click.option(
    "--table",
    type=click.Choice(_TABLES),
    default=_TABLES[0],
    show_default=True,
    help="Which weights of [rerank] to fit.",
)
@click.option(
    "--leave-out",
    multiple=True,
    metavar="FEATURE",
    help="Fit as if the reranker did not know it; may be repeated.",
)
@click.option("--measure-only", is_flag=True, help="Fit nothing; print the figures of the profile as it is.")
@as_json
def tune_command(
    plan_file: Path,
    name: str,
    write: Path | None,
    table: str,
    leave_out: tuple[str, ...],
    measure_only: bool,
    as_json: bool,
) -> None:
    """Fit the ranking's weights and the evidence gate to questions of your own.

    Weights are fitted so that the set that gains least gains most, and judged on the report cases; "left out" are
    weights fitted without the set's family. The gate is fitted for each pair of languages, its limit by the plan's
    goal. Prints what changes, with 95 % intervals; --write keeps the profile's next version, with a changelog line and
    the curve of the gate.
    """
    plan, profile, opened = read_plan(plan_file), load_profile(name), services()
    with progress_bars() as progress:
        if measure_only:
            tuned = measure(opened.online, plan, profile, table, progress)
        else:
            source = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
            tuned = tune(opened.online, plan, profile, source, table, leave_out, progress)
    if write and tuned.text:
        write.write_text(tuned.text, encoding="utf-8")
    if as_json:
        told = asdict(tuned)
        del told["text"]
        echo_json({"profile": profile.identity, **told})
        return
    if not measure_only:
        click.echo("== weights")
        for feature, value in tuned.weights.items():
            click.echo(f"  {feature:<24} {tuned.present.get(feature, 0.0):>9.4g} → {value:.4g}")
    _print_sets(tuned.sets, measure_only)
    _print_gate(tuned.gate, tuned.kept)
    _print_refusals("refusals" if measure_only else "refusals before", tuned.before)
    if not measure_only:
        _print_refusals("refusals after", tuned.after)
    if write and tuned.text:
        click.echo(f"Written: {write}. It holds once it is {name}.toml in the profiles' folder.")


def _print_sets(sets: Mapping[str, Compared], measure_only: bool) -> None:
    click.echo("== MRR@10 of the report cases")
    for name, own in sets.items():
        legs = "  ".join(f"{leg} {value:.3f}" for leg, value in own.legs.items())
        click.echo(f"  {name}: {own.cases} cases, in the pool {own.pool:.3f}; {legs}")
        leg = own.against_leg
        if measure_only:
            click.echo(f"    ranked {own.present:.3f}")
        else:
            left = f"  left out {own.left_out:.3f}" if own.left_out is not None else ""
            change = own.change
            click.echo(
                f"    present {own.present:.3f}{left}  fitted {own.fitted:.3f}"
                f"  change {change.mean:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"
            )
        click.echo(f"    against the best leg {leg.mean:+.3f} [{leg.low:+.3f}, {leg.high:+.3f}]")


def _print_gate(gate: Mapping[str, PairFit], kept: Mapping[str, str]) -> None:
    if gate or kept:
        click.echo("== gate, by question>document")
    for pair, fit in gate.items():
        weights = "  ".join(f"{name} {value:.4g}" for name, value in fit.weights.items())
        click.echo(
            f"  {pair}: bias {fit.bias:.4g}  {weights}; {fit.right} right and {fit.wrong} wrong questions, "
            f"lets {fit.answered:.3f} and {fit.let_through:.3f} of them through"
        )
    for pair, why in kept.items():
        click.echo(f"  {pair}: as it was, {why}")


def _print_refusals(head: str, told: Mapping[str, Refusals]) -> None:
    click.echo(f"== {head}: let through by the gate; AUROC; refused where 9 of 10 answerable pass")
    for name, own in told.items():
        passed = own.passed.get("answerable")
        parts = [f"answerable let through {passed:.3f}"] if passed is not None else []
        for kind in KINDS:
            if kind in own.auroc:
                figures = (own.passed[kind], own.auroc[kind], own.refused[kind])
                parts.append(f"{kind} ({own.questions[kind]}) " + "; ".join(f"{f:.3f}" for f in figures))
        click.echo(f"  {name}: " + " | ".join(parts))
