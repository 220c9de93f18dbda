"""Claims that could not be decided, for people to mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.domain.documents import Span

ReviewState = Literal["open", "supported", "unsupported"]
Mark = Literal["supported", "unsupported"]


@dataclass(frozen=True, slots=True)
class CitedSpan:
    """A stretch of an archived version that a claim names as its source; its text is cut from the archive when read."""

    document_id: str
    document_version: str
    span: Span


@dataclass(frozen=True, slots=True)
class Undecided:
    """A claim that was refused because it could not be told whether its sources say it; `reason` is a fault of the
    verifier. `documents` are all that its writer was sent: its words may be of any of them."""

    claim: str
    reason: str
    citations: tuple[CitedSpan, ...]
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """An undecided claim in the queue. `at` and `marked_at` are ISO times in UTC, by the second."""

    review_id: str
    at: str
    tenant: str
    corpus: str
    corpus_version: str
    generation: str
    trace_id: str
    undecided: Undecided
    state: ReviewState = "open"
    marked_by: str = ""
    marked_at: str = ""
    note: str = ""
    token: str | None = None
