"""attest experiment mutations, attest experiment attribution: what the verifier lets through."""

from __future__ import annotations

import random
import sys
from dataclasses import asdict
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json
from service.errors import InvalidInput
from service.evaluation.experiments import attribution, mutations

SAMPLES = Path(__file__).parent.parent / "samples"


@click.command(
    "mutations", epilog="\b\nExample:\n  attest experiment mutations --source ./handbook --claims 1000"
)
@click.option(
    "--source",
    "sources",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="A folder or file of documents; may be repeated. The shipped samples when left out.",
)
@click.option("--claims", default=300, show_default=True, type=click.IntRange(1), help="Sentences to try.")
@click.option("--seed", default=7, show_default=True, help="Of what is drawn; the same gives the same run.")
@click.option(
    "--examples", default=0, show_default=True, help="Mutants on the wrong side to show of each kind."
)
@as_json
def mutations_command(
    sources: tuple[Path, ...], claims: int, seed: int, examples: int, as_json: bool
) -> None:
    """True claims made wrong in one place must be refused; said differently they must pass."""
    rng = random.Random(seed)
    documents = list(mutations.documents_of(sources or [SAMPLES]))
    drawn = mutations.claims_of(documents, claims, rng)
    if not drawn:
        raise InvalidInput("There is no sentence of prose in these documents; name others with --source.")
    tally = mutations.run(drawn, rng)
    rows = [
        {
            "kind": kind,
            "language": language,
            "right": tally.right[kind, language],
            "tried": tried,
            "share": round(tally.right[kind, language] / tried, 4),
        }
        for (kind, language), tried in sorted(tally.tried.items())
    ]
    below = tally.below
    if as_json:
        echo_json({"claims": len(drawn), "rows": rows, "below": below})
    else:
        click.echo(f"mutations: {len(drawn)} true claims of {len(documents)} documents")
        for row in rows:
            click.echo(
                f"  {row['kind']:<26} {row['language']:<6} {row['right']:>6} of {row['tried']:>6}  {row['share']:.3f}"
            )
        for kind in below:
            click.echo(f"below its goal of {mutations.goal(kind):.2f}: {kind} ({tally.share(kind):.3f})")
        for kind in tally.kinds:
            for said, mutant in [(a, b) for name, a, b in tally.missed if name == kind][:examples]:
                click.echo(f"\n{kind}\n  {said}\n  {mutant}")
    sys.exit(1 if below else 0)


@click.command(
    "attribution",
    epilog="""\b
A line of a file:
  {"claim": "It holds 20.", "source": "The room holds 20 people.", "borne": true, "group": "rooms"}
\b
Example:
  scripts/judged-claims --data ../shared/data --out .local/judged.jsonl
  attest experiment attribution .local/judged.jsonl""",
)
@click.argument(
    "files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path)
)
@click.option("--examples", default=0, show_default=True, help="Claims wrongly let through to show.")
@as_json
def attribution_command(files: tuple[Path, ...], examples: int, as_json: bool) -> None:
    """Claims that people have judged, given to the verifier as a model's: precision and recall of what passes."""
    claims = [one for file in files for one in attribution.read(file)]
    if not claims:
        raise InvalidInput("There is no claim in these files.")
    groups, wrongly = attribution.run(claims)
    if as_json:
        echo_json([{**asdict(one), "precision": one.precision, "recall": one.recall} for one in groups])
        return
    for one in groups:
        told = [
            f"{name} {value:.3f}"
            for name in ("precision", "recall")
            if (value := getattr(one, name)) is not None
        ]
        click.echo(
            f"  {one.group:<24} borne: {one.borne_proven} pass, {one.borne_refused} refused; not borne: "
            f"{one.other_proven} pass, {one.other_refused} refused  {'  '.join(told)}"
        )
    for wrong in wrongly[:examples]:
        click.echo(f"\n{wrong.group}\n  claim:  {wrong.claim}\n  source: {wrong.source[:600]}")
