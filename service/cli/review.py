"""attest review list · show · mark · export"""

from __future__ import annotations

import json
from itertools import islice

import click

from service.cli.shared import as_json, asking, echo_json, needs, principal_options, services
from service.domain.reviews import Mark, Review, ReviewState
from service.online.reviewing import LONGEST_LIST, list_reviews, mark_review, quotes_of, read_review
from service.web.present_ops import review_json


@needs("operator")
@click.group("review", epilog="\b\nExample:\n  attest review list --corpus handbook --state open")
def review_command() -> None:
    """Claims of a language model that were refused because nobody could tell: look at them, and say."""


@review_command.command("list")
@click.option("--corpus", help="Of this corpus only.")
@click.option("--state", type=click.Choice(["open", "supported", "unsupported"]), help="In this state only.")
@principal_options
@as_json
def list_command(corpus: str | None, state: ReviewState | None, as_json: bool, **who: object) -> None:
    """List claims, the oldest first, at most 200: those whose documents you may all see."""
    found = list(islice(list_reviews(services().engine, asking(who), corpus, state), LONGEST_LIST))
    if as_json:
        echo_json([review_json(review) for review in found])
        return
    for review in found:
        click.echo(_line(review))
    if not found:
        click.echo("nothing to look at")


@review_command.command("show", epilog="\b\nExample:\n  attest review show 5f0c…")
@click.argument("review_id")
@principal_options
@as_json
def show_command(review_id: str, as_json: bool, **who: object) -> None:
    """Show a claim and what it names as its sources."""
    engine = services().engine
    review = read_review(engine, asking(who), review_id)
    quotes = quotes_of(engine, review)
    if as_json:
        echo_json({**review_json(review), "quotes": quotes})
        return
    click.echo(_line(review))
    click.echo(f"  {review.generation}, trace {review.trace_id}")
    for cited, quote in zip(review.undecided.citations, quotes, strict=True):
        place = f"{cited.document_id}@{cited.document_version}[{cited.span.start}:{cited.span.end}]"
        click.echo(f"\n  {place}\n{quote}")
    if review.note:
        click.echo(f"\n  note: {review.note}")


@review_command.command(
    "mark", epilog='\b\nExample:\n  attest review mark 5f0c… supported --note "guarantee is warranty here"'
)
@click.argument("review_id")
@click.argument("verdict", type=click.Choice(["supported", "unsupported"]))
@click.option("--note", default="", help="Why, if need be.")
@principal_options
@as_json
def mark_command(review_id: str, verdict: Mark, note: str, as_json: bool, **who: object) -> None:
    """Say whether the sources of a claim say it. The first mark stands; who made it may change it."""
    opened = services()
    review = mark_review(opened.engine, asking(who), review_id, verdict, note, opened.who)
    if as_json:
        echo_json(review_json(review))
    else:
        click.echo(_line(review))


@review_command.command("export", epilog="\b\nExample:\n  attest review export > marked.jsonl")
@principal_options
def export_command(**who: object) -> None:
    """Print marked claims as JSONL, with quotes and verdict: cases to measure the verifier on."""
    engine = services().engine
    for review in list_reviews(engine, asking(who), None, None):
        if review.state != "open":
            case = {
                "reviewId": review.review_id,
                "claim": review.undecided.claim,
                "quotes": quotes_of(engine, review),
                "verdict": review.state,
                "reason": review.undecided.reason,
                "note": review.note,
            }
            click.echo(json.dumps(case, ensure_ascii=False))


def _line(review: Review) -> str:
    by = f"  {review.marked_by}" if review.marked_by else ""
    parts = (review.review_id, review.at, review.corpus, f"{review.state:<11}{by}", review.undecided.reason)
    return "  ".join([*parts, " ".join(review.undecided.claim.split())])
