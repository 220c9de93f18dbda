"""attest eval --compare: two generations, ranking profiles or corpora beside each other."""

from __future__ import annotations

from dataclasses import asdict, replace

import click

from service.bootstrap import Services, build
from service.cli.compare import differences_json, print_differences, print_made
from service.cli.shared import echo_json, progress_bars, services
from service.domain.generations import Generation
from service.errors import InvalidInput
from service.evaluation import stored
from service.evaluation.cases import CaseSet
from service.evaluation.sides import Regressed, Row, Side, ask_both, cost, regressed, rows
from service.profiles.ranking import load_profile


def compare_sides(
    corpus: str, profile: str | None, other: str, case_set: CaseSet, limit: int | None, as_json: bool
) -> None:
    opened = services()
    sides = Side(opened.online, corpus, profile), _other(opened, corpus, profile, other)
    with progress_bars() as progress:
        first, second = ask_both(*sides, case_set, limit, progress)
    table = rows(first, second, [cost(opened.engine, run["made"]["generation"]) for run in (first, second)])
    differences, worse = stored.compare(first, second), regressed(first, second)
    if as_json:
        made = {"first": first["made"], "second": second["made"]}
        echo_json(
            {
                **made,
                "table": [asdict(row) for row in table],
                "buckets": differences_json(differences),
                "regressed": [asdict(one) for one in worse],
            }
        )
        return
    print_made(first, second)
    _print_table(table)
    print_differences(differences, every=False)
    _print_regressed(worse)


def _other(opened: Services, corpus: str, profile: str | None, given: str) -> Side:
    kind, _, name = given.partition(":")
    if kind == "corpus" and name in opened.engine.registry.corpora():
        return Side(opened.online, name, profile)
    if kind == "profile" and name:
        load_profile(name)
        return Side(opened.online, corpus, name)
    if kind == "generation" and (generation := Generation.parse(name)) is not None:
        return _of_generation(opened, generation, profile)
    raise InvalidInput(
        f"There is nothing called {given!r} to compare with: name generation:NAME as `attest generations` has it, "
        "profile:NAME or corpus:NAME."
    )


def _of_generation(opened: Services, generation: Generation, profile: str | None) -> Side:
    """The generation, through the embedder it was built with."""
    manifest = opened.engine.builds.get(generation.name)
    if manifest is None or generation.name not in opened.engine.generations.names(generation.corpus):
        raise InvalidInput(f"There is no generation {generation.name!r} that could be asked.")
    embedder = manifest.processors.embedder
    if embedder != opened.embedder.identity:
        settings = opened.settings.model_copy(update={"embedder": embedder.partition("@")[0]})
        opened = build(settings, acting=opened.acting)
        if opened.embedder.identity != embedder:
            raise InvalidInput(
                f"{generation.name} was built with {embedder}, which is not here; there is {opened.embedder.identity}."
            )
    return Side(replace(opened.online, pinned=generation), generation.corpus, profile)


def _print_table(table: list[Row]) -> None:
    click.echo(f"{'':<22}{'first':>12}{'second':>12}{'':>4}difference")
    for row in table:
        cells = ["-" if value is None else f"{value:g}" for value in (row.first, row.second)]
        moved = "" if row.first is None or row.second is None else f"{row.second - row.first:+.4g}"
        click.echo(f"{row.name:<22}{cells[0]:>12}{cells[1]:>12}{'':>4}{moved}")


def _print_regressed(worse: list[Regressed]) -> None:
    click.echo(f"== {len({one.case_id for one in worse})} cases came out worse")
    for one in worse:
        ended = f", {one.ended_before} → {one.ended_after}" if one.ended_before != one.ended_after else ""
        click.echo(f"  {one.case_id} ({one.bucket}): {one.measure} {one.before:g} → {one.after:g}{ended}")
