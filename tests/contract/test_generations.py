"""Generations on both engines: build, seal, read back, rights, aliases."""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Callable

import pytest

from service.domain.documents import Link
from service.domain.generations import live_alias, version_alias
from service.domain.ports import Engine, IndexSettings
from service.domain.rights import Access
from service.errors import BuildRefused, Conflict, GenerationGone, Unavailable
from tests.contract.material import (
    CORPUS,
    DIMENSION,
    EVERYBODY,
    TIMEOUT_S,
    VERSION,
    allowed_to,
    anchored,
    bm25,
    built,
    chunk,
    found_ids,
    groups_scope,
    nearest,
    new_generation,
    packed,
    publish,
    search,
)

ALICE = groups_scope("eng")


def test_what_was_written_is_read_back_whole_and_in_order(engine: Engine) -> None:
    generation = new_generation(engine)
    chunks = [
        chunk(
            "b",
            "第二 篇",
            generation=generation,
            ordinal=2,
            page=7,
            previous_id="b@v1#1",
            anchors=("ppr9087",),
            links=(
                Link("a", "v1", "标题", "resolved"),
                Link("https://example.org/" + "x" * 40_000, None, "", "outside"),
            ),
            cluster="0123456789abcdef",
        ),
        chunk(
            "a",
            "text with words",
            generation=generation,
            direction=None,
            kind="table",
            search_prefix="型号|电压",
        ),
        chunk("c", "…", generation=generation, body_terms=(), heading="", direction=(0.3, -0.4, 0.5, 0.1)),
        chunk(
            "d/ü 😀",
            "x",
            generation=generation,
            access=Access("t", frozenset("lm"), frozenset({"*"}), frozenset("z")),
        ),
    ]
    settings = IndexSettings(DIMENSION)
    engine.generations.create(generation, settings)
    report = engine.generations.write(generation, iter(chunks))
    assert (report.written, report.refused) == (4, ())
    ordered = sorted(chunks, key=lambda item: item.chunk.chunk_id)
    assert list(engine.generations.scan(generation, vectors=True)) == ordered
    engine.generations.seal(generation, settings)
    assert list(engine.generations.scan(generation, vectors=True)) == ordered
    assert list(engine.generations.scan(generation)) == [dataclasses.replace(c, vector=None) for c in ordered]


def test_a_scan_reads_more_than_one_page(engine: Engine) -> None:
    generation = built(engine, (chunk(f"d{n:05d}") for n in range(1203)))
    ids = [item.chunk.chunk_id for item in engine.generations.scan(generation)]
    assert ids == [f"d{n:05d}@v1#1" for n in range(1203)]


def test_creating_twice_is_a_conflict(engine: Engine) -> None:
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    with pytest.raises(Conflict):
        engine.generations.create(generation, IndexSettings(DIMENSION))


def test_writing_a_chunk_again_replaces_it(engine: Engine) -> None:
    """A killed build is run again from the start."""
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    engine.generations.write(generation, [chunk("a", "旧"), chunk("b")])
    report = engine.generations.write(generation, [chunk("a", "新", direction=None)])
    assert report.written == 1
    engine.generations.seal(generation, IndexSettings(DIMENSION))
    texts = {
        c.chunk.document_id: (c.chunk.text, c.vector)
        for c in engine.generations.scan(generation, vectors=True)
    }
    assert texts["a"] == ("新", None)
    assert len(texts) == 2


def test_refused_chunks_are_named_and_the_rest_is_written(engine: Engine) -> None:
    generation = new_generation(engine)
    engine.generations.create(generation, IndexSettings(DIMENSION))
    zero = dataclasses.replace(chunk("zero"), vector=(0.0,) * DIMENSION)
    short = dataclasses.replace(chunk("short"), vector=(1.0,) * (DIMENSION - 1))
    strange = dataclasses.replace(chunk("nan"), vector=(float("nan"), 1.0, 0.0, 0.0))
    tiny = dataclasses.replace(chunk("tiny"), vector=(1e-60, 0.0, 0.0, 0.0))
    spaced = chunk("spaced", body_terms=("two words",))
    surrogate = chunk("half", "a \ud800 b")
    long_id = chunk("x" * 9000)
    sent = [
        chunk("one"),
        zero,
        short,
        strange,
        tiny,
        spaced,
        surrogate,
        long_id,
        chunk("two", direction=None),
    ]
    report = engine.generations.write(generation, sent)
    assert report.written == 2
    reasons = {item.document_id[:10]: item.reason for item in report.refused}
    assert set(reasons) == {"zero", "short", "nan", "tiny", "spaced", "half", "x" * 10}
    assert "zero vector" in reasons["zero"]
    assert "zero vector" in reasons["tiny"], "nothing is left of it in float32"
    assert "3 dimensions, the index 4" in reasons["short"]
    assert "not finite" in reasons["nan"]
    assert all(item.chunk_id.startswith(item.document_id) for item in report.refused)
    engine.generations.seal(generation, IndexSettings(DIMENSION))
    assert [c.chunk.document_id for c in engine.generations.scan(generation)] == ["one", "two"]


def test_a_sealed_generation_takes_no_more_chunks_but_can_be_sealed_again(engine: Engine) -> None:
    generation = built(engine, [chunk("a")])
    with pytest.raises(Conflict):
        engine.generations.write(generation, [chunk("b")])
    engine.generations.seal(generation, IndexSettings(DIMENSION))
    assert [c.chunk.document_id for c in engine.generations.scan(generation)] == ["a"]


def test_an_empty_generation_answers_with_nothing(engine: Engine) -> None:
    generation = built(engine, [])
    assert list(engine.generations.scan(generation)) == []
    results = search(engine, generation, ALICE, bm25("报销"), anchored("x"), nearest(1, 0, 0, 0))
    assert [found_ids(result) for result in results] == [[], [], []]


def test_an_operation_on_a_missing_generation_says_so(engine: Engine) -> None:
    gone = new_generation(engine, 99)
    with pytest.raises(GenerationGone):
        engine.generations.write(gone, [chunk("a")])
    with pytest.raises(GenerationGone):
        engine.generations.seal(gone, IndexSettings(DIMENSION))
    with pytest.raises(GenerationGone):
        list(engine.generations.scan(gone))
    with pytest.raises(GenerationGone):
        engine.generations.spread_access(gone, "a", EVERYBODY)
    engine.generations.drop(gone)  # nothing to do


def test_a_revocation_and_a_grant_reach_every_leg_at_once(engine: Engine) -> None:
    generation = built(
        engine,
        [chunk("pay", "薪酬 表", ordinal=n, anchors=("x1",), tokens=packed(n)) for n in (1, 2)]
        + [chunk("open", "薪酬 说明", anchors=("x1",))],
    )

    def seen() -> list[set[str]]:
        legs = bm25("薪酬"), anchored("x1"), nearest(1, 0, 0, 0)
        return [set(found_ids(result)) for result in search(engine, generation, ALICE, *legs)]

    everything = {"pay@v1#1", "pay@v1#2", "open@v1#1"}
    assert seen() == [everything] * 3
    assert engine.generations.spread_access(generation, "pay", allowed_to("hr")) == 2
    assert seen() == [{"open@v1#1"}] * 3
    assert engine.retrieval.fetch(generation, ["pay@v1#1"], ALICE, TIMEOUT_S) == {}
    assert (
        engine.retrieval.similarities(generation, nearest(1, 0, 0, 0).vector, ["pay@v1#1"], ALICE, TIMEOUT_S)
        == {}
    )
    assert engine.retrieval.token_vectors(generation, sorted(everything), ALICE, TIMEOUT_S) == {}
    assert engine.generations.spread_access(generation, "pay", allowed_to("eng")) == 2
    assert seen() == [everything] * 3
    spread = {c.chunk.chunk_id: c for c in engine.generations.scan(generation, vectors=True, tokens=True)}
    held = {"pay@v1#1": packed(1), "pay@v1#2": packed(2)}
    assert engine.retrieval.token_vectors(generation, sorted(everything), ALICE, TIMEOUT_S) == held
    assert {name: c.tokens for name, c in spread.items()} == held | {"open@v1#1": None}
    assert spread["pay@v1#1"].access == allowed_to("eng")
    assert spread["pay@v1#1"].vector == chunk("pay").vector, "spreading rights must not touch the vector"
    assert spread["open@v1#1"].access == EVERYBODY


def test_rights_emptied_by_a_spread_show_the_document_to_nobody(engine: Engine) -> None:
    generation = built(engine, [chunk("a"), chunk("b"), chunk("c")])
    engine.generations.spread_access(generation, "a", Access("acme", frozenset(), frozenset({"*"})))
    engine.generations.spread_access(generation, "b", Access("acme", frozenset({"public"}), frozenset()))
    engine.generations.spread_access(generation, "c", Access("", frozenset({"public"}), frozenset({"*"})))
    assert found_ids(search(engine, generation, ALICE, bm25("报销"))[0]) == []


def test_a_deletion_leaves_no_chunk_behind(engine: Engine) -> None:
    generation = built(
        engine, [chunk("gone", ordinal=n, tokens=packed(n)) for n in range(1, 6)] + [chunk("kept")]
    )
    assert engine.generations.spread_access(generation, "gone", None) == 5
    assert engine.generations.spread_access(generation, "gone", None) == 0
    left = [(c.chunk.document_id, c.tokens) for c in engine.generations.scan(generation, tokens=True)]
    assert left == [("kept", None)]
    for result in search(engine, generation, ALICE, bm25("报销"), nearest(1, 0, 0, 0)):
        assert found_ids(result) == ["kept@v1#1"]


def test_spreading_touches_exactly_the_named_document(engine: Engine) -> None:
    odd = ["a", "a b", "a*", "A", "a\0b", "a/b#1", 'a"b', "文档"]
    generation = built(engine, [chunk(name) for name in odd])
    for name in odd:
        assert engine.generations.spread_access(generation, name, allowed_to("hr")) == 1
        changed = [c.chunk.document_id for c in engine.generations.scan(generation) if c.access != EVERYBODY]
        assert changed == [name]
        engine.generations.spread_access(generation, name, EVERYBODY)
    assert engine.generations.spread_access(generation, "\ud800", None) == 0


def test_a_switch_moves_both_aliases_in_one_call(engine: Engine) -> None:
    assert engine.generations.aliases(CORPUS) == {}
    assert engine.retrieval.resolve(CORPUS, "live") is None
    first, second = built(engine, [chunk("a")]), built(engine, [chunk("b")], number=2)
    publish(engine, first)
    assert engine.retrieval.resolve(CORPUS, "live") == first
    assert engine.retrieval.resolve(CORPUS, VERSION) == first
    publish(engine, second)
    assert engine.retrieval.resolve(CORPUS, "live") == second
    assert engine.generations.aliases(CORPUS) == {
        live_alias(engine.prefix, CORPUS): (second.name,),
        version_alias(engine.prefix, CORPUS, VERSION): (second.name,),
    }
    assert engine.retrieval.resolve(CORPUS, "cvffffffffffff") is None
    assert engine.retrieval.resolve("another", "live") is None


def test_a_switch_that_expects_what_is_not_so_changes_nothing(engine: Engine) -> None:
    first, second = built(engine, [chunk("a")]), built(engine, [chunk("b")], number=2)
    publish(engine, first)
    before = engine.generations.aliases(CORPUS)
    live = live_alias(engine.prefix, CORPUS)
    version = version_alias(engine.prefix, CORPUS, VERSION)
    with pytest.raises(Conflict):
        engine.generations.switch({live: second.name}, [(live, second.name)])
    with pytest.raises(Conflict):
        engine.generations.switch({live: second.name}, [(version, first.name), (live, second.name)])
    with pytest.raises(Conflict):
        engine.generations.switch({live: new_generation(engine, 9).name}, [(live, first.name)])
    assert engine.generations.aliases(CORPUS) == before


def test_an_alias_on_two_generations_is_a_fault_and_repaired_in_one_call(engine: Engine) -> None:
    first, second = built(engine, [chunk("a")]), built(engine, [chunk("b")], number=2)
    publish(engine, first)
    live = live_alias(engine.prefix, CORPUS)
    engine.generations.switch({live: second.name}, [])
    assert engine.generations.aliases(CORPUS)[live] == (first.name, second.name)
    with pytest.raises(Unavailable, match="not in order"):
        engine.retrieval.resolve(CORPUS, "live")
    engine.generations.switch({live: second.name}, [(live, first.name)])
    assert engine.retrieval.resolve(CORPUS, "live") == second


def test_corpora_whose_names_begin_alike_do_not_meet(engine: Engine) -> None:
    for number, corpus in enumerate(("a", "a-b", "a-chunks-b"), start=1):
        generation = new_generation(engine, number, corpus=corpus)
        engine.generations.create(generation, IndexSettings(DIMENSION))
        engine.generations.switch({live_alias(engine.prefix, corpus): generation.name}, [])
    for number, corpus in enumerate(("a", "a-b", "a-chunks-b"), start=1):
        generation = new_generation(engine, number, corpus=corpus)
        assert engine.generations.names(corpus) == (generation.name,)
        assert engine.retrieval.resolve(corpus, "live") == generation
        assert list(engine.generations.aliases(corpus)) == [live_alias(engine.prefix, corpus)]


def test_dropping_removes_a_retained_generation_and_refuses_the_live_one(engine: Engine) -> None:
    first, second = built(engine, [chunk("a")]), built(engine, [chunk("b")], number=2)
    publish(engine, second)
    with pytest.raises(BuildRefused):
        engine.generations.drop(second)
    assert found_ids(search(engine, second, ALICE, bm25("报销"))[0]) == ["b@v1#1"]
    assert found_ids(search(engine, first, ALICE, bm25("报销"))[0]) == ["a@v1#1"]
    engine.generations.drop(first)
    engine.generations.drop(first)
    assert engine.generations.names(CORPUS) == (second.name,)
    with pytest.raises(GenerationGone):
        search(engine, first, ALICE, bm25("报销"), nearest(1, 0, 0, 0))
    with pytest.raises(GenerationGone):
        engine.retrieval.fetch(first, ["a@v1#1"], ALICE, TIMEOUT_S)
    with pytest.raises(GenerationGone):
        engine.retrieval.any_visible(first, ALICE, TIMEOUT_S)
    with pytest.raises(GenerationGone):
        engine.retrieval.similarities(first, nearest(1, 0, 0, 0).vector, ["a@v1#1"], ALICE, TIMEOUT_S)
    with pytest.raises(GenerationGone):
        engine.retrieval.token_vectors(first, ["a@v1#1"], ALICE, TIMEOUT_S)
    again = built(engine, [chunk("c")], number=1)
    assert found_ids(search(engine, again, ALICE, bm25("报销"))[0]) == ["c@v1#1"]


def test_erasing_leaves_nothing_and_the_engine_can_be_used_anew(engine: Engine) -> None:
    publish(engine, built(engine, [chunk("a")]))
    engine.erase()
    assert engine.generations.names(CORPUS) == ()
    assert engine.retrieval.resolve(CORPUS, "live") is None
    publish(engine, built(engine, [chunk("a")]))
    assert engine.ready() == {engine.name: "ok"}


def test_what_is_live_and_how_large_it_is(engine: Engine) -> None:
    assert engine.generations.live() == {}
    first, second = built(engine, [chunk("a")]), built(engine, [chunk("b")], number=2)
    publish(engine, first)
    assert engine.generations.live() == {CORPUS: (first.name,)}
    engine.generations.switch({live_alias(engine.prefix, CORPUS): second.name}, [])
    assert engine.generations.live() == {CORPUS: (first.name, second.name)}
    assert engine.generations.size(first) > 0
    with pytest.raises(GenerationGone):
        engine.generations.size(new_generation(engine, 99))


def test_a_prefix_that_begins_alike_has_aliases_of_its_own(make_elastic: Callable[[str], Engine]) -> None:
    prefix = f"test-{secrets.token_hex(5)}"
    shorter, longer = make_elastic(prefix), make_elastic(f"{prefix}-more")
    publish(longer, built(longer, [chunk("a")]))
    assert shorter.generations.live() == {}


def test_a_sealed_generation_takes_a_change_of_rights_and_nothing_else(engine: Engine) -> None:
    generation = built(engine, [chunk("a", "旧")])
    publish(engine, generation)
    with pytest.raises(Conflict, match="only rights may change"):
        engine.generations.write(generation, [chunk("a", "新")])
    assert engine.generations.spread_access(generation, "a", allowed_to("hr")) == 1
    [left] = engine.generations.scan(generation, vectors=True)
    assert (left.chunk.text, left.access) == ("旧", allowed_to("hr"))
