"""The verifier: every claim, every citation, against the archived text. Nothing unproven leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.answers import Citation, Claim, ClaimFault, Evidence
from service.domain.documents import ArchivedDocument
from service.text.arithmetic import recalculated
from service.text.spans import slice_matches
from service.text.support import Fault, fault_of

# What a citation repeats of its source, so that a reader need not look it up.
_OF_THE_SOURCE = ("document_id", "document_version", "chunk_id", "heading_path", "page")

# For the trace: no text.
_WHY: dict[Fault, str] = {
    "quantity": "a quantity is in no cited span",
    "identifier": "an identifier is in no cited span",
    "nothing": "it says nothing that a span could show",
    "words": "a word is in no cited span that has the rest of its clause",
    "order": "the cited span has the words in another order",
    "turned": "a negation, limit or reservation of the cited span is left out",
    "condition": "the condition that the cited span makes is left out",
}

ArchiveView = Mapping[tuple[str, str], ArchivedDocument]


@dataclass(frozen=True, slots=True)
class Verdict:
    """`fault` is None when every claim holds; `claim` counts from 0; `detail` is for the trace, no text."""

    fault: ClaimFault | None = None
    claim: int = -1
    detail: str = ""


def verify(claims: Sequence[Claim], evidence: Sequence[Evidence], archive: ArchiveView) -> Verdict:
    """Checks claims in order and stops at the first that does not hold."""
    by_source = {item.source_id: item for item in evidence}
    for place, claim in enumerate(claims):
        fault = _check(claim, by_source, archive)
        if fault is not None:
            return Verdict(fault[0], place, fault[1])
    return Verdict()


def _check(
    claim: Claim, by_source: Mapping[str, Evidence], archive: ArchiveView
) -> tuple[ClaimFault, str] | None:
    if not claim.citations:
        return ClaimFault.CLAIM_WITHOUT_SOURCE, "no citation"
    for citation in claim.citations:
        source = by_source.get(citation.source_id)
        if source is None:
            return ClaimFault.UNKNOWN_SOURCE, "source number not of this request"
        fault = _citation_fault(citation, source, archive)
        if fault:
            return ClaimFault.UNSUPPORTED_CLAIM, fault
    if claim.kind == "derived":
        return _derived_fault(claim)
    quotes = [citation.quote for citation in claim.citations]
    if claim.kind == "extracted":
        # Verbatim by contract: then numbers, identifiers and polarity are the source's own.
        return None if claim.text in quotes else (ClaimFault.UNSUPPORTED_CLAIM, "text is not the quote")
    return _support_fault(claim.text, quotes)


def _citation_fault(citation: Citation, source: Evidence, archive: ArchiveView) -> str:
    """Why the citation does not hold, or "". Each field is checked against the evidence and the archive."""
    if any(getattr(citation, name) != getattr(source, name) for name in _OF_THE_SOURCE):
        return "citation names another document, version, chunk or place than its source"
    if not source.span.start <= citation.span.start < citation.span.end <= source.span.end:
        return "span outside the source's chunk"
    document = archive.get((citation.document_id, citation.document_version))
    if document is None:
        return "document version is not in the archive"
    text = document.canonical_text
    if not slice_matches(text, citation.span.start, citation.span.end, citation.quote_sha256):
        return "archived span does not hash to the quote"
    if citation.span.of(text) != citation.quote:
        return "quote differs from the archived span"
    return ""


def _derived_fault(claim: Claim) -> tuple[ClaimFault, str] | None:
    """Whether the calculation, done anew from the quotes, says what the claim says; nothing of it is believed."""
    derivation = claim.derivation
    if derivation is None or claim.rule != derivation.rule:
        return ClaimFault.UNSUPPORTED_CLAIM, "derived without a rule"
    if len(derivation.inputs) != len(claim.citations):
        return ClaimFault.UNSUPPORTED_CLAIM, "an input without its citation"
    places = [
        (citation.quote, one.span.start - citation.span.start, one.span.end - citation.span.start)
        for one, citation in zip(derivation.inputs, claim.citations, strict=True)
    ]
    if any(
        quote[max(0, start) : end] != one.text
        for one, (quote, start, end) in zip(derivation.inputs, places, strict=True)
    ):
        return ClaimFault.UNSUPPORTED_NUMBER, "an input is not at its place"
    result = recalculated(derivation.rule, places, derivation.unit)
    if result is None or isinstance(result, str) or result.text != claim.text:
        return ClaimFault.UNSUPPORTED_NUMBER, "the calculation gives another result"
    return None


def _support_fault(text: str, quotes: Sequence[str]) -> tuple[ClaimFault, str] | None:
    """Whether a written claim says no more than its quotes, and leaves out nothing that they hang on."""
    fault = fault_of(text, quotes)
    if fault is None:
        return None
    return (ClaimFault.UNSUPPORTED_NUMBER if fault == "quantity" else ClaimFault.UNSUPPORTED_CLAIM), _WHY[
        fault
    ]
