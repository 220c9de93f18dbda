"""A span of a piece of evidence as a citation, and as the verbatim claim of it."""

from __future__ import annotations

from service.domain.answers import Citation, Claim, Evidence
from service.domain.documents import Span
from service.text.spans import sha256_text


def citation_of(evidence: Evidence, span: Span) -> Citation:
    """`span` is in the archived text and inside the evidence."""
    quote = Span(span.start - evidence.span.start, span.end - evidence.span.start).of(evidence.text)
    return Citation(
        source_id=evidence.source_id,
        document_id=evidence.document_id,
        document_version=evidence.document_version,
        chunk_id=evidence.chunk_id,
        span=span,
        quote=quote,
        quote_sha256=sha256_text(quote),
        heading_path=evidence.heading_path,
        page=evidence.page,
    )


def claim_of(evidence: Evidence, span: Span) -> Claim:
    citation = citation_of(evidence, span)
    return Claim(citation.quote, "extracted", (citation,))
