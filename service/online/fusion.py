"""Reciprocal rank fusion of the legs, the pool of differing texts, and the collapse of identical ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from service.domain.answers import Candidate
from service.domain.retrieval import FoundChunk, LegResult


def reciprocal_rank_fusion(
    results: Sequence[LegResult], *, k: int, weights: Mapping[str, float]
) -> tuple[Candidate, ...]:
    """score(d) = Σ over legs of weight / (k + rank), ranks from 1; ties by chunkId (Cormack, Clarke and
    Büttcher, SIGIR 2009). Every chunk that a leg found, best first."""
    ranks: dict[str, dict[str, int]] = {}
    for result in results:
        for hit in result.hits:
            ranks.setdefault(hit.chunk.chunk_id, {})[result.leg] = hit.rank
    fused = [
        Candidate(
            chunk_id=chunk_id,
            score=sum(weights.get(leg, 1.0) / (k + rank) for leg, rank in by_leg.items()),
            ranks=by_leg,
        )
        for chunk_id, by_leg in ranks.items()
    ]
    fused.sort(key=lambda candidate: (-candidate.score, candidate.chunk_id))
    return tuple(fused)


def pooled(
    fused: Sequence[Candidate], chunks: Mapping[str, FoundChunk], fold: Callable[[str], str], pool: int
) -> tuple[Candidate, ...]:
    """The shortest beginning of the order that holds `pool` differing texts, or all of it.

    Cut by texts and not by chunks: a page that stands in sixty places would push everything else out. The repeats in
    between stay, since the one that stands first may turn out to be revoked.
    """
    seen: set[tuple[str, ...]] = set()
    for place, (_, text) in enumerate(_texts(fused, chunks, fold)):
        seen.add(text)
        if len(seen) > pool:
            return tuple(fused[:place])
    return tuple(fused)


def collapse_identical(
    candidates: Sequence[Candidate], chunks: Mapping[str, FoundChunk], fold: Callable[[str], str]
) -> tuple[tuple[Candidate, ...], dict[str, str]]:
    """Keeps the first of chunks whose whole search text is the same once folded, numbers, units and
    negations included; returns what is kept and, for each dropped chunkId, the one that stands for it.

    Two versions of one document stay two: which version says it is part of what is said.
    """
    seen: dict[tuple[str, ...], str] = {}
    kept: list[Candidate] = []
    dropped: dict[str, str] = {}
    for candidate, text in _texts(candidates, chunks, fold):
        if text in seen:
            dropped[candidate.chunk_id] = seen[text]
        else:
            seen[text] = candidate.chunk_id
            kept.append(candidate)
    return tuple(kept), dropped


def _texts(
    candidates: Sequence[Candidate], chunks: Mapping[str, FoundChunk], fold: Callable[[str], str]
) -> Iterator[tuple[Candidate, tuple[str, ...]]]:
    """Each candidate with what its text is told apart by."""
    versions: dict[str, str] = {}
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        text = " ".join(fold(f"{chunk.search_prefix} {chunk.text}").split())
        known_version = versions.setdefault(chunk.document_id, chunk.document_version)
        yield (
            candidate,
            (text,)
            if known_version == chunk.document_version
            else (
                text,
                chunk.document_version,
            ),
        )


def with_cosines(
    candidates: Sequence[Candidate], cosines: Mapping[str, float], baseline: Callable[[str], float]
) -> tuple[Candidate, ...]:
    """The same candidates with the features `cosine` and `relevance` (the cosine above its baseline) where the
    cosine is known. `baseline` takes a chunkId."""

    def known(candidate: Candidate, cosine: float) -> Candidate:
        features = {"cosine": cosine, "relevance": cosine - baseline(candidate.chunk_id)}
        return replace(candidate, features={**candidate.features, **features})

    return tuple(known(c, cosines[c.chunk_id]) if c.chunk_id in cosines else c for c in candidates)
