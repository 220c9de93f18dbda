"""Nothing unproven leaves: any single change to a proven claim makes the verifier refuse it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.answers import Citation, Claim, ClaimFault, Evidence
from service.domain.documents import ArchivedDocument, Span
from service.online.citations.verify import verify
from tests.contract.material import document

TEXT = st.text(alphabet="任务重试三次5 ab\n。😀", min_size=4, max_size=40)


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def proven(
    text: str, start: int, end: int
) -> tuple[Claim, Evidence, dict[tuple[str, str], ArchivedDocument]]:
    quote = text[start:end]
    citation = Citation("S1", "doc", "v1", "doc@v1#1", Span(start, end), quote, digest(quote))
    values: dict[str, Any] = {"kind": "paragraph", "title": "", "heading_path": (), "search_prefix": ""}
    evidence = Evidence(
        source_id="S1",
        chunk_id="doc@v1#1",
        document_id="doc",
        document_version="v1",
        span=Span(0, len(text)),
        text=text,
        canonical_url="",
        page=None,
        score=1.0,
        **values,
    )
    archive = {("doc", "v1"): document("doc", "v1", text)}
    return Claim(quote, "extracted", (citation,)), evidence, archive


@st.composite
def claims(draw: st.DrawFn) -> tuple[Claim, Evidence, dict[tuple[str, str], ArchivedDocument]]:
    text = draw(TEXT)
    start = draw(st.integers(1, len(text) - 2))
    return proven(text, start, draw(st.integers(start + 1, len(text) - 1)))


@settings(max_examples=300)
@given(claims())
def test_a_proven_claim_passes(given_claim: Any) -> None:
    claim, evidence, archive = given_claim
    assert verify([claim], [evidence], archive).fault is None


@settings(max_examples=300)
@given(claims(), st.sampled_from((-1, 1)), st.sampled_from(("start", "end")))
def test_an_offset_moved_by_one_is_refused(given_claim: Any, step: int, edge: str) -> None:
    claim, evidence, archive = given_claim
    [citation] = claim.citations
    span = replace(citation.span, **{edge: getattr(citation.span, edge) + step})
    moved = replace(claim, citations=(replace(citation, span=span),))
    cut = evidence.text[span.start : span.end]
    # Runs of one character may read the same one further on; then the quote is still what stands there.
    assert (verify([moved], [evidence], archive).fault is None) == (cut == citation.quote)


@given(claims(), st.sampled_from(("document_id", "document_version", "chunk_id", "quote", "quote_sha256")))
def test_any_changed_field_is_refused(given_claim: Any, name: str) -> None:
    claim, evidence, archive = given_claim
    [citation] = claim.citations
    changed = replace(citation, **{name: getattr(citation, name) + "x"})
    verdict = verify([replace(claim, citations=(changed,))], [evidence], archive)
    assert verdict.fault is ClaimFault.UNSUPPORTED_CLAIM


@given(claims())
def test_no_source_no_citation_no_archive(given_claim: Any) -> None:
    claim, evidence, archive = given_claim
    [citation] = claim.citations
    assert (
        verify([replace(claim, citations=())], [evidence], archive).fault is ClaimFault.CLAIM_WITHOUT_SOURCE
    )
    unknown = replace(claim, citations=(replace(citation, source_id="S2"),))
    assert verify([unknown], [evidence], archive).fault is ClaimFault.UNKNOWN_SOURCE
    assert verify([claim], [evidence], {}).fault is ClaimFault.UNSUPPORTED_CLAIM
    other = {("doc", "v1"): document("doc", "v1", "y" * len(evidence.text))}
    assert verify([claim], [evidence], other).fault is ClaimFault.UNSUPPORTED_CLAIM


def test_a_claim_that_is_no_quote_is_refused() -> None:
    claim, evidence, archive = proven("最多自动重试三次。", 0, 8)
    assert verify([replace(claim, text="最多自动重试五次")], [evidence], archive).fault is not None


def test_a_written_claim_needs_its_numbers_and_polarity_in_the_quotes() -> None:
    claim, evidence, archive = proven("超时后不得自动重试，最多等待 30 秒。", 0, 20)
    written = replace(claim, kind="generated", text="最多等待 30 秒")
    assert verify([written], [evidence], archive).fault is None
    number = replace(written, text="最多等待 30 分钟")
    assert verify([number], [evidence], archive).fault is ClaimFault.UNSUPPORTED_NUMBER


WRITTEN = [
    ("同一任务最多自动重试三次。", "任务最多重试 3 次"),
    ("PPR-9087 的额定功率是 5 kW。", "PPR-9087 的功率为 5000 W"),
    ("超时后不得自动重试。", "超时后不得自动重试"),
    ("Users cannot delete audit logs.", "Users cannot delete audit logs"),
    ("密码长度不少于 8 位。", "密码长度至少 8 位"),
]


def verdict_of(quote: str, said: str) -> ClaimFault | None:
    claim, evidence, archive = proven(quote, 0, len(quote))
    return verify([replace(claim, kind="generated", text=said)], [evidence], archive).fault


@pytest.mark.parametrize(("quote", "said"), WRITTEN)
def test_a_written_claim_that_its_quote_proves_passes(quote: str, said: str) -> None:
    assert verdict_of(quote, said) is None


@pytest.mark.parametrize(
    ("quote", "said", "fault"),
    [
        (WRITTEN[0][0], "任务最多重试 5 次", ClaimFault.UNSUPPORTED_NUMBER),
        (WRITTEN[0][0], "任务最少重试 3 次", ClaimFault.UNSUPPORTED_CLAIM),
        (WRITTEN[1][0], "PPR-9078 的功率为 5 kW", ClaimFault.UNSUPPORTED_CLAIM),
        (WRITTEN[1][0], "PPR-9087 的功率为 5 W", ClaimFault.UNSUPPORTED_NUMBER),
        (WRITTEN[2][0], "超时后自动重试", ClaimFault.UNSUPPORTED_CLAIM),
        (WRITTEN[3][0], "Users can delete audit logs", ClaimFault.UNSUPPORTED_CLAIM),
        (WRITTEN[4][0], "密码长度不超过 8 位", ClaimFault.UNSUPPORTED_CLAIM),
    ],
)
def test_one_changed_number_name_or_negation_is_refused(quote: str, said: str, fault: ClaimFault) -> None:
    assert verdict_of(quote, said) is fault


@settings(max_examples=200)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.sampled_from(["次", "MB", "元", "天", "kg", "%"]))
def test_a_number_is_the_quotes_or_refused(have: int, said: int, unit: str) -> None:
    fault = verdict_of(f"上限为 {have} {unit}。", f"上限为 {said} {unit}")
    assert fault is (None if have == said else ClaimFault.UNSUPPORTED_NUMBER)


def test_the_first_claim_that_does_not_hold_stops_all() -> None:
    good, evidence, archive = proven("最多自动重试三次。", 0, 9)
    verdict = verify([good, replace(good, citations=()), good], [evidence], archive)
    assert (verdict.fault, verdict.claim) == (ClaimFault.CLAIM_WITHOUT_SOURCE, 1)
    assert "重试" not in verdict.detail
