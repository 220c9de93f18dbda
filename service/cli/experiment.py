"""attest experiment"""

from __future__ import annotations

import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from service.bootstrap import Services, build, online_path, silent
from service.cli.killing import kill_matrix_command, node_loss_command
from service.cli.mutations import attribution_command, mutations_command
from service.cli.serving import served
from service.cli.shared import as_json, echo_json, needs, principal, progress_bars
from service.domain.answers import GroundedAnswer, SearchResult
from service.domain.ports import Engine
from service.evaluation.experiments import (
    Expectation,
    bad_generations,
    citation_offset,
    cut_sentence,
    exact_names,
    lesson,
    opposite_rule,
    permission_order,
    permission_timing,
    stale_index,
    switch_under_load,
)
from service.evaluation.experiments import permission_differential as differential
from service.evaluation.experiments.invented import invent
from service.evaluation.experiments.permission_wrong import Memory
from service.evaluation.experiments.remembered import RememberedEmbedder
from service.online.entry import Online
from service.settings import load_settings
from service.web.present import answer_json, search_json

SAMPLES = Path(__file__).parent.parent / "samples"


engine_option = click.option(
    "--engine", type=click.Choice(["embedded", "elasticsearch"]), help="ATTEST_ENGINE otherwise."
)


@needs("inspect")
@click.group("experiment", epilog="\b\nExample:\n  attest experiment lesson --engine embedded")
def experiment_command() -> None:
    """Experiments: each prints what it expected and saw, and exits 0 only when all of it holds."""


experiment_command.add_command(mutations_command)
experiment_command.add_command(attribution_command)
experiment_command.add_command(kill_matrix_command)
experiment_command.add_command(node_loss_command)


@experiment_command.command("lesson")
@engine_option
@as_json
def lesson_command(engine: str | None, as_json: bool) -> None:
    """The teaching corpus: answer, refusals, restricted document, shifted citation, hand-computed measures."""
    with throwaway(engine) as services:
        report("lesson", lesson.run(services.offline, services.online, SAMPLES / "lesson"), as_json)


@experiment_command.command("cut-sentence")
@engine_option
@as_json
def cut_sentence_command(engine: str | None, as_json: bool) -> None:
    """A key sentence cut in two by a chunker of fixed length, beside the product's chunker."""
    with throwaway(engine) as services:
        figures, expectations = cut_sentence.run(services.offline, services.online, SAMPLES / "lesson")
        if not as_json:
            for case, seen in figures.items():
                for figure, value in seen["fixed"].items():
                    click.echo(f"{case}, {figure}: fixed {value} | structure {seen['structure'][figure]}")
                click.echo(f"{case}, chunks that differ: {seen['index']}")
        report("cut-sentence", expectations, as_json, {"measured": figures})


@experiment_command.command("opposite-rule")
@engine_option
@as_json
def opposite_rule_command(engine: str | None, as_json: bool) -> None:
    """A rule and its opposite that has more of the question's words: by words alone, and by the product."""
    with throwaway(engine) as services:
        figures, expectations = opposite_rule.run(services.offline, services.online)
    if not as_json:
        for seen in figures:
            said = " ".join(seen["quotes"]) or seen["reason"]
            click.echo(f"{seen['case']} ({seen['kind']}): by words {seen['quotedByWords']} | here {said}")
    report("opposite-rule", expectations, as_json, {"measured": figures})


@experiment_command.command("citation-offset")
@engine_option
@as_json
def citation_offset_command(engine: str | None, as_json: bool) -> None:
    """Citations that point a little beside their quote: what is shown where nobody looks, and that all are refused."""
    with throwaway(engine) as services:
        report("citation-offset", citation_offset.run(services.offline, services.online), as_json)


@experiment_command.command("stale-index")
@engine_option
@as_json
def stale_index_command(engine: str | None, as_json: bool) -> None:
    """三次 becomes 两次: answers follow the switch, the old citation is told as superseded, the way back too."""
    with throwaway(engine) as services:
        report("stale-index", stale_index.run(services.offline, services.online), as_json)


@experiment_command.command("switch-under-load")
@engine_option
@click.option("--switches", default=50, show_default=True, type=click.IntRange(2))
@click.option(
    "--rollbacks", default=20, show_default=True, type=click.IntRange(0), help="At most --switches."
)
@click.option("--clients", default=8, show_default=True, type=click.IntRange(1, 64))
@as_json
def switch_under_load_command(
    engine: str | None, switches: int, rollbacks: int, clients: int, as_json: bool
) -> None:
    """Clients ask a real `attest serve` while generations are switched: no error, no mixture, nothing stale."""
    if rollbacks > switches:
        raise click.UsageError("Each rollback needs a switch before it: --rollbacks is at most --switches.")
    with throwaway(engine) as services, progress_bars() as progress:
        names = switch_under_load.prepare(services.offline, progress)
        with served(services.settings, clients) as (url, headers):
            figures, expectations = switch_under_load.run(
                services.offline, names, url, headers, switches, rollbacks, progress
            )
    if not as_json:
        for figure, value in figures.items():
            click.echo(f"{figure}: {value}")
    report("switch-under-load", expectations, as_json, {"measured": figures})


@experiment_command.command("bad-generations")
@engine_option
@as_json
def bad_generations_command(engine: str | None, as_json: bool) -> None:
    """Generations that must not go live, each seeded beside a live one: which gate refuses it, in which words."""
    with throwaway(engine) as services, TemporaryDirectory(prefix="attest-experiment-") as folder:
        refusals, expectations = bad_generations.run(services.offline, services.online, Path(folder))
    if not as_json:
        for refusal in refusals:
            click.echo(f"{refusal.kind}: {refusal.message}")
    told = {"refusals": [asdict(refusal) for refusal in refusals]}
    report("bad-generations", expectations, as_json, told)


@experiment_command.command("permission-order")
@engine_option
@as_json
def permission_order_command(engine: str | None, as_json: bool) -> None:
    """Rights filtered last, in a path made for this, leak; in the product's order nothing of it is seen."""
    with throwaway(engine) as services:
        report("permission-order", permission_order.run(services.offline, services.online), as_json)


@experiment_command.command("permission-timing")
@engine_option
@click.option("--pairs", default=permission_timing.ENOUGH, show_default=True, type=click.IntRange(2))
@click.option("--seed", default=1, show_default=True, help="Of the order in which the pairs are asked.")
@as_json
def permission_timing_command(engine: str | None, pairs: int, seed: int, as_json: bool) -> None:
    """Times of requests whose best match is hidden against times of the same where it does not exist."""
    with throwaway(engine) as services, throwaway(engine) as others, progress_bars() as progress:
        measured, expectations = permission_timing.run(
            services.offline, services.online, others.engine, pairs, seed, progress
        )
    report("permission-timing", expectations, as_json, {"measured": permission_timing.to_json(measured)})


@experiment_command.command("permission-differential")
@engine_option
@click.option("--queries", default=300, show_default=True, type=click.IntRange(1))
@click.option("--principals", default=4, show_default=True, type=click.IntRange(1))
@click.option(
    "--documents", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="JSONL with rights."
)
@click.option("--invented", default=300, show_default=True, help="Invented documents beside them.")
@click.option("--seed", default=1, show_default=True, help="Of documents, questions and shuffles.")
@as_json
def permission_differential_command(
    engine: str | None,
    queries: int,
    principals: int,
    documents: Path | None,
    invented: int,
    seed: int,
    as_json: bool,
) -> None:
    """The same questions with hidden documents, with other ones in their place, and without: no difference shows."""
    with throwaway(engine) as services, progress_bars() as progress:
        made = list(invent(invented, seed))
        differential.publish(
            services.offline, [documents] if documents else [SAMPLES / "enterprise"], made, progress
        )
        embedder = RememberedEmbedder(services.embedder)

        @contextmanager
        def world(opened: Services | None = None) -> Iterator[tuple[Engine, Online]]:
            with nullcontext(opened) if opened else throwaway(engine) as own:
                settings = own.settings.model_copy(update={"redis_url": None})
                path = online_path(settings, own.engine, embedder, services.embedder.count_tokens, silent)
                yield own.engine, replace(path, cache=Memory())

        with world(services) as first:
            known = [(document.line["documentId"], document.question) for document in made]
            tally, expectations = differential.run(
                first, world, _public, queries, principals, seed, progress, known
            )
    report("permission-differential", expectations, as_json, differential.to_json(tally))


@experiment_command.command("anchors")
@click.argument("sources", nargs=-1, type=click.Path(exists=True, path_type=Path))
@engine_option
@click.option("--siblings", default=300, show_default=True, type=click.IntRange(1))
@click.option("--seed", default=1, show_default=True, help="Of the siblings.")
@click.option(
    "--show-misses", is_flag=True, help="Print what was not found first, and which siblings were answered."
)
@as_json
def anchors_command(
    sources: tuple[Path, ...], engine: str | None, siblings: int, seed: int, show_misses: bool, as_json: bool
) -> None:
    """Exact names (error numbers, settings, options): found first in every spelling; made-up siblings never answered.

    SOURCES are files or folders to read, by default the TiDB and arthas samples.
    """
    read = list(sources) or [SAMPLES / "tidb", SAMPLES / "arthas"]
    with throwaway(engine) as services, progress_bars() as progress:
        exact_names.publish(services.offline, read, progress)
        names, said = exact_names.names_in(read)
        who = principal("demo", "anonymous", (), ())
        tally, expectations = exact_names.run(services.online, names, said, who, siblings, seed, progress)
    if show_misses and not as_json:
        for line in (*tally.missed, *(f"answered: {sibling}" for sibling in tally.answered)):
            click.echo(line)
    report("anchors", expectations, as_json, {"missed": tally.missed, "answered": tally.answered})


def _public(value: GroundedAnswer | SearchResult) -> dict[str, Any]:
    """What the HTTP door would send."""
    return answer_json(value) if isinstance(value, GroundedAnswer) else search_json(value)


@contextmanager
def throwaway(engine: str | None) -> Iterator[Services]:
    """Services on a prefix and a folder of their own, erased afterwards: experiments touch no real corpus."""
    with TemporaryDirectory(prefix="attest-experiment-") as folder:
        changes: dict[str, Any] = {"engine": engine} if engine else {}
        prefix = f"experiment-{uuid.uuid4().hex[:8]}"
        services = build(load_settings(prefix=prefix, data_dir=Path(folder), **changes))
        try:
            yield services
        finally:
            services.engine.erase()


def report(
    name: str, expectations: list[Expectation], as_json: bool, figures: Mapping[str, Any] | None = None
) -> None:
    """Prints every expectation (as JSON, the figures too); exit code 1 when one does not hold."""
    holds = all(expectation.holds for expectation in expectations)
    if as_json:
        told = {"experiment": name, "holds": holds, "expectations": [e.to_json() for e in expectations]}
        echo_json(told | dict(figures or {}))
    else:
        for e in expectations:
            click.echo(f"{'ok  ' if e.holds else 'FAIL'} {e.what}: expected {e.expected}, saw {e.seen}")
        click.echo(f"{name}: {sum(e.holds for e in expectations)} of {len(expectations)} hold")
    if not holds:
        sys.exit(1)
