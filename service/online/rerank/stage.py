"""The rerank stage: asks the plugin, sorts, and falls back to the fused order when it is late or fails."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace

from service.domain.answers import Candidate
from service.domain.retrieval import FoundChunk, QuestionTokens
from service.online.rerank.contract import RerankCandidate, Reranker, RerankRequest, RerankScore


@dataclass(frozen=True, slots=True)
class Reranked:
    """`fault` is None, "late", "failed" or "incomplete"; then `order` is the fused one."""

    order: tuple[Candidate, ...]
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Tokens:
    """The question's token vectors, and those of the candidates that have any, packed, by chunkId."""

    question: QuestionTokens
    candidates: Mapping[str, bytes]


def request_for(
    question: str,
    terms: tuple[str, ...],
    anchors: Sequence[str],
    hard: Sequence[str],
    asks_value: bool,
    language: str,
    candidates: Sequence[Candidate],
    chunks: Mapping[str, FoundChunk],
    tokens: Tokens | None = None,
) -> RerankRequest:
    """The plugin's view of the fused candidates."""
    kept = tokens.candidates if tokens else {}

    def view(rank: int, candidate: Candidate) -> RerankCandidate:
        chunk = chunks[candidate.chunk_id]
        return RerankCandidate(
            chunk_id=chunk.chunk_id,
            title=chunk.title,
            heading_path=chunk.heading_path,
            prefix=chunk.search_prefix,
            text=chunk.text,
            anchors=frozenset(chunk.anchors),
            fused_rank=rank,
            relevance=candidate.features.get("relevance"),
            locale=chunk.locale,
            tokens=kept.get(chunk.chunk_id, b""),
        )

    return RerankRequest(
        question=question,
        terms=terms,
        anchors=frozenset(anchors),
        hard=frozenset(hard),
        asks_value=asks_value,
        candidates=tuple(view(rank, candidate) for rank, candidate in enumerate(candidates, 1)),
        language=language,
        tokens=tokens.question if tokens else None,
    )


def apply(
    reranker: Reranker | None,
    request: RerankRequest,
    candidates: Sequence[Candidate],
    seconds: float,
    executor: Executor,
) -> Reranked:
    """Candidates by rerank score, ties by fused order. Unscored ones never come first: with any of them
    missing the fused order stands, since two scales cannot be mixed in one list."""
    fused = tuple(candidates)
    if reranker is None or not fused:
        return Reranked(fused)
    future = executor.submit(reranker.rerank, request, time.monotonic() + seconds)
    try:
        scores = future.result(timeout=seconds)
    except FutureTimeout:
        future.cancel()
        return Reranked(fused, "late")
    except Exception:  # A plugin is foreign code: whatever it raises must cost only its own stage.
        return Reranked(fused, "failed")
    return _sorted(fused, scores)


def _sorted(fused: tuple[Candidate, ...], scores: Sequence[RerankScore]) -> Reranked:
    by_id = {score.chunk_id: score for score in scores if not math.isnan(score.score)}
    if any(candidate.chunk_id not in by_id for candidate in fused):
        return Reranked(fused, "incomplete")
    scored = [
        replace(
            candidate,
            score=by_id[candidate.chunk_id].score,
            features={**candidate.features, **by_id[candidate.chunk_id].signals},
            contributions=dict(by_id[candidate.chunk_id].contributions),
            notes=(*candidate.notes, "truncated") if by_id[candidate.chunk_id].truncated else candidate.notes,
        )
        for candidate in fused
    ]
    order = sorted(range(len(scored)), key=lambda place: (-scored[place].score, place))
    return Reranked(tuple(scored[place] for place in order))
