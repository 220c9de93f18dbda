"""Revocations, deletions and grants: audited, in force when they return, and finished when a spread dies half way."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import pytest

from service.cli.doctor import _corpus as doctor_of_corpus
from service.domain.documents import IndexedChunk, Standing
from service.domain.generations import Generation
from service.domain.ports import BulkReport, Engine
from service.errors import BuildRefused, NotFound, Unavailable
from service.offline.rights import finish, history, pending
from tests.integration.world import (
    ALICE,
    BOB,
    CORPUS,
    EVERYBODY,
    HR_ONLY,
    NOW,
    WARRANTY,
    Dying,
    World,
    cited,
    found,
    revoke,
)


def test_every_change_says_who_when_and_how_it_stood(world: World) -> None:
    engine = world.services.engine
    [registered] = history(engine, CORPUS, "pay.md")
    assert (registered.action, registered.before) == ("register", None)
    version = registered.after.version
    world.change("pay.md", "grant", access=EVERYBODY)
    world.change("pay.md", "revoke", access=HR_ONLY)
    world.change("pay.md", "delete", deleted=True)
    lines = history(engine, CORPUS, "pay.md")
    assert [(line.sequence, line.action, line.who) for line in lines[1:]] == [
        (2, "grant", "tests"),
        (3, "revoke", "tests"),
        (4, "delete", "tests"),
    ]
    assert {line.at for line in lines[1:]} == {NOW}
    assert lines[2].before == Standing(version, EVERYBODY, False)
    assert lines[2].after == Standing(version, HR_ONLY, False)
    assert [line.before for line in lines[1:]] == [line.after for line in lines[:-1]], "one follows the other"
    assert {line.document_id for line in history(engine, CORPUS)} == {"pay.md", "warranty.md", "kitchen.md"}


def test_a_new_version_is_audited_and_touches_no_chunk(world: World) -> None:
    engine = world.services.engine
    epoch = engine.registry.epoch()
    world.write({"kitchen.md": "# Kitchen\n\nThe kitchen opens at nine.\n"})
    assert world.ingest().updated == ["kitchen.md"]
    line = history(engine, CORPUS, "kitchen.md")[-1]
    assert (line.action, line.sequence) == ("ingest", 2)
    assert line.before is not None and line.before.version != line.after.version
    assert engine.registry.epoch() == epoch, "no rights changed"


def dying(engine: Engine, error: BaseException) -> Engine:
    return dataclasses.replace(engine, generations=Dying(engine, error))


def second_generation(world: World) -> None:
    world.write({"notes.md": "Nothing of note.\n"})
    world.ingest()
    world.publish()


@pytest.mark.parametrize(
    "error", [Unavailable("a node is gone"), KeyboardInterrupt()], ids=["fault", "killed"]
)
def test_a_spread_that_dies_half_way_hides_all_the_same_and_can_be_finished(
    world: World, error: BaseException
) -> None:
    second_generation(world)
    engine = world.services.engine
    assert cited(world.ask(ALICE)) == {"warranty.md"}
    try:
        change = revoke(dying(engine, error), "warranty.md")
        assert change.unfinished == "a node is gone"
    except KeyboardInterrupt:
        pass
    [waiting] = pending(engine, CORPUS)
    assert (waiting.document_id, waiting.access) == ("warranty.md", HR_ONLY)
    with pytest.raises(NotFound):
        world.online.read_source(ALICE, "warranty.md", waiting.current_version, None, None)
    assert "warranty.md" not in found(world.search(ALICE, WARRANTY))
    assert cited(world.ask(ALICE)) == set()
    entry, chunks, _ = finish(engine, waiting)
    assert not entry.spread_pending and chunks > 0
    assert list(pending(engine, CORPUS)) == []
    assert [g.access for g in engine_chunks(world, "warranty.md")] == [HR_ONLY] * 2
    assert cited(world.ask(BOB)) == {"warranty.md"}


def engine_chunks(world: World, document_id: str) -> list[IndexedChunk]:
    engine = world.services.engine
    generations = [g for g in map(Generation.parse, engine.generations.names(CORPUS)) if g]
    return [c for g in generations for c in engine.generations.scan(g) if c.chunk.document_id == document_id]


def test_a_publish_finishes_what_was_left(world: World) -> None:
    engine = world.services.engine
    revoke(dataclasses.replace(engine, generations=Dying(engine, Unavailable("gone"), at=1)), "warranty.md")
    assert len(list(pending(engine, CORPUS))) == 1
    assert "attest access resume handbook" in doctor_of_corpus(
        engine, CORPUS, world.online.story.embedder.identity
    )
    second_generation(world)
    assert list(pending(engine, CORPUS)) == []


def test_of_two_spreads_the_slower_one_does_not_win(world: World) -> None:
    """A first change spreads only after a second one has been written and spread."""
    engine = world.services.engine
    stale = engine.registry.get_many(CORPUS, ["warranty.md"])["warranty.md"]
    first = engine.registry.write(
        dataclasses.replace(stale, access=EVERYBODY, sequence=2, spread_pending=True)
    )
    revoke(engine, "warranty.md")
    finish(engine, first)
    assert [chunk.access for chunk in engine_chunks(world, "warranty.md")] == [HR_ONLY]


def test_reading_a_source_again_does_not_undo_what_an_operator_changed(world: World) -> None:
    world.change("warranty.md", access=HR_ONLY)
    world.change("kitchen.md", deleted=True)
    world.write({"notes.md": "Nothing of note.\n"})
    world.write({"warranty.md": "# Warranty\n\nThe warranty period is 24 months.\n"})
    report = world.ingest()
    assert report.updated == ["warranty.md"]
    [(origin, reason)] = report.refused
    assert origin.endswith("kitchen.md") and "attest access restore handbook kitchen.md" in reason
    world.publish()
    assert cited(world.ask(ALICE)) == set()
    assert "24 months" in str(world.ask(BOB).answer)
    # A rule that is itself changed is a newer decision.
    world.write(
        {
            "warranty.md": '---\naccess:\n  allow: ["group:eng"]\n---\n# Warranty\n\nThe warranty period is 24 months.\n'
        }
    )
    world.ingest()
    world.publish()
    assert cited(world.ask(ALICE)) == {"warranty.md"}
    world.change("kitchen.md", "restore", deleted=False)
    assert world.ingest().unchanged.count("kitchen.md") == 1


class Interrupting:
    """The generations port, with something that happens in the middle of a bulk write."""

    def __init__(self, engine: Engine, happens: Any) -> None:
        self._inner, self._happens = engine.generations, happens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def write(self, generation: Generation, chunks: Iterable[IndexedChunk]) -> BulkReport:
        taken = list(chunks)  # With the rights as the build read them.
        self._happens()
        return self._inner.write(generation, taken)


def test_a_build_that_began_before_a_revocation_goes_live_without_it(world: World) -> None:
    engine = world.services.engine

    def happens() -> None:
        revoke(engine, "warranty.md")
        world.change("kitchen.md", deleted=True)

    interrupted = dataclasses.replace(engine, generations=Interrupting(engine, happens))
    world.write({"notes.md": "Nothing of note.\n"})
    world.ingest()
    offline = dataclasses.replace(world.offline, engine=interrupted)
    manifest = offline.build(CORPUS, lambda *_: None)
    assert manifest.state == "ready"
    world.offline.publish(CORPUS, manifest.generation)
    assert "warranty.md" not in found(world.search(ALICE, WARRANTY))
    assert "kitchen.md" not in found(world.search(ALICE, "When does the kitchen open?"))
    for chunk in engine.generations.scan(Generation.parse(manifest.generation)):  # type: ignore[arg-type]
        assert chunk.chunk.document_id != "kitchen.md"
        assert chunk.chunk.document_id != "warranty.md" or chunk.access == HR_ONLY


def test_what_was_taken_from_everybody_keeps_no_generation_from_going_live(world: World) -> None:
    world.change("warranty.md", "revoke", access=dataclasses.replace(EVERYBODY, allow=frozenset()))
    second_generation(world)
    for principal in (ALICE, BOB):
        assert "warranty.md" not in found(world.search(principal, WARRANTY))


def test_an_index_of_one_tenant_is_not_built_with_documents_of_another(world: World) -> None:
    world.change("kitchen.md", access=dataclasses.replace(EVERYBODY, tenant="rival"))
    registry = world.services.engine.registry
    profile = registry.corpus_profile(CORPUS) or {}
    registry.write_corpus_profile(CORPUS, {**profile, "single_tenant": True})
    with pytest.raises(BuildRefused, match=r"'kitchen\.md' belongs to another"):
        world.publish()
    world.change("kitchen.md", deleted=True)
    world.publish()
