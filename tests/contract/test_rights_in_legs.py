"""The scope inside every leg, on both engines: nothing hidden is found, counted, or pushes others out."""

from __future__ import annotations

from service.domain.ports import Engine
from service.domain.rights import Access, Scope
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
    packed,
    search,
    vector,
)

ALICE = groups_scope("eng")
BOB = groups_scope("eng", "hr")
NOBODY = Scope("", frozenset(), frozenset())


def test_hidden_neighbours_are_not_chosen_and_then_thrown_away(engine: Engine) -> None:
    """Report 1: sixty hidden documents that equal the question, three visible ones that do not."""
    hidden = [chunk(f"fin{n:02d}", "报销 流程", access=allowed_to("finance")) for n in range(60)]
    visible = [
        chunk(f"A{n}", "报销 联系人 名单", access=allowed_to("eng"), direction=(1.0, 0.1 * n, 0.0, 0.0))
        for n in (1, 2, 3)
    ]
    generation = built(engine, hidden + visible)
    for k in (3, 10, 50):
        legs = nearest(1, 0, 0, 0, k=k, candidates=50), bm25("报销", "流程", size=k)
        for result in search(engine, generation, ALICE, *legs):
            assert sorted(found_ids(result)) == ["A1@v1#1", "A2@v1#1", "A3@v1#1"]


def test_no_leg_shows_what_the_scope_may_not_see(engine: Engine) -> None:
    """Report 2's kind: whatever is asked, and by whom, hidden documents leave no mark."""
    generation = built(
        engine,
        [
            chunk("open", "rose", anchors=("tag-rose",), tokens=packed(2)),
            chunk("eng", "rose", anchors=("tag-rose",), tokens=packed(2), access=allowed_to("eng")),
            chunk(
                "hr",
                "rose layoff-2026",
                anchors=("tag-rose", "layoff2026"),
                tokens=packed(2),
                access=allowed_to("hr"),
            ),
            chunk(
                "tenant",
                "rose",
                anchors=("tag-rose",),
                tokens=packed(2),
                access=Access("rival", frozenset({"public"}), frozenset({"*"})),
            ),
            chunk(
                "label",
                "rose",
                anchors=("tag-rose",),
                tokens=packed(2),
                access=Access("acme", frozenset({"public", "secret"}), frozenset({"*"})),
            ),
            chunk(
                "denied",
                "rose",
                anchors=("tag-rose",),
                tokens=packed(2),
                access=Access("acme", frozenset({"public"}), frozenset({"*"}), frozenset({"group:eng"})),
            ),
        ],
    )
    legs = bm25("rose", "layoff-2026"), anchored("tag-rose", "layoff2026"), nearest(1, 0, 0, 0)
    everything = [item.chunk.chunk_id for item in engine.generations.scan(generation)]
    expected = {
        "alice": (ALICE, {"open", "eng"}),
        "bob": (BOB, {"open", "eng", "hr"}),
        "eve": (groups_scope(), {"open", "denied"}),
        "secret": (groups_scope("hr", labels=["secret"]), {"open", "hr", "label", "denied"}),
        "rival": (groups_scope("eng", "hr", tenant="rival"), {"tenant"}),
        "nobody": (NOBODY, set()),
        "no tenant": (Scope("", frozenset({"public"}), frozenset({"*"})), set()),
        "no subjects": (Scope("acme", frozenset({"public"}), frozenset()), set()),
        "no labels": (Scope("acme", frozenset(), frozenset({"*"})), set()),
        "half a character": (
            Scope("acme", frozenset({"public", "\ud800"}), frozenset({"*", "\udfff"})),
            {"open", "denied"},
        ),
        "half a tenant": (Scope("acme\ud800", frozenset({"public"}), frozenset({"*"})), set()),
    }
    for who, (scope, documents) in expected.items():
        ids = {f"{name}@v1#1" for name in documents}
        for result in search(engine, generation, scope, *legs):
            assert set(found_ids(result)) == ids, (who, result.leg)
        assert set(engine.retrieval.fetch(generation, everything, scope, TIMEOUT_S)) == ids, who
        assert (
            set(engine.retrieval.similarities(generation, vector(1, 0, 0, 0), everything, scope, TIMEOUT_S))
            == ids
        ), who
        assert set(engine.retrieval.token_vectors(generation, everything, scope, TIMEOUT_S)) == ids, who
        assert engine.retrieval.any_visible(generation, scope, TIMEOUT_S) is bool(documents), who


def test_names_are_compared_whole(engine: Engine) -> None:
    """Group names with separators, quotes, wildcards, case and NUL neither merge nor split."""
    names = [
        "a",
        "A",
        "a,b",
        "a:b",
        "a b",
        "*",
        "a\0b",
        "a%00b",
        "a%",
        "[a]",
        'a"',
        "a\\",
        "ａ",
        "siteA/owners",
        "siteB/owners",
    ]
    generation = built(engine, [chunk(f"{n:02d}", access=allowed_to(name)) for n, name in enumerate(names)])
    for number, name in enumerate(names):
        scope = Scope("acme", frozenset({"public"}), frozenset({f"group:{name}"}))
        assert found_ids(search(engine, generation, scope, bm25("报销"))[0]) == [f"{number:02d}@v1#1"], name
