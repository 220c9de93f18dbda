"""The answerer quotes and never writes; what belongs together is quoted together; contradictions are found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.answers import Evidence
from service.domain.documents import Span
from service.domain.reading import Reading
from service.online.answering.conflict import conflict_gap, find_conflict, find_other_name
from service.online.answering.extractive import AnswerRequest, Proposal, beside, propose
from service.online.answering.units import units_of, windows_of
from service.online.citations.verify import verify
from service.online.question import analyse
from service.profiles.ranking import load_profile
from tests.contract.material import document

SETTINGS = load_profile("default").answering


def evidence(text: str, place: int = 1, *, at: int = 0, **changes: Any) -> Evidence:
    values: dict[str, Any] = {
        "source_id": f"S{place}",
        "chunk_id": f"d{place}@v1#1",
        "document_id": f"d{place}",
        "document_version": "v1",
        "kind": "paragraph",
        "title": "",
        "heading_path": (),
        "span": Span(at, at + len(text)),
        "text": text,
        "search_prefix": "",
        "canonical_url": "",
        "page": None,
        "score": 1.0,
    }
    return Evidence(**(values | changes))


def unused(texts: Sequence[str]) -> Any:
    raise AssertionError("without a question vector nothing is embedded")


def asked(question: str, *packed: Evidence, **changes: Any) -> Proposal:
    analysis = analyse(question)
    values: dict[str, Any] = {"vector": None, "settings": SETTINGS, "embed": unused} | changes
    return propose(
        AnswerRequest(question, analysis.terms, analysis.hard, analysis.asks_value, evidence=packed, **values)
    )


def quotes(proposal: Proposal) -> list[str]:
    return [claim.text for claim in proposal.claims]


# ── what is quoted ─────────────────────────────────────────────────────────────────────────────────────


def test_the_sentence_that_answers_is_quoted_with_its_place() -> None:
    text = "系统每天备份。同一任务最多自动重试三次。日志保留一年。"
    proposal = asked("任务最多重试几次", evidence(text, at=100))
    assert quotes(proposal) == ["同一任务最多自动重试三次。"]
    [citation] = proposal.claims[0].citations
    assert citation.span == Span(107, 120)
    assert proposal.answer == "同一任务最多自动重试三次。 [S1]"


TWO = "任务失败时由任务中心自动重试任务。到第三次为止都会再来一遍。"


def reading_of(text: str, piece: str) -> Reading:
    """Every code point a token; the answer begins and ends in the piece."""
    places = np.array([(at, at + 1) for at in range(len(text))])
    inside = (places[:, 0] >= text.index(piece)) & (places[:, 0] < text.index(piece) + len(piece))
    logits = np.where(inside, 8.0, -8.0).astype(np.float32)
    return Reading(1.0, places, logits, logits)


def test_a_reader_has_a_say_in_what_is_quoted() -> None:
    plain = asked("任务失败时如何重试任务", evidence(TWO, at=50))
    assert quotes(plain) == ["任务失败时由任务中心自动重试任务。"]
    read = asked("任务失败时如何重试任务", evidence(TWO, at=50), readings=(reading_of(TWO, "到第三次为止"),))
    assert quotes(read) == ["到第三次为止都会再来一遍。"]
    assert read.claims[0].citations[0].span == Span(67, 80)


def test_a_reading_of_less_than_all_that_is_compared_counts_for_nothing() -> None:
    packed = evidence(TWO, 1), evidence("任务失败时重试任务的次数是三次。", 2)
    one, both = (reading_of(TWO, "到第三次为止"),), [reading_of(p.text, p.text[:3]) for p in packed]
    plain = asked("任务失败时如何重试任务", *packed)
    assert asked("任务失败时如何重试任务", *packed, readings=one) == plain
    assert asked("任务失败时如何重试任务", *packed, readings=tuple(both)) != plain


def test_auxiliary_evidence_between_the_main_ones_shifts_no_reading() -> None:
    packed = (
        evidence("任务失败时如何重试任务,见下。", 1, role="auxiliary"),
        evidence(TWO, 2),
    )
    read = asked("任务失败时如何重试任务", *packed, readings=(reading_of(TWO, "到第三次为止"),))
    assert quotes(read) == ["到第三次为止都会再来一遍。"]


def test_a_value_is_asked_for_and_none_is_there() -> None:
    assert asked("任务最多重试几次", evidence("任务可以重试。")).claims == ()
    # A number that the question brought along is no answer.
    assert asked("等待 30 秒后重试几次", evidence("等待 30 秒后重试。")).claims == ()
    assert asked("任务为什么重试", evidence("任务可以重试。")).claims != ()


def test_only_what_names_the_identifier_is_quoted() -> None:
    text = "PPR-9078 的额定功率是 7 kW。PPR-9087 的额定功率是 5 kW。"
    assert quotes(asked("PPR-9087 的额定功率是多少", evidence(text))) == ["PPR-9087 的额定功率是 5 kW。"]


def test_a_table_row_is_quoted_under_its_head() -> None:
    table = evidence(
        "| PPR-9078 | 7 kW |\n| PPR-9087 | 5 kW |", kind="table", search_prefix="| 型号 | 功率 |"
    )
    proposal = asked("PPR-9087 的功率是多少", table)
    assert quotes(proposal) == ["| PPR-9087 | 5 kW |"]
    assert proposal.answer == "| 型号 | 功率 |\n| PPR-9087 | 5 kW | [S1]"


def test_a_code_block_is_quoted_whole() -> None:
    code = "retries = 3\n\n# 重试次数。不要改。\ntimeout = 30"
    [unit] = units_of(0, evidence(code, kind="code"))
    assert unit.text == code


def test_meaning_chooses_where_words_do_not() -> None:
    vectors = {"甲类事项由总部办理。": (1.0, 0.0), "乙类事项由分部办理。": (0.0, 1.0)}

    def embed(texts: Sequence[str]) -> Any:
        return np.asarray([vectors[text] for text in texts], dtype=np.float32)

    for place, sentence in enumerate(vectors):
        vector = np.eye(2, dtype=np.float32)[place]
        proposal = asked("谁负责", evidence("".join(vectors)), vector=vector, embed=embed)
        assert quotes(proposal)[0] == sentence


def test_no_evidence_no_claim() -> None:
    assert asked("重试几次").claims == ()
    assert asked("重试几次", evidence("—— …")).claims == ()


# ── what belongs together ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("text", "piece", "whole"),
    [
        ("任务会重试。第三次仍失败则停止。", "任务会重试。", "任务会重试。第三次仍失败则停止。"),
        ("可以退款。但定制商品不能退款。", "可以退款。", "可以退款。但定制商品不能退款。"),
        ("Refunds are given. However, gift cards are not refunded.", "Refunds are given.", None),
        (
            "默认值是 24h。在 v8.5 及之前版本中，默认值为 1h。",
            "默认值是 24h。",
            "默认值是 24h。在 v8.5 及之前版本中，默认值为 1h。",
        ),
        ("The default is 3. Before version 2.0 it was 5.", "The default is 3.", None),
        ("系统会告警。此时不要重启。", "此时不要重启。", "系统会告警。此时不要重启。"),
        ("需要以下材料：\n- 身份证\n- 申请表", "需要以下材料：", "需要以下材料：\n- 身份证\n- 申请表"),
    ],
)
def test_a_rule_is_not_quoted_without_its_limit(text: str, piece: str, whole: str | None) -> None:
    runs = [window.text for window in windows_of(0, evidence(text))]
    assert piece not in runs
    assert (whole or text) in runs


def test_independent_sentences_stay_apart() -> None:
    text = "系统每天备份。日志保留一年。"
    assert [w.text for w in windows_of(0, evidence(text))] == ["系统每天备份。", "日志保留一年。"]


# ── verbatim, whatever the evidence ────────────────────────────────────────────────────────────────────

PIECES = st.lists(
    st.sampled_from(
        [
            "任务重试 3 次。",
            "但不超过 5 次。",
            "\n- 第一项：",
            "此时停止。",
            "Retry 3 times. ",
            "| a | 3 |\n",
            "\n\n",
            "😀",
            " 重试 ",
        ]
    ),
    min_size=1,
    max_size=10,
).map("".join)
KINDS = st.sampled_from(["paragraph", "list_item", "table", "code"])


@settings(max_examples=200)
@given(st.lists(st.tuples(PIECES, KINDS, st.integers(0, 30)), min_size=1, max_size=4), st.booleans())
def test_every_claim_is_a_span_of_the_archive_and_the_answer_holds_nothing_else(
    parts: list[tuple[str, Any, int]], value: bool
) -> None:
    packed = [
        evidence(text, place, at=at, kind=kind, search_prefix="| 名 | 次 |" if kind == "table" else "")
        for place, (text, kind, at) in enumerate(parts, 1)
    ]
    proposal = asked("任务重试几次" if value else "任务重试的规则", *packed)
    archive = {
        (e.document_id, "v1"): document(e.document_id, "v1", "#" * e.span.start + e.text) for e in packed
    }
    assert verify(proposal.claims, packed, archive).fault is None
    assert len(proposal.claims) <= SETTINGS.max_claims
    rest = proposal.answer
    for claim in proposal.claims:
        [citation] = claim.citations
        assert citation.quote == claim.text
        head, said, rest = rest.partition(f"{claim.text} [{citation.source_id}]")
        assert said
        assert head.strip() in ("", "| 名 | 次 |")
    assert rest == ""


# ── conflict ───────────────────────────────────────────────────────────────────────────────────────────


def conflict_between(one: str, other: str, question: str, **changes: Any) -> str | None:
    packed = [evidence(one, 1), evidence(other, 2, **changes)]
    found = find_conflict(
        units_of(0, packed[0]), packed, analyse(question).terms, SETTINGS.conflict_similarity
    )
    if found is None:
        return None
    gap = conflict_gap(found, packed, (), {("d2", "v1"): document("d2", "v1", other)})
    assert "d1 (version v1)" in gap.missing and "d2 (version v1, archived 20" in gap.missing
    return found.kind


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("同一任务最多自动重试三次。", "同一任务最多自动重试 5 次。", "value"),
        ("同一任务最多自动重试三次。", "同一任务最多自动重试 3 次。", None),
        ("任务失败后等待 60 分钟。", "任务失败后等待 1 小时。", None),
        ("任务的日志上限为 10 MB。", "任务的日志上限为 10 GB。", "value"),
        ("任务失败后会自动重试。", "任务失败后不会自动重试。", "polarity"),
        ("同一任务最多自动重试三次。", "员工每年有 10 天年假。", None),
        ("The task is retried 3 times at most.", "The task is retried 5 times at most.", "value"),
        # Of other subjects, or under other conditions.
        ("The Alpha pump retries a task 3 times.", "The Beta pump retries a task 5 times.", None),
        ("甲泵的任务重试三次。", "乙泵的任务重试五次。", None),
        ("PPR-9087 的任务重试三次。", "PPR-9078 的任务重试五次。", None),
        ("在 v6.5 中任务重试三次。", "在 v7.1 中任务重试五次。", None),
        # One of them says less of the same subject.
        ("Lost task cards are retried 3 times.", "Lost cards are retried 5 times.", "value"),
    ],
)
def test_conflicts(one: str, other: str, kind: str | None) -> None:
    question = "How often is the task retried?" if one.isascii() else "任务重试或等待的上限"
    assert conflict_between(one, other, question) == kind


def test_one_document_does_not_contradict_itself() -> None:
    one, other = "同一任务最多自动重试三次。", "同一任务最多自动重试 5 次。"
    packed = [evidence(one, 1), evidence(other, 2, document_id="d1")]
    assert find_conflict(units_of(0, packed[0]), packed, ("重试",), SETTINGS.conflict_similarity) is None


@pytest.mark.parametrize(
    ("question", "one", "other", "told"),
    [
        ("Who heads the support team?", "Anna Ward heads the support team.", "Li Na heads the support team.", True),
        ("支持团队的负责人是谁？", "支持团队的负责人是王敏。", "支持团队的负责人是欧阳海燕。", True),
        ("谁负责机房？", "机房由王敏负责。", "机房由刘洋负责。", True),
        # Either is an answer: it is not asked of one of them.
        ("How long is the delivery of a pump?", "The delivery of the Alpha pump takes one week.", "The delivery of the Beta pump takes one week.", True),
        # The question tells them apart, in what is said or in what stands above it.
        ("How long is the delivery of the Alpha pump?", "The delivery of the Alpha pump takes one week.", "The delivery of the Beta pump takes one week.", False),
        # They say two things, or the same, or nothing of what is asked.
        ("Who heads the support team?", "Anna Ward heads the support team.", "Li Na heads the sales team.", False),
        ("Who heads the support team?", "Anna Ward heads the support team.", "Anna Ward heads the support team now.", False),
        ("When is the canteen open?", "Anna Ward heads the support team.", "Li Na heads the support team.", False),
    ],
)  # fmt: skip
def test_another_name_in_one_place_is_quoted_beside(question: str, one: str, other: str, told: bool) -> None:
    packed = (evidence(f"{one} Nothing else.", 1), evidence(f"See below.\n{other}", 2))
    analysis = analyse(question)
    first = units_of(0, packed[0])[:1]
    found = find_other_name(first, packed, analysis.terms)
    assert (found is not None) == told
    if found is None:
        return
    request = AnswerRequest(
        question, analysis.terms, (), False, vector=None, evidence=packed, settings=SETTINGS, embed=unused
    )
    alone = propose(replace(request, evidence=packed[:1]))
    both = beside(alone, request, found.other)
    assert quotes(both) == [*quotes(alone), other]
    assert both.answer.endswith(f"{other} [S2]")
    assert beside(both, request, found.other) == both
    gap = conflict_gap(found, packed, analysis.terms, {})
    assert gap.part == "conflict" and "d1 (version v1) and d2 (version v1)" in gap.missing


def test_what_stands_above_tells_names_apart() -> None:
    one, other = "Anna Ward leads the team.", "Li Na leads the team."
    terms = analyse("Who leads the support team?").terms
    packed = [evidence(one, 1, title="Support"), evidence(other, 2, title="Sales")]
    assert find_other_name(units_of(0, packed[0]), packed, terms) is None
    packed = [evidence(one, 1, title="Support"), evidence(other, 2, title="The support team")]
    assert find_other_name(units_of(0, packed[0]), packed, terms) is not None
