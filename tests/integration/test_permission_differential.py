"""Twin worlds on both engines: hidden documents make no difference, and the experiment would see it if they did."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from service.access.policy import scope_of, visible
from service.bootstrap import Services, build, online_path, silent
from service.cli.experiment import _public
from service.domain.ports import Engine
from service.domain.rights import Scope
from service.evaluation.experiments import permission_differential as differential
from service.evaluation.experiments.invented import invent
from service.evaluation.experiments.permission_wrong import Memory
from service.evaluation.experiments.remembered import RememberedEmbedder
from service.evaluation.experiments.twins import copy_world, read_world, shuffled
from service.online.entry import Online

QUESTIONS = 36


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""


class Worlds:
    """World A of invented documents, and a way to open others beside it."""

    def __init__(self, services: Services, tmp_path: Path) -> None:
        self.services, self.tmp_path, self.opened = services, tmp_path, 0
        self.made = list(invent(60, 5))
        self.embedder = RememberedEmbedder(services.embedder)
        differential.publish(services.offline, [], self.made, quiet)

    def path(self, engine: Engine) -> Online:
        services = self.services
        made = online_path(services.settings, engine, self.embedder, services.embedder.count_tokens, silent)
        return replace(made, cache=Memory())

    @contextmanager
    def another(self) -> Iterator[tuple[Engine, Online]]:
        self.opened += 1
        changes: dict[str, Any] = {
            "prefix": f"{self.services.settings.prefix}-{self.opened}",
            "data_dir": self.tmp_path / str(self.opened),
        }
        engine = build(self.services.settings.model_copy(update=changes)).engine
        try:
            yield engine, self.path(engine)
        finally:
            engine.erase()

    def run(
        self, first: Engine | None = None, questions: int = QUESTIONS
    ) -> tuple[differential.Tally, dict[str, bool]]:
        engine = first or self.services.engine
        known = [(document.line["documentId"], document.question) for document in self.made]
        tally, told = differential.run(
            (engine, self.path(engine)), self.another, _public, questions, 3, 7, quiet, known
        )
        return tally, {expectation.what: expectation.holds for expectation in told}


@pytest.fixture
def worlds(services: Services, tmp_path: Path) -> Worlds:
    return Worlds(services, tmp_path)


@pytest.mark.timeout(240)
def test_what_is_hidden_makes_no_difference(worlds: Worlds) -> None:
    tally, told = worlds.run()
    told_in_full = json.dumps(differential.to_json(tally), ensure_ascii=False)
    assert [what for what, holds in told.items() if not holds] == [], told_in_full
    assert tally.asked == QUESTIONS
    assert tally.noisy == 0 or worlds.services.engine.name == "elasticsearch"
    assert all(0 < hidden < 60 for hidden in tally.hidden.values())
    assert json.dumps(differential.to_json(tally))


class Around:
    """Retrieval that is the engine's own but for what a subclass does otherwise."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class Careless(Around):
    """Retrieval whose legs see everything, as if somebody had forgotten the filter; the registry still asks."""

    def __init__(self, inner: Any, everything: Scope) -> None:
        super().__init__(inner)
        self._everything = everything

    def search(self, generation: Any, legs: Any, scope: Scope, timeout_s: float) -> Any:
        return self._inner.search(generation, legs, self._everything, timeout_s)


@pytest.mark.timeout(240)
def test_a_filter_after_the_legs_would_be_seen(worlds: Worlds) -> None:
    engine = worlds.services.engine
    rights = [entry.access for entry in engine.registry.scan(differential.CORPUS)]
    everything = Scope(
        "demo",
        frozenset().union(*(a.labels for a in rights)),
        frozenset().union(*(a.allow for a in rights)),
    )
    careless = replace(engine, retrieval=Careless(engine.retrieval, everything))
    tally, told = worlds.run(careless)
    assert len(tally.leaks) > QUESTIONS // 3
    assert not told["A and B: responses or traces that differ (leaks)"]


class Faltering(Around):
    """Retrieval whose first leg does not answer: in its first `times` searches."""

    def __init__(self, inner: Any, times: int) -> None:
        super().__init__(inner)
        self._times = times

    def search(self, *asked: Any) -> Any:
        first, *others = self._inner.search(*asked)
        self._times -= 1
        return (replace(first, hits=(), error="timeout") if self._times >= 0 else first, *others)


@pytest.mark.timeout(240)
@pytest.mark.parametrize(("times", "leaks"), [(2, False), (1000, True)])
def test_what_is_late_for_a_moment_is_no_leak_and_what_is_always_late_is(
    worlds: Worlds, times: int, leaks: bool
) -> None:
    engine = worlds.services.engine
    tally, _ = worlds.run(replace(engine, retrieval=Faltering(engine.retrieval, times)), 6)
    assert (bool(tally.leaks), tally.late >= 2) == (leaks, True)
    assert leaks or tally.late == 2


class Nudged(Around):
    """Retrieval whose kNN scores are a little higher."""

    def __init__(self, inner: Any, by: float) -> None:
        super().__init__(inner)
        self._by = by

    def search(self, *asked: Any) -> Any:
        return tuple(
            replace(leg, hits=tuple(replace(hit, score=hit.score + self._by) for hit in leg.hits))
            if leg.leg == "knn"
            else leg
            for leg in self._inner.search(*asked)
        )


@pytest.mark.parametrize(
    ("by", "leaks", "noisy"), [(1.2e-7, False, True), (1e-3, True, False)], ids=["last digit", "more"]
)
def test_the_last_digit_of_a_cosine_is_no_leak_and_more_is(
    worlds: Worlds, by: float, leaks: bool, noisy: bool
) -> None:
    engine = worlds.services.engine
    tally, _ = worlds.run(replace(engine, retrieval=Nudged(engine.retrieval, by)), 6)
    assert (bool(tally.leaks), bool(tally.noisy)) == (leaks, noisy)


def test_a_shuffle_counts_the_same_and_says_nothing_of_the_same(worlds: Worlds) -> None:
    engine = worlds.services.engine
    generation = engine.retrieval.resolve(differential.CORPUS, "live")
    assert generation is not None
    world = read_world(engine, generation)
    assert len(world) == 60
    other = {name: shuffled(document, 1) for name, document in world.items()}
    for name, document in world.items():
        twin = other[name]
        assert twin == shuffled(document, 1), "the same shuffle whoever asks"
        assert twin.archived.canonical_text != document.archived.canonical_text
        assert (twin.entry, len(twin.chunks)) == (document.entry, len(document.chunks))
        for one, two in zip(document.chunks, twin.chunks, strict=True):
            assert sorted(one.body_terms) == sorted(two.body_terms)
            assert (one.chunk.chunk_id, one.chunk.span, one.access) == (
                two.chunk.chunk_id,
                two.chunk.span,
                two.access,
            )
            assert one.chunk.text != two.chunk.text
            assert two.chunk.span.of(twin.archived.canonical_text) == two.chunk.text
    with worlds.another() as (target, _):
        copy_world(engine, target, generation, world, lambda d: other[d.entry.document_id])
        live = target.retrieval.resolve(differential.CORPUS, "live")
        assert live is not None and live.corpus_version == generation.corpus_version
        copied = read_world(target, live)
        assert {n: d.archived for n, d in copied.items()} == {n: d.archived for n, d in other.items()}


def test_principals_differ_in_what_they_see(worlds: Worlds) -> None:
    engine = worlds.services.engine
    generation = engine.retrieval.resolve(differential.CORPUS, "live")
    assert generation is not None
    world = read_world(engine, generation)
    seen = [
        frozenset(n for n, d in world.items() if visible(d.entry.access, scope_of(who)))
        for who in differential.choose_principals(world, 6, 1)
    ]
    assert len(set(seen)) >= 5
