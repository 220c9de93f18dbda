"""The gate: which condition refuses."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.domain.answers import Candidate, Reason
from service.domain.documents import Span
from service.domain.retrieval import FoundChunk
from service.online.evidence import decide, search_text, with_anchors
from service.online.question import analyse
from service.profiles.ranking import Gate, GateWeights

# sigmoid(0) is one half: with these weights the gate opens at relevance + coverage = 1.
GATE = Gate(
    languages={
        "zh>zh": GateWeights(bias=-1, cosine=1, coverage=1),
        "other": GateWeights(bias=-50, cosine=1, coverage=1),
    },
    threshold=0.5,
    lexical_coverage=0.6,
    semantic_relevance=0.06,
)


def chunk(chunk_id: str, text: str = "自动重试三次", document: str = "d", **changes: Any) -> FoundChunk:
    made = FoundChunk(
        chunk_id, document, "v1", 1, "paragraph", (), Span(10, 10 + len(text)), text, "", "", "", None, None, None,
        "", "zh", "", (),
    )  # fmt: skip
    return replace(made, **changes)


def candidate(chunk_id: str, relevance: float | None = None) -> Candidate:
    return Candidate(chunk_id, 1.0, features={} if relevance is None else {"relevance": relevance})


def decided(
    question: str, found: FoundChunk, relevance: float | None, failed: str = "", language: str = "zh"
) -> Any:
    terms = analyse(question).content
    failed_legs = frozenset({failed} - {""})
    return decide([candidate("a", relevance)], {"a": found}, terms, language, (), GATE, failed_legs)


@pytest.mark.parametrize(
    ("relevance", "failed", "text", "passes"),
    [
        (0.0, "", "自动重试", True),
        (0.5, "", "天气", False),
        (1.0, "", "天气", True),
        (-0.01, "", "自动重试", False),
        # Without the kNN leg words alone decide, without BM25 meaning alone.
        (None, "knn", "自动重试", True),
        (None, "knn", "天气", False),
        (0.06, "bm25", "天气", True),
        (0.05, "bm25", "自动重试", False),
    ],
)
def test_the_gate(relevance: float | None, failed: str, text: str, passes: bool) -> None:
    decision = decided("自动重试", chunk("a", text), relevance, failed)
    assert decision.reason is (None if passes else Reason.EVIDENCE_BELOW_THRESHOLD)
    assert (decision.gap is None) == passes


def test_the_gate_reads_the_weights_of_the_languages() -> None:
    assert decided("自动重试", chunk("a", "自动重试"), 1.0).reason is None
    assert decided("自动重试", chunk("a", "自动重试", locale="de"), 1.0).reason is not None


@pytest.mark.parametrize(("tokens", "passes"), [(0.9, True), (0.2, False), (None, True)])
def test_where_there_are_token_vectors_the_gate_reads_them(tokens: float | None, passes: bool) -> None:
    gate = GATE.model_copy(
        update={
            "languages": {"other": GateWeights(bias=-1, cosine=0, coverage=0, tokens=2)},
            "languages_without_tokens": {"zh>zh": GateWeights(bias=1, cosine=0, coverage=0)},
        }
    )
    features = {"relevance": 0.0} | ({} if tokens is None else {"token_relevance": tokens})
    found = Candidate("a", 1.0, features=features)
    decision = decide([found], {"a": chunk("a")}, ("自动",), "zh", (), gate, frozenset())
    assert (decision.reason is None) == passes
    assert decision.features.get("token_relevance") == tokens


def test_no_candidate_is_another_reason_than_a_weak_one() -> None:
    decision = decide([], {}, ("重试",), "zh", (), GATE, frozenset())
    assert decision.reason is Reason.NO_RELEVANT_CANDIDATE
    assert decision.gap is not None and decision.gap.tried == ("重试",)


def test_a_question_without_terms_passes_on_meaning_only() -> None:
    assert decide([candidate("a")], {"a": chunk("a")}, (), "zh", (), GATE, frozenset()).reason is not None


@pytest.mark.parametrize("question", ["什么", "怎么样？", "what what what", "The the the", "然后呢"])
def test_words_that_only_ask_are_covered_by_nothing(question: str) -> None:
    """Every page holds them: that they stand in a passage too is no sign that it answers."""
    found = chunk("a", f"{question} 重试", locale="zh")
    assert decided(question, found, 0.5).reason is Reason.EVIDENCE_BELOW_THRESHOLD
    assert decided(f"{question} 重试", found, 0.5).reason is None


# ── identifiers ────────────────────────────────────────────────────────────────────────────────────────


def held(question: str, *chunks: FoundChunk) -> tuple[list[str], list[str]]:
    kept, missing = with_anchors(
        [candidate(c.chunk_id) for c in chunks], {c.chunk_id: c for c in chunks}, analyse(question).hard
    )
    return [c.chunk_id for c in kept], [anchor.text for anchor in missing]


def test_a_sibling_is_no_evidence_and_the_missing_name_is_told() -> None:
    own, sibling = chunk("a", "PPR-9087 为 5 kW"), chunk("b", "PPR-9078 为 7 kW")
    assert held("PPR-9087 的功率", own, sibling) == (["a"], [])
    assert held("PPR-9087 的功率", sibling) == ([], ["PPR-9087"])
    _, missing = with_anchors([candidate("b")], {"b": sibling}, analyse("PPR-9087 的功率").hard)
    decision = decide([], {}, ("ppr9087",), "zh", missing, GATE, frozenset())
    assert decision.reason is Reason.EVIDENCE_BELOW_THRESHOLD
    assert decision.gap is not None and decision.gap.anchors == ("PPR-9087",)


@pytest.mark.parametrize(
    "changes",
    [
        {"text": "x", "anchors": ("ppr9087",)},
        {"text": "x", "title": "PPR-9087 手册"},
        {"text": "x", "heading_path": ("规格", "ＰＰＲ－９０８７")},
        {"text": "x", "search_prefix": "| 型号 ppr 9087 |"},
    ],
)
def test_a_name_counts_wherever_the_chunk_is_known_by_it(changes: dict[str, Any]) -> None:
    assert held("PPR-9087 的功率", chunk("a", **changes)) == (["a"], [])


def test_a_name_is_known_by_underscores_for_its_hyphens() -> None:
    own, sibling = (
        chunk("a", "x", anchors=("mem_quota_query",)),
        chunk("b", "x", anchors=("mem_quota_apply",)),
    )
    assert held("mem-quota-query 的默认值", own, sibling) == (["a"], [])
    assert held("mem-quota-query 的默认值", chunk("c", "x", anchors=("mem_quota",))) == (
        [],
        ["mem-quota-query"],
    )


def test_a_code_inside_a_longer_number_is_not_held() -> None:
    assert held("错误码 8028 是什么", chunk("a", "订单 80281 与 18028")) == ([], ["错误码 8028"])


def test_a_question_without_names_keeps_all() -> None:
    assert held("重试几次", chunk("a"), chunk("b", "天气")) == (["a", "b"], [])


def test_a_chunk_is_known_by_its_title_headings_and_head() -> None:
    found = chunk("a", "| 3 |", title="手册", heading_path=("一",), search_prefix="| 次数 |")
    assert search_text(found) == "手册\n一\n| 次数 |\n| 3 |"
