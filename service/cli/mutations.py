"""attest experiment mutations"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import click

from service.cli.shared import as_json, echo_json
from service.errors import InvalidInput
from service.evaluation.experiments import mutations

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
