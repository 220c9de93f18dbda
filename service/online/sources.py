"""Reading a source: a span of an archived version, authorised anew. Missing and forbidden look the same."""

from __future__ import annotations

from service.access.policy import visible
from service.domain.answers import SourceView
from service.domain.documents import ArchivedDocument, Block, Span
from service.domain.ports import Engine
from service.domain.rights import Scope
from service.errors import InvalidInput, NotFound
from service.text.spans import sha256_text, slice_matches

CONTEXT = 240  # code points of text shown before and after a span
_SUPERSEDED = "A newer version of this document is current; this is the one that was cited."
_DAMAGED = (
    "The archived text of this version is damaged: it is not what its hash says. Nothing of it is shown."
)
_NOT_THE_QUOTE = (
    "That span of this version is not the quote: the citation cannot be verified, so nothing is shown."
)
LONGEST = 20_000  # code points one call returns


def read_source(
    engine: Engine,
    scope: Scope,
    document_id: str,
    version: str,
    start: int | None,
    end: int | None,
    quote_sha256: str | None = None,
) -> SourceView:
    """The span [start, end); from the document's beginning, and as far as one call reaches, where one is not given.

    With the hash of a quote, the span must be that quote: text beside it is never shown in its place.
    Raises NotFound for anything missing or not yours, InvalidInput for a span that cannot be one.
    The rights decide first: a caller without them learns nothing from a bad span either.
    """
    current = _visible_versions(engine, scope, document_id)
    if current is None:
        raise NotFound
    document = engine.archive.get_many([(document_id, version)]).get((document_id, version))
    if document is None:
        raise NotFound
    text = document.canonical_text
    first = start or 0
    span = Span(first, min(len(text), first + LONGEST) if end is None else end)
    if not 0 <= span.start < span.end <= len(text):
        raise InvalidInput(
            f"The span must satisfy 0 ≤ start < end ≤ {len(text)}, in code points.", code="INVALID_SPAN"
        )
    if span.end - span.start > LONGEST:
        raise InvalidInput(
            f"A span may be {LONGEST} code points long; ask for a shorter one.", code="INVALID_SPAN"
        )
    # Once more, after everything was read: a revocation meanwhile holds for what leaves now.
    current = _visible_versions(engine, scope, document_id)
    if current is None:
        raise NotFound
    block = _block_at(document, span)
    quote = span.of(text)
    damaged = sha256_text(text) != document.canonical_sha256
    if damaged or (quote_sha256 is not None and not slice_matches(text, span.start, span.end, quote_sha256)):
        return _damaged(document, span, _DAMAGED if damaged else _NOT_THE_QUOTE)
    superseded = version not in current
    return SourceView(
        document_id=document_id,
        document_version=version,
        title=document.title,
        canonical_url=document.canonical_url,
        status="superseded" if superseded else "current",
        span=span,
        text=quote,
        text_sha256=sha256_text(quote),
        heading_path=block.heading_path if block else (),
        page=block.page if block else None,
        before=text[max(0, span.start - CONTEXT) : span.start],
        after=text[span.end : span.end + CONTEXT],
        note=_SUPERSEDED if superseded else "",
    )


def _damaged(document: ArchivedDocument, span: Span, note: str) -> SourceView:
    """What cannot be shown, and why; no text."""
    return SourceView(
        document_id=document.document_id,
        document_version=document.document_version,
        title=document.title,
        canonical_url=document.canonical_url,
        status="damaged",
        span=span,
        text="",
        text_sha256="",
        heading_path=(),
        page=None,
        before="",
        after="",
        note=note,
    )


def _visible_versions(engine: Engine, scope: Scope, document_id: str) -> frozenset[str] | None:
    """Current versions of the document in the corpora where the scope may see it; None when nowhere."""
    entries = (
        engine.registry.get_many(corpus, [document_id]).get(document_id)
        for corpus in engine.registry.corpora()
    )
    seen = [e for e in entries if e is not None and not e.deleted and visible(e.access, scope)]
    return frozenset(e.current_version for e in seen) if seen else None


def _block_at(document: ArchivedDocument, span: Span) -> Block | None:
    return next(
        (b for b in document.blocks if b.span.start <= span.start < b.span.end and b.kind != "heading"), None
    )
