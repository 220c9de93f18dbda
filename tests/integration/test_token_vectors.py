"""Token vectors from the build to the ranking, on both engines with the real model."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from service.access.policy import scope_of
from service.domain.answers import Question
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation, Manifest
from service.domain.ports import TokenRights
from service.domain.rights import Principal
from service.errors import BuildRefused, Unavailable
from service.offline import rights
from service.offline.generations.checks import RIGHTS, faults, run_checks
from service.offline.generations.sampling import Sample
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile
from service.profiles.ranking import load_profile
from service.text.token_vectors import decode
from tests.integration.world import ALICE, BOB, CORPUS, EVERYBODY, WARRANTY, World, quiet, revoke

TIMEOUT_S = 10.0


@pytest.fixture
def kept(world: World) -> World:
    """The corpus of `world`, built anew with token vectors and live."""
    read(world)
    world.publish()
    return world


def read(world: World, *, tokens: bool = True) -> None:
    profile = CorpusProfile(name=CORPUS, default_access={"allow": ["*"]}, token_vectors=tokens)
    world.offline.ingest(CORPUS, [world.folder], profile, None, quiet)


def live(world: World) -> Generation:
    found = world.services.engine.retrieval.resolve(CORPUS, "live")
    assert found is not None
    return found


def manifest_of(world: World, generation: Generation) -> Manifest:
    manifest = world.services.engine.builds.get(generation.name)
    assert manifest is not None
    return manifest


def chunks(world: World, generation: Generation) -> dict[str, IndexedChunk]:
    scan = world.services.engine.generations.scan(generation, vectors=True, tokens=True)
    return {chunk.chunk.chunk_id: chunk for chunk in scan}


def held(world: World, principal: Principal) -> set[str]:
    """Documents of whose chunks the caller gets token vectors, when all chunks are asked for."""
    generation = live(world)
    names = list(chunks(world, generation))
    got = world.services.engine.retrieval.token_vectors(generation, names, scope_of(principal), TIMEOUT_S)
    return {name.split("@")[0] for name in got}


# ── built ───────────────────────────────────────────────────────────────────────────────────────────────


def test_every_chunk_has_them_and_another_corpus_version(world: World) -> None:
    before = live(world)
    assert [chunk.tokens for chunk in chunks(world, before).values()] == [None] * 3
    assert manifest_of(world, before).processors.tokens == ""
    read(world)
    assert not world.offline.is_current(before.name)
    world.publish()
    after = live(world)
    assert after.corpus_version != before.corpus_version
    embedder = world.services.embedder
    assert manifest_of(world, after).processors.tokens == embedder.token_identity != ""
    for chunk in chunks(world, after).values():
        assert chunk.tokens is not None
        assert len(decode(chunk.tokens, embedder.dimension)) > 3
    assert world.offline.is_current(after.name)


def test_they_are_taken_over_by_text_and_never_half(kept: World) -> None:
    first = live(kept)
    assert manifest_of(kept, first).timings["vectorsReused"] == 0, "vectors alone were there, tokens were not"
    kept.write({"kitchen.md": "# Kitchen\n\nThe kitchen opens at nine in the morning.\n"})
    read(kept)
    kept.publish()
    second = live(kept)
    assert manifest_of(kept, second).timings["vectorsReused"] == 2
    old, new = ({c.title: c.tokens for c in chunks(kept, one).values()} for one in (first, second))
    assert {title for title in old if old[title] == new[title]} == {"Warranty", "Pay"}
    assert new["Kitchen"] is not None
    read(kept, tokens=False)
    kept.publish()
    assert manifest_of(kept, live(kept)).timings["vectorsReused"] == 3
    assert [chunk.tokens for chunk in chunks(kept, live(kept)).values()] == [None] * 3


def test_an_embedder_that_gives_none_is_told(world: World) -> None:
    read(world)

    class Plain:
        identity, dimension, token_identity = "plain@1", 384, ""

    offline: Any = dataclasses.replace(world.offline, embedder=Plain())
    with pytest.raises(BuildRefused, match="token_vectors = false"):
        offline.build(CORPUS, quiet)


# ── rights ──────────────────────────────────────────────────────────────────────────────────────────────


def test_nobody_gets_those_of_a_chunk_he_may_not_see(kept: World) -> None:
    assert held(kept, ALICE) == {"warranty.md", "kitchen.md"}
    assert held(kept, BOB) == {"warranty.md", "kitchen.md", "pay.md"}
    revoke(kept.services.engine, "kitchen.md")
    assert held(kept, ALICE) == {"warranty.md"}
    assert held(kept, BOB) == {"warranty.md", "kitchen.md", "pay.md"}
    kept.change("pay.md", access=EVERYBODY)
    assert held(kept, ALICE) == {"warranty.md", "pay.md"}
    kept.change("pay.md", deleted=True)
    assert held(kept, BOB) == {"warranty.md", "kitchen.md"}
    rights_of = kept.services.engine.generations.token_rights(live(kept))
    assert {one.document_id for one in rights_of} == {"warranty.md", "kitchen.md"}


def test_a_generation_in_which_only_they_lag_behind_is_found_and_brought_in_line(kept: World) -> None:
    generation, engine = live(kept), kept.services.engine
    generations = engine.generations
    spread: list[str] = []

    class Lagging:
        """As if the token vectors of one document had kept rights of before."""

        def __getattr__(self, name: str) -> Any:
            return getattr(generations, name)

        def token_rights(self, asked: Generation) -> list[TokenRights]:
            return [
                dataclasses.replace(one, access=EVERYBODY) if one.document_id == "pay.md" else one
                for one in generations.token_rights(asked)
            ]

        def spread_access(self, asked: Generation, document_id: str, access: Any) -> int:
            spread.append(document_id)
            return generations.spread_access(asked, document_id, access)

    registry = {entry.document_id: entry for entry in engine.registry.scan(CORPUS)}
    lagging: Any = Lagging()
    rights.align(dataclasses.replace(engine, generations=lagging), generation, registry)
    assert spread == ["pay.md"]


def check(world: World, found: list[IndexedChunk], beside: list[TokenRights]) -> str:
    engine, manifest = world.services.engine, manifest_of(world, live(world))
    registry = {entry.document_id: entry for entry in engine.registry.scan(CORPUS)}
    return faults(run_checks(manifest, found, beside, engine.archive.get_many, registry))


def test_lost_stray_and_wrongly_shown_ones_fail_the_checks(kept: World) -> None:
    found = list(chunks(kept, live(kept)).values())
    beside = sorted(kept.services.engine.generations.token_rights(live(kept)), key=lambda one: one.chunk_id)
    pay = next(one for one in beside if one.document_id == "pay.md")
    assert check(kept, found, beside) == ""
    shown = [dataclasses.replace(one, access=EVERYBODY) if one is pay else one for one in beside]
    assert check(kept, found, shown).startswith(f"{RIGHTS}: 1 of 3")
    stray = dataclasses.replace(beside[0], chunk_id="gone.md@v#1")
    assert check(kept, found, [*beside, stray]).startswith("token vectors: 1 of 3")
    for wrong in (None, b"", b"123"):
        lost = [dataclasses.replace(found[0], tokens=wrong), *found[1:]]
        assert "token vectors: " in check(kept, lost, beside)


def test_those_of_another_text_are_told_by_the_sample(kept: World) -> None:
    found = list(chunks(kept, live(kept)).values())
    turned = [
        dataclasses.replace(c, tokens=o.tokens) for c, o in zip(found, found[1:] + found[:1], strict=True)
    ]
    cut = (kept.offline._filling.version, kept.offline.chunker.cut)
    for some, holds in ((found, True), (turned, False)):
        sample = Sample(manifest_of(kept, live(kept)))
        assert len(list(sample.watching(some))) == 3
        result = sample.check(kept.services.engine.archive.get_many, cut, kept.services.embedder)
        assert result.passed is holds, result
        assert holds or "vectors of its tokens" in result.offenders[0]


# ── ranked ──────────────────────────────────────────────────────────────────────────────────────────────


def ranked(world: World, online: Online | None = None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """What the rerank stage noted, and what did not take part."""
    path = online or world.services.online
    answer = path.answer(Question("q", WARRANTY, CORPUS), BOB)
    trace = world.services.engine.traces.get(answer.trace_id)
    assert trace is not None
    [stage] = [stage for stage in trace["stages"] if stage["stage"] == "rerank"]
    return stage["detail"], answer.degraded


def asking_for_none(world: World) -> Online:
    """The online path with a profile that reads no token vectors."""
    plain = load_profile("default").without_tokens
    return dataclasses.replace(world.services.online, load_profile=lambda _: plain)


def test_the_ranking_weighs_them_and_the_trace_shows_it(kept: World) -> None:
    detail, degraded = ranked(kept)
    assert (detail["tokens"], degraded) == (True, ())
    best = detail["order"][0]
    assert best.startswith("warranty.md")
    parts = detail["scores"][best][1]
    assert parts["max_sim"] > 0 and parts["idf_max_sim"] > 0 and parts["cosine"] > 0
    assert sum(parts.values()) == pytest.approx(detail["scores"][best][0], abs=1e-4)
    assert ranked(kept, asking_for_none(kept))[0]["tokens"] is False


def test_without_them_it_ranks_by_the_weights_for_that_case(world: World) -> None:
    without, plain = ranked(world)[0], ranked(world, asking_for_none(world))[0]
    assert without["tokens"] is False
    assert without["order"] == plain["order"]
    assert [score for score, _ in without["scores"].values()] == pytest.approx(
        [score for score, _ in plain["scores"].values()]
    )


def test_when_the_engine_does_not_give_them_the_answer_says_so(kept: World) -> None:
    story = kept.services.online.story
    retrieval = story.engine.retrieval

    class Broken:
        def __getattr__(self, name: str) -> Any:
            return getattr(retrieval, name)

        def token_vectors(self, *_: Any) -> dict[str, bytes]:
            raise Unavailable("gone for a moment")

    broken: Any = Broken()
    engine = dataclasses.replace(story.engine, retrieval=broken)
    online = dataclasses.replace(kept.services.online, story=dataclasses.replace(story, engine=engine))
    detail, degraded = ranked(kept, online)
    assert (detail["tokens"], degraded) == (False, ("token_vectors",))
    assert detail["order"] == ranked(kept, asking_for_none(kept))[0]["order"]
