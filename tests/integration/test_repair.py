"""attest repair: what is at odds and has one right mending is mended in one call, on both engines; the rest is told."""

from __future__ import annotations

import dataclasses

import pytest

from service.domain.generations import Generation, Manifest, live_alias, version_alias
from service.domain.ports import IndexSettings
from service.errors import AliasOnSeveral
from service.offline.generations.repair import Finding
from service.offline.rights import pending
from tests.integration.world import ALICE, CORPUS, HR_ONLY, World, quiet

pytestmark = pytest.mark.slow


def second(world: World) -> tuple[Manifest, Manifest]:
    """What was live, and what is."""
    [first] = world.services.engine.builds.scan(CORPUS)
    world.write({"garage.md": "# Garage\n\nThe garage is closed at night.\n"})
    world.ingest()
    return first, world.publish()


def states(world: World) -> dict[str, str]:
    return {m.generation: m.state for m in world.services.engine.builds.scan(CORPUS)}


def live(world: World) -> tuple[str, ...]:
    return world.services.engine.generations.live().get(CORPUS, ())


def mended(world: World) -> tuple[Finding, ...]:
    """A dry run says the same and changes nothing; a second run finds nothing of what the first has mended."""
    engine = world.services.engine
    before = engine.generations.aliases(CORPUS), states(world), engine.generations.names(CORPUS)
    told = world.offline.repair(CORPUS, dry_run=True)
    assert before == (engine.generations.aliases(CORPUS), states(world), engine.generations.names(CORPUS))
    assert world.offline.repair(CORPUS, dry_run=False) == told
    left = tuple(finding for finding in told if finding.by_hand)
    assert world.offline.repair(CORPUS, dry_run=False) == left
    return told


def test_a_corpus_in_order_is_left_alone(world: World) -> None:
    assert mended(world) == ()
    second(world)
    assert mended(world) == ()


def test_a_live_alias_on_two_generations_stays_where_the_last_switch_put_it(world: World) -> None:
    first, newer = second(world)
    alias = live_alias(world.services.engine.prefix, CORPUS)
    world.services.engine.generations.switch({alias: first.generation}, [])
    with pytest.raises(AliasOnSeveral):
        world.ask(ALICE)
    world.offline.gate(CORPUS, None)  # Which notes both as live.
    told = mended(world)
    assert newer.generation in told[0].mending and not told[0].by_hand
    assert live(world) == (newer.generation,)
    assert states(world) == {first.generation: "retained", newer.generation: "live"}
    assert world.ask(ALICE).status == "answered"


def test_after_a_rollback_it_is_the_earlier_one(world: World) -> None:
    first, newer = second(world)
    world.offline.rollback(CORPUS)
    alias = live_alias(world.services.engine.prefix, CORPUS)
    world.services.engine.generations.switch({alias: newer.generation}, [])
    mended(world)
    assert live(world) == (first.generation,)


def test_a_lost_live_alias_is_put_back_with_the_rights_of_now(world: World) -> None:
    _, newer = second(world)
    engine = world.services.engine
    aliases = engine.generations.aliases(CORPUS)
    engine.generations.switch({}, [(alias, name) for alias, on in aliases.items() for name in on])
    told = mended(world)
    assert [finding.by_hand for finding in told] == [False, False], told
    assert live(world) == (newer.generation,)
    version = version_alias(engine.prefix, CORPUS, newer.corpus_version)
    assert engine.generations.aliases(CORPUS)[version] == (newer.generation,)
    assert world.ask(ALICE).status == "answered"


def test_notes_behind_the_aliases_are_put_right(world: World) -> None:
    first, newer = second(world)
    engine = world.services.engine
    alias = live_alias(engine.prefix, CORPUS)
    engine.generations.switch({alias: first.generation}, [(alias, newer.generation)])
    assert len(mended(world)) == 2
    assert states(world) == {first.generation: "live", newer.generation: "retained"}


def test_orphans_go_and_notes_of_what_is_gone_too(world: World) -> None:
    first, newer = second(world)
    engine = world.services.engine
    gone = Generation.parse(first.generation)
    assert gone is not None
    engine.generations.drop(gone)
    orphan = Generation(engine.prefix, CORPUS, "cv000000000000", 8)
    engine.generations.create(orphan, IndexSettings(world.services.embedder.dimension))
    told = mended(world)
    assert {finding.mending for finding in told} == {"drops it", "notes it as pruned"}
    assert engine.generations.names(CORPUS) == (newer.generation,)
    assert states(world)[first.generation] == "pruned"


def test_a_half_done_change_of_rights_is_spread(world: World) -> None:
    engine = world.services.engine
    [entry] = engine.registry.get_many(CORPUS, ["kitchen.md"]).values()
    engine.registry.write(dataclasses.replace(entry, access=HR_ONLY, spread_pending=True))
    [found] = mended(world)
    assert "1 changes of rights" in found.what and list(pending(engine, CORPUS)) == []
    generation = Generation.parse(live(world)[0])
    assert generation is not None
    [chunk] = [c for c in engine.generations.scan(generation) if c.chunk.document_id == "kitchen.md"]
    assert chunk.access == HR_ONLY


def test_what_a_person_must_decide_is_told_and_left_alone(world: World) -> None:
    engine = world.services.engine
    [manifest] = engine.builds.scan(CORPUS)
    stranger = Generation(engine.prefix, CORPUS, "cv000000000000", 8)
    engine.generations.create(stranger, IndexSettings(world.services.embedder.dimension))
    alias = live_alias(engine.prefix, CORPUS)
    engine.generations.switch({alias: stranger.name}, [(alias, manifest.generation)])
    told = mended(world)
    [by_hand] = [finding for finding in told if finding.by_hand]
    assert stranger.name in by_hand.what and f"attest publish {CORPUS}" in by_hand.mending
    assert live(world) == (stranger.name,)
    assert stranger.name in engine.generations.names(CORPUS), "somebody may search it"


def test_a_build_that_nobody_goes_on_with_is_named_and_kept(world: World) -> None:
    engine = world.services.engine
    world.write({"garage.md": "# Garage\n\nThe garage is closed at night.\n"})
    world.ingest()
    candidate = world.offline.build(CORPUS, quiet)
    half = dataclasses.replace(candidate, generation=candidate.generation[:-4] + "0009", token=None)
    generation = Generation.parse(half.generation)
    assert generation is not None
    engine.builds.write(dataclasses.replace(half, state="building"))
    engine.generations.create(generation, IndexSettings(world.services.embedder.dimension))
    [told] = mended(world)
    assert told.by_hand and told.mending == f"attest build {CORPUS}"
    assert half.generation in engine.generations.names(CORPUS)
