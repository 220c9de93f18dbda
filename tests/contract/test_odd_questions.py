"""Odd, long and empty questions on both engines."""

from __future__ import annotations

import pytest

from service.domain.ports import Engine
from service.domain.rights import Scope
from tests.contract.material import (
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
)

ALICE = groups_scope("eng")
BOB = groups_scope("eng", "hr")
NOBODY = Scope("", frozenset(), frozenset())


@pytest.mark.parametrize(
    "text",
    ["foo/bar:(", "* OR acl:hr", "a AND NOT", '"', "\\", "body:x^5", "[a TO z]", "~2", "access.tenant:*", "nul\0",
     "\ud83d", "{}", "😀", "\ue000", "x" * 5000, " ", "", "\u2028"],
)  # fmt: skip
def test_question_text_is_never_syntax(engine: Engine, text: str) -> None:
    """Terms and anchors are matched as they are; none reaches a query parser."""
    generation = built(
        engine,
        [
            chunk("plain", "foo bar a x hr", anchors=("a",)),
            chunk("hidden", "* acl:hr foo/bar:(", access=allowed_to("hr")),
        ],
    )
    legs = bm25(*text.split(" "), text), anchored(text, *text.split(" "))
    words, anchors = search(engine, generation, ALICE, *legs)
    expected = ["plain@v1#1"] if set(text.split(" ")) & {"foo", "bar", "a", "x", "hr"} else []
    assert found_ids(words) == expected
    assert found_ids(anchors) == (["plain@v1#1"] if "a" in text.split(" ") else [])
    assert engine.retrieval.fetch(generation, [text], ALICE, TIMEOUT_S) == {}


def test_an_odd_term_that_was_indexed_is_found(engine: Engine) -> None:
    odd = [
        "foo/bar:(",
        "*",
        '"',
        "\\",
        "a\0b",
        "😀",
        "a+b=c",
        "😀" * 100,
        "ÄÖ",
        "ﬁ",
        "\u00ad",
        "\ufeff",
        "\u200b",
    ]
    generation = built(
        engine,
        [chunk(f"{n:02d}", body_terms=(term, "common"), anchors=(term,)) for n, term in enumerate(odd)],
    )
    for number, term in enumerate(odd):
        words, anchors = search(engine, generation, ALICE, bm25(term), anchored(term))
        assert found_ids(words) == found_ids(anchors) == [f"{number:02d}@v1#1"], term


def test_a_question_of_thousands_of_terms_is_answered(engine: Engine) -> None:
    generation = built(engine, [chunk("a", "w3 w4"), chunk("b", "w2999")])
    words, anchors = search(
        engine,
        generation,
        ALICE,
        bm25(*(f"w{n}" for n in range(3000))),
        anchored(*(f"x{n}" for n in range(3000))),
    )
    assert found_ids(words) == ["a@v1#1"], "the first 512 terms are asked for"
    assert found_ids(anchors) == []


def test_no_legs_and_no_results_are_fine(engine: Engine) -> None:
    generation = built(engine, [chunk("a")])
    assert search(engine, generation, ALICE) == ()
    empty = search(engine, generation, ALICE, bm25("报销", size=0), anchored("x", size=0), bm25())
    assert [found_ids(result) for result in empty] == [[], [], []]


def test_a_scope_that_may_see_ten_thousand_chunks(engine: Engine) -> None:
    """No timing is asserted; what counts is that a long list of visible chunks works, and excludes the rest."""
    chunks = (
        chunk(
            f"d{n:05d}",
            f"w{n % 7} w{n % 11}",
            access=allowed_to("eng") if n % 6 else allowed_to("hr"),
            direction=(1.0, n / 12_000, 0, 0),
        )
        for n in range(12_000)
    )
    generation = built(engine, chunks)
    assert engine.retrieval.any_visible(generation, ALICE, TIMEOUT_S)
    words, near = search(engine, generation, ALICE, bm25("w3", "w5", size=50), nearest(1, 0, 0, 0, k=50))
    assert [hit.chunk.document_id for hit in near.hits] == [f"d{n:05d}" for n in range(61) if n % 6][:50]
    assert len(words.hits) == 50
    assert all(int(hit.chunk.document_id[1:]) % 6 for hit in words.hits)
    [hidden] = search(engine, generation, groups_scope("hr"), bm25("w3", "w5", size=50))
    assert all(int(hit.chunk.document_id[1:]) % 6 == 0 for hit in hidden.hits)
