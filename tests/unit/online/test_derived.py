"""Derived claims: calculated from quoted values, calculated again by the verifier, refused where something is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from service.domain.answers import Claim, ClaimFault, Evidence, Gap
from service.domain.documents import Span
from service.online.answering.derived import derive
from service.online.answering.extractive import Proposal
from service.online.citations.verify import verify
from service.text.derivations import asked_derivation
from tests.contract.material import document

LEAVE = ("年假为每年 15 天。", "病假为每年 10 天，需提供证明。", "婚假至少 3 天。", "陪产假不是 5 天。")


def evidence(*texts: str) -> list[Evidence]:
    values: dict[str, Any] = {"kind": "paragraph", "title": "", "heading_path": (), "search_prefix": ""}
    return [
        Evidence(
            source_id=f"S{n}", chunk_id=f"d{n}@v1#1", document_id=f"d{n}", document_version="v1",
            span=Span(0, len(text)), text=text, canonical_url="", page=None, score=1.0, **values,
        )
        for n, text in enumerate(texts, 1)
    ]  # fmt: skip


def derived(question: str, *texts: str) -> Proposal | Gap | None:
    asked = asked_derivation(question)
    assert asked is not None
    packed = evidence(*texts)
    return derive(asked, packed, {(item.document_id, "v1"): "2026-12-01T00:00:00+00:00" for item in packed})


def proposed(question: str, *texts: str) -> Proposal:
    found = derived(question, *texts)
    assert isinstance(found, Proposal), found
    return found


def checked(claims: tuple[Claim, ...], *texts: str) -> ClaimFault | None:
    archive = {(f"d{n}", "v1"): document(f"d{n}", "v1", text) for n, text in enumerate(texts, 1)}
    return verify(claims, evidence(*texts), archive).fault


def test_values_are_quoted_and_then_calculated() -> None:
    found = proposed("年假和病假一共多少天？", *LEAVE)
    *quoted, claim = found.claims
    assert [one.text for one in quoted] == list(LEAVE[:2])
    assert (claim.kind, claim.rule, claim.text) == ("derived", "sum", "15 天 + 10 天 = 25 天")
    assert [c.document_id for c in claim.citations] == ["d1", "d2"]
    assert claim.derivation is not None
    assert {one.observed_at for one in claim.derivation.inputs} == {"2026-12-01T00:00:00+00:00"}
    for one, text in zip(claim.derivation.inputs, LEAVE, strict=False):
        assert one.span.of(text) == one.text
    assert checked(found.claims, *LEAVE) is None


@pytest.mark.parametrize(
    ("question", "texts", "told"),
    [
        ("年假比病假多几天？", LEAVE, "15 天 − 10 天 = 5 天"),
        ("病假和年假相差多少天？", LEAVE, "15 天 − 10 天 = 5 天"),
        ("年假是病假的几倍？", LEAVE, "15 天 ÷ 10 天 = 1.5 倍"),
        ("Convert the upload limit into MB", ("The upload limit is 2 GiB.",), "2 GiB = 2147.483648 MB"),
        ("Convert 2 GiB into MB", ("The upload limit is 2 GiB.",), "2 GiB = 2147.483648 MB"),
        ("How many days are there between the release of v6.5 and the release of v7.1?",
         ("The release of v6.5 was on 2022-12-29.", "The release of v7.1 was on 31 May 2023."),
         "31 May 2023 − 2022-12-29 = 153 days"),
        ("甲队和乙队一共多少人？", ("甲队有 12 人，乙队有 30 人。",), "12 人 + 30 人 = 42 人"),
    ],
)  # fmt: skip
def test_what_is_calculated(question: str, texts: tuple[str, ...], told: str) -> None:
    found = proposed(question, *texts)
    assert found.claims[-1].text == told
    assert checked(found.claims, *texts) is None


@pytest.mark.parametrize(
    ("question", "texts", "why"),
    [
        ("年假和产假一共多少天？", LEAVE, "No value in the evidence for: 产假"),
        ("年假和婚假一共多少天？", LEAVE, "different limits"),
        ("年假和陪产假一共多少天？", LEAVE, "No value in the evidence for: 陪产假"),
        ("年假和病假一共多少元？", LEAVE, "No value"),
        ("年假和房补一共多少？", (*LEAVE, "房补为每月 800 元。"), "units that do not fit"),
        ("甲价是乙价的几倍？", ("甲价为 8 元。", "乙价为 0 元。"), "zero"),
        ("年假和病假一共多少天？", (*LEAVE, "旧制度：年假为每年 12 天。"), "2 different values"),
        ("Convert the upload limit into km", ("The upload limit is 2 GiB.",), "No value"),
        ("Convert 3 GiB into MB", ("The upload limit is 2 GiB.",), "No value"),
        ("v6.5 的发布和 v7.1 的发布相隔多少天？", ("v6.5 的发布在 2022 年 12 月。", "v7.1 的发布在 2023-05-31。"),
         "lacks its year, month or day"),
    ],
)  # fmt: skip
def test_what_is_missing_is_told(question: str, texts: tuple[str, ...], why: str) -> None:
    found = derived(question, *texts)
    assert isinstance(found, Gap)
    assert why in found.missing


def test_a_cell_of_a_table_stands_for_itself() -> None:
    rows = ("| Maternity leave | 12 weeks | Not applicable |", "| Sick leave | 10 days | Up to 30 days |")
    packed = [replace(item, kind="table") for item in evidence(*rows)]
    asked = asked_derivation("Convert maternity leave into days")
    assert asked is not None
    found = derive(asked, packed, {})
    assert isinstance(found, Proposal) and found.claims[-1].text == "12 weeks = 84 days"
    asked = asked_derivation("Convert sick leave into weeks")
    assert asked is not None
    several = derive(asked, packed, {})
    assert isinstance(several, Gap) and "2 different values" in several.missing


def test_a_piece_that_speaks_of_all_sides_may_state_the_result_itself() -> None:
    assert derived("甲队和乙队一共多少人？", "甲队与乙队的人数未公布。") is None


def forged(claim: Claim, **changes: Any) -> Claim:
    assert claim.derivation is not None
    return replace(claim, derivation=replace(claim.derivation, **changes))


def test_the_verifier_believes_nothing_of_a_derived_claim() -> None:
    found = proposed("年假和病假一共多少天？", *LEAVE)
    claim = found.claims[-1]
    assert claim.derivation is not None
    one, two = claim.derivation.inputs
    for wrong in (
        replace(claim, text="15 天 + 10 天 = 26 天"),
        replace(claim, text="25 天"),
        replace(claim, rule="difference"),
        replace(claim, rule=None),
        replace(claim, derivation=None),
        replace(claim, citations=claim.citations[:1]),
        replace(claim, citations=claim.citations[::-1]),
        replace(claim, citations=()),
        forged(claim, rule="difference"),
        forged(claim, unit="s"),
        forged(claim, inputs=(one, one)),
        forged(claim, inputs=(one, replace(two, text="20 天"))),
        forged(claim, inputs=(one, replace(two, span=Span(two.span.start + 1, two.span.end)))),
        forged(claim, inputs=(one, replace(two, text="0 天", span=Span(two.span.start + 1, two.span.end)))),
        forged(claim, inputs=()),
    ):
        assert checked((wrong,), *LEAVE) is not None, wrong
    assert checked((claim,), LEAVE[0], LEAVE[1].replace("10", "11"), *LEAVE[2:]) is not None
