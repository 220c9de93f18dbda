"""Queries on both engines: ties, scores, what a hit carries."""

from __future__ import annotations

import random

import numpy as np
import pytest

from service.domain.documents import Link
from service.domain.ports import Engine, IndexSettings
from service.domain.retrieval import KnnLeg
from service.domain.rights import Scope
from tests.contract.material import (
    DIMENSION,
    TIMEOUT_S,
    allowed_to,
    anchored,
    bm25,
    built,
    chunk,
    found_ids,
    groups_scope,
    nearest,
    search,
    unit,
    vector,
)

ALICE = groups_scope("eng")
BOB = groups_scope("eng", "hr")
NOBODY = Scope("", frozenset(), frozenset())


def test_equal_scores_are_ordered_by_chunk_id(engine: Engine) -> None:
    """Report 5: one fixed order, whatever the order of writing and the size asked for."""
    names = [f"d{n:03d}" for n in range(40)]
    shuffled = random.Random(5).sample(names, len(names))
    for number, order in enumerate((names, shuffled, names[::-1]), start=1):
        generation = built(engine, [chunk(name, anchors=("x1",)) for name in order], number=number)
        ids = [f"{name}@v1#1" for name in names]
        for size in (1, 2, 17, 39, 40, 100):
            legs = (
                bm25("报销", size=size),
                anchored("x1", size=size),
                nearest(1, 0, 0, 0, k=size, candidates=size),
            )
            for result in search(engine, generation, ALICE, *legs):
                assert found_ids(result) == ids[:size], (number, size, result.leg)


def test_ties_are_settled_when_hundreds_are_equal(engine: Engine) -> None:
    """The k nearest of 300 equal vectors, in reverse order of writing, below one better one."""
    names = [f"d{n:03d}" for n in range(300)]
    chunks = [chunk(name, direction=(0.6, 0.8, 0, 0)) for name in reversed(names)] + [
        chunk("zbest", direction=(1, 0, 0, 0))
    ]
    generation = built(engine, chunks)
    [result] = search(engine, generation, ALICE, nearest(1, 0, 0, 0, k=5, candidates=5))
    assert found_ids(result) == ["zbest@v1#1", *(f"{name}@v1#1" for name in names[:4])]


def test_a_second_search_gives_the_same_answer(engine: Engine) -> None:
    rng = random.Random(7)
    words = [f"w{n}" for n in range(30)]
    chunks = [
        chunk(
            f"d{n}",
            " ".join(rng.choices(words, k=20)),
            direction=tuple(rng.gauss(0, 1) for _ in range(DIMENSION)),
        )
        for n in range(200)
    ]
    generation = built(engine, chunks)
    legs = bm25(*words[:5], size=30), nearest(0.3, 0.1, -0.7, 0.2, k=30, candidates=30)
    first = [result.hits for result in search(engine, generation, ALICE, *legs)]
    for _ in range(5):
        assert [result.hits for result in search(engine, generation, ALICE, *legs)] == first


def test_bm25_adds_heading_matches_with_their_weight(engine: Engine) -> None:
    generation = built(
        engine,
        [
            chunk("body", "退款 期限", heading="说明"),
            chunk("head", "期限 说明", heading="退款"),
            chunk("none", "其他 内容", heading="说明"),
        ],
    )
    [strong] = search(engine, generation, ALICE, bm25("退款", heading_boost=5.0))
    assert found_ids(strong) == ["head@v1#1", "body@v1#1"]
    [weak] = search(engine, generation, ALICE, bm25("退款", heading_boost=0.1))
    assert found_ids(weak) == ["body@v1#1", "head@v1#1"]
    [off] = search(engine, generation, ALICE, bm25("退款", heading_boost=0.0))
    scores = {hit.chunk.document_id: hit.score for hit in off.hits}
    assert scores["body"] > 0
    assert scores.get("head", 0.0) == 0.0


def test_a_term_named_twice_counts_once(engine: Engine) -> None:
    generation = built(engine, [chunk("a", "退款 期限"), chunk("b", "期限 期限 天")])
    once, twice = search(
        engine, generation, ALICE, bm25("退款", "期限"), bm25("退款", "期限", "退款", "退款")
    )
    assert once.hits == twice.hits


def test_anchors_score_by_how_many_match(engine: Engine) -> None:
    generation = built(
        engine,
        [
            chunk("two", anchors=("ppr9087", "v6.5.0", "other")),
            chunk("one", anchors=("ppr9087",)),
            chunk("sibling", anchors=("ppr1044", "ppr9087x", "PPR9087")),
            chunk("none"),
        ],
    )
    [result] = search(engine, generation, ALICE, anchored("ppr9087", "v6.5.0", "ppr9087"))
    assert [(hit.chunk.document_id, hit.score) for hit in result.hits] == [("two", 2.0), ("one", 1.0)]
    assert found_ids(search(engine, generation, ALICE, anchored())[0]) == []
    assert found_ids(search(engine, generation, ALICE, anchored("ppr9999"))[0]) == []


def test_knn_scores_are_half_of_one_plus_the_cosine(engine: Engine) -> None:
    directions = {"same": (1, 0, 0, 0), "near": (3, 4, 0, 0), "right": (0, 1, 0, 0), "against": (-1, 0, 0, 0)}
    chunks = [chunk(name, direction=tuple(map(float, d))) for name, d in directions.items()]
    generation = built(engine, [*chunks, chunk("blank", direction=None)])
    [result] = search(engine, generation, ALICE, nearest(1, 0, 0, 0))
    assert [hit.chunk.document_id for hit in result.hits] == ["same", "near", "right", "against"]
    assert [hit.score for hit in result.hits] == pytest.approx([1.0, 0.8, 0.5, 0.0], abs=1e-6)
    ids = [f"{name}@v1#1" for name in (*directions, "blank", "missing")]
    cosines = engine.retrieval.similarities(generation, vector(1, 0, 0, 0), ids, ALICE, TIMEOUT_S)
    assert cosines == pytest.approx(
        {"same@v1#1": 1.0, "near@v1#1": 0.6, "right@v1#1": 0.0, "against@v1#1": -1.0}, abs=1e-6
    )
    assert engine.retrieval.similarities(generation, vector(1, 0, 0, 0), [], ALICE, TIMEOUT_S) == {}


def test_exact_neighbours_of_random_vectors(engine: Engine) -> None:
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(400, 16)).astype(np.float32)
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    chunks = [
        chunk(f"d{n:03d}", access=allowed_to("eng" if n % 3 else "hr"), direction=tuple(row))
        for n, row in enumerate(matrix.tolist())
    ]
    generation = built(engine, chunks, dimension=16)
    question = rng.normal(size=16).astype(np.float32)
    question /= np.linalg.norm(question)
    cosines = matrix.astype(np.float64) @ question.astype(np.float64)
    best = [n for n in np.argsort(-cosines) if n % 3][:25]
    [result] = search(engine, generation, ALICE, KnnLeg(question, 25, 25))
    assert found_ids(result) == [f"d{n:03d}@v1#1" for n in best]
    assert [2 * hit.score - 1 for hit in result.hits] == pytest.approx([cosines[n] for n in best], abs=1e-5)


def test_a_question_without_direction_has_no_neighbours_and_is_no_failure(engine: Engine) -> None:
    """A question of punctuation only has a zero vector; cosine with it is undefined."""
    generation = built(engine, [chunk("a")])
    zero = KnnLeg(np.zeros(DIMENSION, dtype=np.float32), 5, 10)
    words, nearest_none = search(engine, generation, ALICE, bm25("报销"), zero)
    assert (found_ids(words), found_ids(nearest_none)) == (["a@v1#1"], [])
    assert [r.leg for r in search(engine, generation, ALICE, zero)] == ["knn"]
    assert engine.retrieval.similarities(generation, zero.vector, ["a@v1#1"], ALICE, TIMEOUT_S) == {}


def test_a_leg_that_fails_leaves_the_others_standing(engine: Engine) -> None:
    generation = built(engine, [chunk("a")])
    wrong = KnnLeg(np.asarray([1, 0, 0], dtype=np.float32), 5, 10)
    first, failed, last = search(engine, generation, ALICE, bm25("报销"), wrong, anchored("x"))
    assert (failed.leg, failed.hits, failed.error) == ("knn", (), "failed")
    assert found_ids(first) == ["a@v1#1"]
    assert found_ids(last) == []
    assert [result.leg for result in (first, failed, last)] == ["bm25", "knn", "anchors"]
    nan = KnnLeg(np.asarray([np.nan, 0, 0, 1], dtype=np.float32), 5, 10)
    assert search(engine, generation, ALICE, nan)[0].error == "failed"


def test_hits_carry_everything_needed_to_cite_them(engine: Engine) -> None:
    written = chunk(
        "doc",
        "型号 X-77",
        anchors=("x77",),
        page=3,
        kind="table",
        search_prefix="型号|电流",
        previous_id="p",
        next_id="n",
        links=(Link("other", "v2", "x", "stale"),),
    )
    generation = built(engine, [written])
    legs = bm25("X-77"), anchored("x77"), nearest(1, 0, 0, 0)
    found = [result.hits[0].chunk for result in search(engine, generation, ALICE, *legs)]
    fetched = engine.retrieval.fetch(generation, ["doc@v1#1", "missing", "doc@v1#1"], ALICE, TIMEOUT_S)
    assert list(fetched) == ["doc@v1#1"]
    for one in (*found, fetched["doc@v1#1"]):
        for name in ("chunk_id", "document_id", "document_version", "ordinal", "kind", "heading_path", "span", "text",
                     "text_sha256", "search_prefix", "section", "page", "previous_id", "next_id", "links"):  # fmt: skip
            assert getattr(one, name) == getattr(written.chunk, name), name
        assert (one.title, one.locale, one.canonical_url) == (
            written.title,
            written.locale,
            written.canonical_url,
        )
        assert one.anchors == ("x77",)


def test_both_engines_give_the_same_scores(embedded: Engine, elastic: Engine) -> None:
    """One shard, the same tokens: BM25 agrees to three decimals, also where headings or bodies are empty."""
    rng = random.Random(11)
    words = [f"w{n}" for n in range(60)]
    weights = [1 / (n + 1) for n in range(60)]
    chunks = [
        chunk(
            f"d{n:03d}",
            " ".join(rng.choices(words, weights, k=rng.randrange(0, 120))),
            heading=" ".join(rng.choices(words, weights, k=rng.randrange(0, 6))),
            anchors=rng.sample(words, 3),
            access=allowed_to("eng") if n % 4 else allowed_to("hr"),
            direction=unit(*(rng.gauss(0, 1) for _ in range(DIMENSION))),
        )
        for n in range(300)
    ]
    generations = {engine.name: built(engine, chunks) for engine in (embedded, elastic)}
    for _ in range(40):
        legs = (
            bm25(
                *rng.choices(words, k=rng.randrange(1, 12)),
                size=300,
                heading_boost=rng.choice([0.5, 1.0, 2.0]),
            ),
            anchored(*rng.sample(words, 4), size=300),
            nearest(*(rng.gauss(0, 1) for _ in range(DIMENSION)), k=40),
        )
        ours = search(embedded, generations["embedded"], ALICE, *legs)
        theirs = search(elastic, generations["elasticsearch"], ALICE, *legs)
        for mine, other in zip(ours, theirs, strict=True):
            scores = {hit.chunk.chunk_id: hit.score for hit in other.hits}
            assert {hit.chunk.chunk_id: hit.score for hit in mine.hits} == pytest.approx(scores, abs=5e-4), (
                mine.leg
            )
            assert len(scores) > 0


@pytest.mark.parametrize("vector_index", ["flat", "hnsw", "int8_hnsw"])
def test_each_vector_index_type_serves_the_same_port(engine: Engine, vector_index: str) -> None:
    settings = IndexSettings(16, shards=2, vector_index=vector_index)
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(300, 16)).tolist()
    generation = built(
        engine,
        [chunk(f"d{n:03d}", direction=tuple(row)) for n, row in enumerate(matrix)],
        dimension=16,
        settings=settings,
    )
    question = np.asarray(unit(*matrix[42]), dtype=np.float32)
    [result] = search(engine, generation, ALICE, KnnLeg(question, 5, 100))
    assert len(result.hits) == 5
    assert result.hits[0].chunk.document_id == "d042"
    cosines = engine.retrieval.similarities(generation, question, ["d042@v1#1"], ALICE, TIMEOUT_S)
    assert cosines["d042@v1#1"] == pytest.approx(1.0, abs=0.02)
