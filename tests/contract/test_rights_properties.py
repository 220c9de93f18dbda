"""Random rights, then random changes of rights: what every way into a generation shows is what the rule allows."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.access.policy import visible
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation
from service.domain.ports import Engine, IndexSettings
from service.domain.rights import Access, Scope
from tests.contract.material import (
    DIMENSION,
    EVERYBODY,
    TIMEOUT_S,
    anchored,
    bm25,
    built,
    chunk,
    found_ids,
    groups_scope,
    nearest,
    new_generation,
    packed,
    search,
    vector,
)

EXAMPLES = {"embedded": 60, "elasticsearch": 10}
ALL = 50
SIZES = (1, 2, 5, ALL)

LABELS = ["public", "secret", "public,secret", "公开"]
SUBJECTS = ["*", "group:eng", "group:hr", "group:eng,group:hr", "group:eng\x00", "group:*"]
sets = st.frozensets(st.sampled_from(SUBJECTS), max_size=3)
accesses = st.builds(
    Access,
    st.sampled_from(["acme"] * 6 + ["rival", ""]),
    st.one_of(
        st.just(frozenset({"public"})), st.just(frozenset({"public"})), st.frozensets(st.sampled_from(LABELS))
    ),
    st.one_of(sets, sets.map(lambda names: names | {"*"})),
    st.one_of(st.just(frozenset()), st.frozensets(st.sampled_from(SUBJECTS[1:]), max_size=1)),
)
scopes = st.builds(
    Scope,
    st.sampled_from(["acme"] * 8 + ["rival", ""]),
    st.frozensets(st.sampled_from([*LABELS, "unknown", "\ud800"])).map(lambda names: names | {"public"}),
    st.frozensets(st.sampled_from([*SUBJECTS, "user:ann", "\udfff"]), max_size=4).map(
        lambda names: names | {"*"}
    ),
)
# One letter a document; what it is changed to, None for a deletion.
changes = st.lists(
    st.tuples(st.sampled_from("abcdefgh"), st.one_of(st.none(), accesses, accesses)), max_size=6
)
directions = st.sampled_from([(1.0, 0, 0, 0), (1.0, 0.2, 0, 0), (0.1, 1.0, 0, 0), (-1.0, 0, 0.3, 0), None])


@st.composite
def documents(draw: st.DrawFn) -> list[IndexedChunk]:
    """Up to eight documents of one to three chunks; a document's chunks carry the same rights. Every chunk holds
    the asked term and anchor, so that only rights decide what may be found."""
    made = []
    for name in "abcdefgh"[: draw(st.integers(2, 8))]:
        access = draw(accesses)
        for ordinal in range(1, draw(st.integers(1, 3)) + 1):
            text = "报销 " + " ".join(draw(st.lists(st.sampled_from(["流程", "名单", "期限"]), max_size=3)))
            made.append(
                chunk(
                    name,
                    text.strip(),
                    ordinal=ordinal,
                    access=access,
                    anchors=("x1", "x2") if draw(st.booleans()) else ("x1",),
                    direction=draw(directions),
                    tokens=draw(st.sampled_from([None, packed(1), packed(3)])),
                )
            )
    return made


def cosine(one: Sequence[float], other: Sequence[float]) -> float:
    product = float(np.dot(np.asarray(one, np.float64), np.asarray(other, np.float64)))
    return product / float(np.linalg.norm(one) * np.linalg.norm(other))


def compare(
    engine: Engine, generation: Generation, chunks: dict[str, IndexedChunk], scope: Scope, tally: Counter[str]
) -> None:
    """Every way to read chunks against the rule, the chunks being as they should stand now."""
    allowed = {id_ for id_, item in chunks.items() if visible(item.access, scope)}
    named = [*ID_SPACE, "zz@v1#1", "", "\ud800"]
    assert set(engine.retrieval.fetch(generation, named, scope, TIMEOUT_S)) == allowed
    assert engine.retrieval.any_visible(generation, scope, TIMEOUT_S) is bool(allowed)
    asked = vector(1, 0.1, 0, 0)
    near = {
        id_: cosine(asked.tolist(), item.vector)
        for id_ in allowed
        if (item := chunks[id_]).vector is not None
    }
    found = engine.retrieval.similarities(generation, asked, named, scope, TIMEOUT_S)
    assert found.keys() == near.keys()
    assert all(abs(found[id_] - value) < 1e-5 for id_, value in near.items())
    held = engine.retrieval.token_vectors(generation, named, scope, TIMEOUT_S)
    assert held == {id_: chunks[id_].tokens for id_ in allowed if chunks[id_].tokens}
    legs: list[Any] = []
    for size in SIZES:
        legs += [bm25("报销", "流程", size=size), anchored("x1", "x2", size=size)]
        # As few candidates as neighbours: nothing hidden may take the place of one.
        legs += [nearest(1, 0.1, 0, 0, k=size, candidates=size)]
    results = search(engine, generation, scope, *legs)
    for leg, result in zip(legs, results, strict=True):
        ids = found_ids(result)
        size = leg.k if result.leg == "knn" else leg.size
        eligible = near.keys() if result.leg == "knn" else allowed
        assert set(ids) <= eligible, (result.leg, size)
        assert len(ids) == len(set(ids)) == min(size, len(eligible)), (result.leg, size)
        for hit in result.hits:
            assert hit.chunk.text == chunks[hit.chunk.chunk_id].chunk.text
    # A smaller size is the beginning of a larger one: hidden chunks shift nothing.
    for name in ("bm25", "anchors", "knn"):
        lists = [found_ids(result) for result in results if result.leg == name]
        for shorter, longer in itertools.pairwise(lists):
            assert longer[: len(shorter)] == shorter
    tally["checks"] += 1
    tally["allowed"] += len(allowed)
    tally["denied"] += len(chunks) - len(allowed)


# No document can carry these: longer than any term of Lucene, or half of a UTF-16 pair.
UNCARRIED = ["x" * 40_000, "\U0001f600" * 20_000, "\ud800"]
ID_SPACE = [f"{name}@v1#{ordinal}" for name in "abcdefgh" for ordinal in (1, 2, 3)]


def test_every_way_in_shows_what_the_rule_allows_through_any_changes(engine: Engine) -> None:
    tally: Counter[str] = Counter()
    numbers = itertools.count(1)

    @settings(
        max_examples=EXAMPLES[engine.name],
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(documents(), st.lists(scopes, min_size=3, max_size=4), changes)
    def holds(made: list[IndexedChunk], asked: list[Scope], turns: list[tuple[str, Access | None]]) -> None:
        chunks = {item.chunk.chunk_id: item for item in made}
        generation = built(engine, made, number=next(numbers))
        try:
            for scope in asked:
                compare(engine, generation, chunks, scope, tally)
            for document_id, access in turns:
                own = [id_ for id_, item in chunks.items() if item.chunk.document_id == document_id]
                assert engine.generations.spread_access(generation, document_id, access) == len(own)
                for id_ in own:
                    if access is None:
                        del chunks[id_]
                    else:
                        chunks[id_] = dataclasses.replace(chunks[id_], access=access)
                # At once, for somebody in turn; for all of them at the end.
                compare(engine, generation, chunks, asked[len(chunks) % len(asked)], tally)
                tally["changes"] += 1
            for scope in asked:
                compare(engine, generation, chunks, scope, tally)
            kept = {item.chunk.chunk_id: item.access for item in engine.generations.scan(generation)}
            assert kept == {id_: item.access for id_, item in chunks.items()}
        finally:
            engine.generations.drop(generation)

    holds()
    total = tally["allowed"] + tally["denied"]
    assert tally["checks"] > 60, tally
    assert tally["changes"] > 20, tally
    assert 0.15 * total < tally["allowed"] < 0.85 * total, tally


def test_rights_that_no_query_can_ask_for_are_refused_alike(engine: Engine) -> None:
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    odd = [
        Access("acme", frozenset({"public", UNCARRIED[0]}), frozenset({"*"})),
        Access("acme", frozenset({"public"}), frozenset({"*", UNCARRIED[1]})),
        Access("acme", frozenset({"public"}), frozenset({"*"}), frozenset({UNCARRIED[2]})),
        Access(UNCARRIED[0], frozenset({"public"}), frozenset({"*"})),
    ]
    chunks = [
        chunk(f"d{n}", access=access, generation=generation) for n, access in enumerate([*odd, EVERYBODY])
    ]
    report = engine.generations.write(generation, chunks)
    assert [item.document_id for item in report.refused] == ["d0", "d1", "d2", "d3"]
    assert all("rights" in item.reason for item in report.refused)
    assert report.written == 1


def test_a_scope_with_names_that_no_document_can_carry_sees_what_the_others_show(engine: Engine) -> None:
    generation = built(
        engine, [chunk("a"), chunk("b", access=Access("acme", frozenset({"x"}), frozenset({"*"})))]
    )
    whole = groups_scope(*UNCARRIED, labels=UNCARRIED)
    for scope, expected in (
        (whole, ["a@v1#1"]),
        (Scope(UNCARRIED[0], whole.labels, whole.subjects), []),
        (Scope("acme", frozenset(UNCARRIED), whole.subjects), []),
        (Scope("acme", whole.labels, frozenset(UNCARRIED)), []),
    ):
        for result in search(engine, generation, scope, bm25("报销"), nearest(1, 0, 0, 0)):
            assert found_ids(result) == expected
        assert sorted(engine.retrieval.fetch(generation, ["a@v1#1", "b@v1#1"], scope, TIMEOUT_S)) == expected
