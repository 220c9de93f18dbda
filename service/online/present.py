"""Turns ranked candidates into the search hits a caller gets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.domain.answers import Candidate, SearchHit
from service.domain.retrieval import FoundChunk

EXCERPT = 500  # code points of a chunk's text that a hit shows


def hits(
    candidates: Sequence[Candidate], chunks: Mapping[str, FoundChunk], bm25: Mapping[str, float]
) -> tuple[SearchHit, ...]:
    """Hits in ranking order. `bm25` holds raw scores, or nothing for callers without the inspect role:
    an index-wide term statistic counts hidden documents too."""
    return tuple(
        _hit(rank, candidate, chunks[candidate.chunk_id], bm25)
        for rank, candidate in enumerate(candidates, 1)
    )


def _hit(rank: int, candidate: Candidate, chunk: FoundChunk, bm25: Mapping[str, float]) -> SearchHit:
    raw = {"bm25": round(bm25[chunk.chunk_id], 6)} if chunk.chunk_id in bm25 else {}
    return SearchHit(
        rank=rank,
        chunk_id=chunk.chunk_id,
        document_id=chunk.document_id,
        document_version=chunk.document_version,
        title=chunk.title,
        heading_path=chunk.heading_path,
        span=chunk.span,
        excerpt=chunk.text[:EXCERPT],
        canonical_url=chunk.canonical_url,
        page=chunk.page,
        score=round(candidate.score, 6),
        legs=candidate.ranks,
        features={**rounded(candidate.features), **rounded(candidate.contributions), **raw},
    )


def rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 6) for name, value in values.items()}
