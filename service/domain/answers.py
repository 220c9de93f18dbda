"""Questions, answers, claims, citations and refusals: the values behind both public shapes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from service.domain.documents import BlockKind, Span

Mode = Literal["extractive", "generated"]  # how an answer's text came about


class Reason(StrEnum):
    """Why there is no answer. PERMISSION_FILTERED lives in the internal trace only."""

    NO_RELEVANT_CANDIDATE = "NO_RELEVANT_CANDIDATE"
    EVIDENCE_BELOW_THRESHOLD = "EVIDENCE_BELOW_THRESHOLD"
    CONFLICTING_EVIDENCE = "CONFLICTING_EVIDENCE"
    QUESTION_OUT_OF_SCOPE = "QUESTION_OUT_OF_SCOPE"
    POLICY_BYPASS_REQUEST = "POLICY_BYPASS_REQUEST"
    CITATION_VALIDATION_FAILED = "CITATION_VALIDATION_FAILED"
    PERMISSION_FILTERED = "PERMISSION_FILTERED"


class ClaimFault(StrEnum):
    """Why a claim did not pass the verifier; the chat shape shows it."""

    CLAIM_WITHOUT_SOURCE = "claim_without_source"
    UNKNOWN_SOURCE = "unknown_source"
    UNSUPPORTED_NUMBER = "unsupported_number"
    UNSUPPORTED_CLAIM = "unsupported_claim"


@dataclass(frozen=True, slots=True)
class Question:
    """A validated question. `corpus_version` is a corpusVersion or "live"."""

    query_id: str
    text: str
    corpus: str
    corpus_version: str = "live"
    profile: str | None = None
    locale: str | None = None
    explain: bool = False
    conversation_id: str | None = None


@dataclass(frozen=True, slots=True)
class Citation:
    """A pointer into an archived document version that anyone with the right can check."""

    source_id: str
    document_id: str
    document_version: str
    chunk_id: str
    span: Span
    quote: str
    quote_sha256: str
    heading_path: tuple[str, ...] = ()
    page: int | None = None


@dataclass(frozen=True, slots=True)
class Input:
    """A value that went into a calculation: as written, at `span` of the archived version that the claim's citation of
    the same place cites. `observed_at` is when that version was read; a later one may say otherwise."""

    text: str
    span: Span
    observed_at: str


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a derived claim came about: enough to calculate it again. `unit` is the one asked for, or ""."""

    rule: Literal["sum", "difference", "product", "ratio", "days", "conversion"]
    unit: str
    inputs: tuple[Input, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """One thing that is said. `value` marks, for a question that asks for one, the value in its text."""

    text: str
    kind: Literal["extracted", "generated", "derived"]
    citations: tuple[Citation, ...]
    rule: str | None = None
    derivation: Derivation | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A candidate packed for this request, numbered S1..Sn. The number lives for one response.

    `auxiliary` is what the main evidence links to: read beside it, never instead of it.
    """

    source_id: str
    chunk_id: str
    document_id: str
    document_version: str
    kind: BlockKind
    title: str
    heading_path: tuple[str, ...]
    span: Span
    text: str
    search_prefix: str
    canonical_url: str
    page: int | None
    score: float
    role: Literal["main", "auxiliary"] = "main"


@dataclass(frozen=True, slots=True)
class Gap:
    """Which condition failed, what was tried, and what the caller could add. `part` names the condition in a word."""

    missing: str
    tried: tuple[str, ...] = ()
    suggestion: str = ""
    anchors: tuple[str, ...] = ()
    part: str = ""


@dataclass(frozen=True, slots=True)
class Retrieval:
    corpus_version: str
    generation: str
    candidate_chunk_ids: tuple[str, ...] = ()
    selected_chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroundedAnswer:
    """`answered` has at least one claim with citations; `no_answer` has none, and no candidates either. An answer that
    quotes two documents side by side has a gap too: how they differ."""

    status: Literal["answered", "no_answer"]
    answer: str | None
    claims: tuple[Claim, ...]
    sources: tuple[Evidence, ...]
    retrieval: Retrieval
    reason: Reason | None
    gap: Gap | None
    degraded: tuple[str, ...]
    trace_id: str
    engine: str
    profile: str
    fault: ClaimFault | None = None
    mode: Mode = "extractive"
    conversation_id: str | None = None
    resolved_question: str | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """A chunk on its way through the ranking stages.

    `ranks` holds the rank in each leg that found it; `features` what the stages learned about it
    (cosine, coverage …); `contributions` what each feature added to `score`.
    """

    chunk_id: str
    score: float
    ranks: dict[str, int] = field(default_factory=dict)
    features: dict[str, float] = field(default_factory=dict)
    contributions: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StageRecord:
    """One stage's line in the trace: ids and numbers, never text."""

    stage: str
    ms: float
    came_in: int
    went_out: int
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer or a refusal, and every document that had a part in it: all of them are asked about again before it
    is given to anybody. A refusal shows none of them, yet it may speak of what they say."""

    answer: GroundedAnswer
    documents: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One ranked chunk as a caller may see it. `scores` hold what hidden documents cannot move;
    raw BM25 joins them only for holders of the inspect role."""

    rank: int
    chunk_id: str
    document_id: str
    document_version: str
    title: str
    heading_path: tuple[str, ...]
    span: Span
    excerpt: str
    canonical_url: str
    page: int | None
    score: float
    legs: dict[str, int]
    features: dict[str, float]


@dataclass(frozen=True, slots=True)
class SearchResult:
    hits: tuple[SearchHit, ...]
    retrieval: Retrieval
    degraded: tuple[str, ...]
    trace_id: str
    engine: str
    profile: str


@dataclass(frozen=True, slots=True)
class SourceView:
    """A span of an archived version, re-sliced on request.

    `status` tells whether it is still current, or that the archive does not bear it out any more: then no text is
    shown at all, not the neighbouring one either. `note` says so in a sentence.
    """

    document_id: str
    document_version: str
    title: str
    canonical_url: str
    status: Literal["current", "superseded", "damaged"]
    span: Span
    text: str
    text_sha256: str
    heading_path: tuple[str, ...]
    page: int | None
    before: str
    after: str
    note: str = ""
