"""Packing never reorders or overfills, tells why it drops, and joins only what belongs together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answers import Candidate
from service.domain.documents import Link, Span
from service.domain.retrieval import FoundChunk
from service.errors import Misconfigured
from service.online import links, packing
from service.profiles.ranking import FOLDER, Packing, Shares, load_profile, read_profile
from service.text.binding import names_only
from tests.contract.material import document

SHARES = Shares(instructions=0.1, question=0.1, evidence=0.6, output=0.2)
PACKING = Packing(
    window=1000, shares=SHARES, max_evidence=3, per_document=2, joined=3, hops=1, links=2, link_coverage=0.5
)


def chunk(chunk_id: str, text: str = "自动重试三次", document_id: str = "d", **changes: Any) -> FoundChunk:
    made = FoundChunk(
        chunk_id, document_id, "v1", 1, "paragraph", (), Span(0, len(text)), text, "", "", "", None, None, None,
        "", "zh", "", (),
    )  # fmt: skip
    return replace(made, **changes)


def candidates(*chunks: FoundChunk) -> list[Candidate]:
    return [Candidate(c.chunk_id, 1.0) for c in chunks]


def chosen(
    *chunks: FoundChunk, settings: Packing = PACKING, budget: int = 100
) -> tuple[list[str], dict[str, str]]:
    kept, dropped, _ = packing.choose(
        candidates(*chunks), {c.chunk_id: c for c in chunks}, settings, budget, len
    )
    return [c.chunk_id for c in kept], dropped


def test_each_limit_drops_with_its_reason() -> None:
    quota = [chunk(name, name, "one") for name in "abc"]
    assert chosen(*quota) == (["a", "b"], {"c": "document_quota"})
    full = [chunk(name, "x", name) for name in "abcd"]
    assert chosen(*full) == (["a", "b", "c"], {"d": "evidence_full"})
    budget = [chunk("a", "x" * 60, "a"), chunk("b", "x" * 60, "b"), chunk("c", "x" * 20, "c")]
    assert chosen(*budget) == (["a", "c"], {"b": "token_budget"})


def test_the_first_piece_always_fits() -> None:
    assert chosen(chunk("a", "x" * 5000, "a"), chunk("b", "x", "b")) == (["a"], {"b": "token_budget"})


def test_near_duplicates_are_there_once_and_versions_are_kept() -> None:
    one, other = chunk("a", "甲", "a", cluster="7"), chunk("b", "甲 ", "b", cluster="7")
    assert chosen(one, other, chunk("c", "乙", "c")) == (["a", "c"], {"b": "near_duplicate of a"})
    names = [chunk(name, f"The {name} team is led by Wang.", name, cluster="7") for name in ("a", "b")]
    assert chosen(*names) == (["a", "b"], {})
    more = chunk("c", "The a team is led by Wang now.", "c", cluster="7")
    assert chosen(names[0], more) == (["a"], {"c": "near_duplicate of a"})
    twice = [chunk("a", "甲", "d"), chunk("b", "甲", "d"), chunk("c", "甲", "d", document_version="v2")]
    assert chosen(*twice) == (["a", "c"], {"b": "near_duplicate of a"})


@given(
    st.lists(st.tuples(st.sampled_from("xyz"), st.integers(1, 90)), max_size=12),
    st.integers(64, 200),
    st.integers(1, 5),
    st.integers(1, 3),
)
def test_choosing_keeps_order_and_limits(
    given_chunks: list[tuple[str, int]], budget: int, most: int, per_document: int
) -> None:
    chunks = [
        chunk(f"c{place:02}", f"{place:02}" + "x" * size, doc)
        for place, (doc, size) in enumerate(given_chunks)
    ]
    limits = PACKING.model_copy(update={"max_evidence": most, "per_document": per_document})
    kept, dropped = chosen(*chunks, settings=limits, budget=budget)
    assert kept == sorted(kept)
    assert sorted([*kept, *dropped]) == [c.chunk_id for c in chunks]
    by_id = {c.chunk_id: c for c in chunks}
    assert len(kept) <= most
    assert all(sum(by_id[k].document_id == doc for k in kept) <= per_document for doc in "xyz")
    # One more token each for the line between head and text.
    assert len(kept) <= 1 or sum(len(by_id[k].text) + 1 for k in kept) <= budget


# ── slots ───────────────────────────────────────────────────────────────────────────────────────────────


@given(st.integers(64, 10_000), st.integers(0, 20_000))
def test_slots_never_overfill_the_window_and_a_long_question_takes_nothing_from_evidence(
    window: int, question: int
) -> None:
    settings = PACKING.model_copy(update={"window": window})
    slots = packing.slots_of(settings, question)
    assert slots.instructions + slots.question + slots.evidence + slots.output <= window
    assert slots.evidence >= int(window * SHARES.evidence)


def test_shares_of_more_than_everything_are_refused() -> None:
    text = (FOLDER / "default.toml").read_text("utf-8").replace("output = 0.2", "output = 0.9")
    with pytest.raises(Misconfigured, match="add up to more than 1"):
        read_profile(text, where="test")
    assert load_profile("default").packing.shares.evidence > 0.5


# ── neighbours ──────────────────────────────────────────────────────────────────────────────────────────

TEXT = "任务会自动重试。\n\n除非队列已满，此时直接丢弃。\n\n* Error Number: 8033\n\n使用了非法的 year 值。"
PARTS = TEXT.split("\n\n")


def pieces(**changes: Any) -> dict[str, FoundChunk]:
    made: dict[str, FoundChunk] = {}
    for place, part in enumerate(PARTS):
        start = TEXT.index(part)
        made[f"c{place}"] = chunk(
            f"c{place}", part, ordinal=place + 1, span=Span(start, start + len(part)), section="一",
            previous_id=f"c{place - 1}" if place else None,
            next_id=f"c{place + 1}" if place + 1 < len(PARTS) else None,
        )  # fmt: skip
    if changes:
        made["c1"] = replace(made["c1"], **changes)
    return made


def test_a_rule_and_its_exception_are_joined_from_either_side() -> None:
    known = pieces()
    assert packing.neighbours_of(candidates(known["c0"]), {"c0": known["c0"]}, 3) == ("c1",)
    assert packing.joins(candidates(known["c0"]), known, 3) == {"c0": (None, "c1")}
    assert packing.joins(candidates(known["c1"]), known, 3) == {"c1": ("c0", None)}
    wide = packing.widened(known["c0"], [known["c1"]], document("d", "v1", TEXT))
    assert wide.text == TEXT[: wide.span.end] and wide.text.endswith("直接丢弃。") and wide.chunk_id == "c0"


def test_a_name_and_what_is_said_of_it_are_joined() -> None:
    known = pieces()
    assert packing.joins(candidates(known["c2"]), known, 3) == {"c2": (None, "c3")}
    assert packing.joins(candidates(known["c3"]), known, 3) == {"c3": ("c2", None)}


@pytest.mark.parametrize("changes", [{"section": "二"}, {"document_version": "v2"}, {"kind": "table"}])
def test_nothing_is_joined_across_sections_versions_or_tables(changes: dict[str, Any]) -> None:
    assert packing.joins(candidates(pieces()["c0"]), pieces(**changes), 3) == {}


def test_a_piece_of_its_own_is_not_joined_and_only_the_first_are_looked_at() -> None:
    known = pieces()
    both = candidates(known["c0"], known["c1"])
    assert packing.joins(both, known, 3) == {}
    assert packing.joins(candidates(known["c0"]), known, 0) == {}


def test_what_the_archive_does_not_bear_out_is_not_widened() -> None:
    known = pieces()
    assert packing.widened(known["c0"], [known["c1"]], document("d", "v1", "#" + TEXT)) is known["c0"]
    assert packing.widened(known["c0"], [known["c1"]], None) is known["c0"]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("* Error Number: 8033", True),
        ("`--retry-limit`", True),
        ("- tidb_ttl_job_enable", True),
        ("8033 在写入冲突时返回。", False),
        ("重试策略", False),
        ("| 8033 | 3 |", False),
        ("", False),
    ],
)
def test_a_line_that_only_names(line: str, names: bool) -> None:
    assert names_only(line) is names


# ── numbering ───────────────────────────────────────────────────────────────────────────────────────────


def test_evidence_is_the_chunk_main_first() -> None:
    found = chunk(
        "a", "| 3 |", title="手册", heading_path=("一",), search_prefix="| 次数 |", page=4, canonical_url="u"
    )
    [made, linked] = packing.numbered([(found, 2.0)], [(chunk("b"), 0.0)])
    for name in (
        "chunk_id",
        "document_id",
        "document_version",
        "kind",
        "title",
        "heading_path",
        "span",
        "text",
    ):
        assert getattr(made, name) == getattr(found, name)
    assert (made.page, made.search_prefix, made.canonical_url, made.score) == (4, "| 次数 |", "u", 2.0)
    assert [(e.source_id, e.role) for e in (made, linked)] == [("S1", "main"), ("S2", "auxiliary")]


# ── links ───────────────────────────────────────────────────────────────────────────────────────────────

TARGET = Link("there", "v" * 64, "跳过检查", "resolved")
ABSENT = Link("../gone.md", None, "", "broken")


def test_a_hidden_target_is_told_like_a_missing_one() -> None:
    hidden = links.states([chunk("a", links=(TARGET, Link("there", "v" * 64, "无", "stale")))], frozenset())
    missing = links.states([chunk("a", links=(ABSENT, replace(ABSENT, anchor="x")))], frozenset())
    assert hidden == missing == {"broken": 2}
    seen = links.states([chunk("a", links=(TARGET, ABSENT))], {"there"})
    assert seen == {"resolved": 1, "broken": 1}


def test_a_link_leads_to_the_chunk_below_its_anchor_that_says_what_is_asked() -> None:
    assert links.chunk_ids(TARGET, {"there": "v" * 64}, {"there": 2}) == (
        f"there@{'v' * 12}#1",
        f"there@{'v' * 12}#2",
    )
    assert links.chunk_ids(TARGET, {"there": "w" * 64}, {"there": 2}) == ()
    above = chunk("1", "设为 OFF 跳过检查", heading_path=("检查",))
    below = chunk("2", "设为 OFF 跳过检查", heading_path=("检查", "跳过检查"), ordinal=2)
    other = chunk("3", "天气", heading_path=("检查", "跳过检查"), ordinal=3)
    assert links.meant(TARGET, [above, below, other], ("跳过", "检查"), 0.5) is below
    assert links.meant(TARGET, [above, other], ("设为",), 0.5) is None
