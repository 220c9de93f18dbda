"""Values to public JSON. Pure; one value, two shapes: the API's own and the chat shape."""

from __future__ import annotations

from typing import Any

from service.domain.answers import (
    Citation,
    Claim,
    Evidence,
    GroundedAnswer,
    Reason,
    Retrieval,
    SearchHit,
    SearchResult,
    SourceView,
)
from service.domain.documents import Span

EXCERPT = 500  # code points of a source that a response shows

# What callers of the chat shape have always been told; the finer codes stay in the API's own shape.
_CHAT_REASON = {
    Reason.NO_RELEVANT_CANDIDATE: "no_retrieval_result",
    Reason.EVIDENCE_BELOW_THRESHOLD: "insufficient_evidence",
    Reason.CONFLICTING_EVIDENCE: "conflicting_evidence",
    Reason.QUESTION_OUT_OF_SCOPE: "insufficient_evidence",
    Reason.POLICY_BYPASS_REQUEST: "policy_bypass_request",
    Reason.CITATION_VALIDATION_FAILED: "unsupported_claim",
}
_CHAT_REFUSAL = {
    "zh": "在可访问的资料中没有找到足够的证据，暂时无法回答这个问题。",
    "en": "There is not enough evidence in the accessible documents to answer this question.",
}
_CHAT_BYPASS = {
    "zh": "不能绕过访问权限或引用规则来回答。",
    "en": "Access rights and citation rules cannot be bypassed.",
}


def answer_json(answer: GroundedAnswer) -> dict[str, Any]:
    """The GroundedAnswer contract. A refusal shows no candidates: the trace keeps them."""
    refused = answer.status == "no_answer"
    return {
        "status": answer.status,
        "answer": answer.answer,
        "mode": answer.mode,
        "claims": [_claim(claim) for claim in answer.claims],
        "sources": [_source(source) for source in answer.sources],
        "retrieval": _retrieval(answer.retrieval, hide_candidates=refused),
        "reasonCode": answer.reason,
        "gap": None
        if answer.gap is None
        else {
            "part": answer.gap.part,
            "missing": answer.gap.missing,
            "anchors": list(answer.gap.anchors),
            "tried": list(answer.gap.tried),
            "suggestion": answer.gap.suggestion,
        },
        "degraded": list(answer.degraded),
        "engine": answer.engine,
        "profile": answer.profile,
        "traceId": answer.trace_id,
        "conversationId": answer.conversation_id,
        "resolvedQuestion": answer.resolved_question,
    }


def chat_json(answer: GroundedAnswer, language: str) -> dict[str, Any]:
    """The chat shape. A refusal is a fixed sentence in the question's language; the code says which kind."""
    turn = {"conversation_id": answer.conversation_id, "resolved_question": answer.resolved_question}
    if answer.status == "no_answer" and answer.reason is not None:
        sentences = _CHAT_BYPASS if answer.reason is Reason.POLICY_BYPASS_REQUEST else _CHAT_REFUSAL
        return {
            "answer": sentences.get(language, sentences["en"]),
            "refused": True,
            "refusal_reason": answer.fault or _CHAT_REASON[answer.reason],
            "claims": [],
            "sources": [],
            "trace_id": answer.trace_id,
            **turn,
        }
    return {
        "answer": answer.answer,
        "refused": False,
        "refusal_reason": None,
        "claims": [
            {"text": claim.text, "source_ids": list(dict.fromkeys(c.source_id for c in claim.citations))}
            for claim in answer.claims
        ],
        "sources": [
            {
                "id": source.source_id,
                "document_id": source.document_id,
                "document_version": source.document_version,
                "heading": source.heading_path[-1] if source.heading_path else source.title,
                "excerpt": source.text[:EXCERPT],
            }
            for source in answer.sources
        ],
        "trace_id": answer.trace_id,
        **turn,
    }


def search_json(result: SearchResult) -> dict[str, Any]:
    return {
        "hits": [_hit(hit) for hit in result.hits],
        "retrieval": _retrieval(result.retrieval, hide_candidates=True),
        "degraded": list(result.degraded),
        "engine": result.engine,
        "profile": result.profile,
        "traceId": result.trace_id,
    }


def source_json(view: SourceView) -> dict[str, Any]:
    return {
        "documentId": view.document_id,
        "documentVersion": view.document_version,
        "title": view.title,
        "canonicalUrl": view.canonical_url,
        "status": view.status,
        **_span(view.span),
        "text": view.text,
        "textSha256": view.text_sha256,
        "headingPath": list(view.heading_path),
        "page": view.page,
        "before": view.before,
        "after": view.after,
        "note": view.note,
    }


def _span(span: Span) -> dict[str, int]:
    return {"startOffset": span.start, "endOffset": span.end}


def _claim(claim: Claim) -> dict[str, Any]:
    return {
        "text": claim.text,
        "kind": claim.kind,
        "rule": claim.rule,
        "inputs": _inputs(claim),
        "value": claim.value,
        "citations": [_citation(citation) for citation in claim.citations],
    }


def _inputs(claim: Claim) -> list[dict[str, Any]]:
    """The values of a derived claim, each with the place of its citation in the claim's list."""
    given = claim.derivation.inputs if claim.derivation else ()
    return [
        {"text": one.text, "citation": place, **_span(one.span), "observedAt": one.observed_at}
        for place, one in enumerate(given)
    ]


def _citation(citation: Citation) -> dict[str, Any]:
    return {
        "sourceId": citation.source_id,
        "documentId": citation.document_id,
        "documentVersion": citation.document_version,
        "chunkId": citation.chunk_id,
        **_span(citation.span),
        "quote": citation.quote,
        "quoteSha256": citation.quote_sha256,
        "headingPath": list(citation.heading_path),
        "page": citation.page,
    }


def _source(source: Evidence) -> dict[str, Any]:
    return {
        "sourceId": source.source_id,
        "documentId": source.document_id,
        "documentVersion": source.document_version,
        "chunkId": source.chunk_id,
        "title": source.title,
        "headingPath": list(source.heading_path),
        "page": source.page,
        "canonicalUrl": source.canonical_url,
        **_span(source.span),
        "excerpt": source.text[:EXCERPT],
        "role": source.role,
    }


def _retrieval(retrieval: Retrieval, *, hide_candidates: bool) -> dict[str, Any]:
    return {
        "corpusVersion": retrieval.corpus_version,
        "generation": retrieval.generation,
        "candidateChunkIds": [] if hide_candidates else list(retrieval.candidate_chunk_ids),
        "selectedChunkIds": [] if hide_candidates else list(retrieval.selected_chunk_ids),
    }


def _hit(hit: SearchHit) -> dict[str, Any]:
    return {
        "rank": hit.rank,
        "chunkId": hit.chunk_id,
        "documentId": hit.document_id,
        "documentVersion": hit.document_version,
        "title": hit.title,
        "headingPath": list(hit.heading_path),
        **_span(hit.span),
        "excerpt": hit.excerpt,
        "canonicalUrl": hit.canonical_url,
        "page": hit.page,
        "score": hit.score,
        "legs": hit.legs,
        "features": hit.features,
    }
