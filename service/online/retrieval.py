"""The legs: BM25, exact anchors and kNN, asked in one round trip with the scope inside each."""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.retrieval import AnchorLeg, Bm25Leg, FoundChunk, KnnLeg, Leg, LegResult, Vector
from service.profiles.ranking import Legs


def plan(terms: Sequence[str], names: Sequence[str], vector: Vector | None, legs: Legs) -> tuple[Leg, ...]:
    """The legs this question can use: no terms, no BM25; no meaning to embed (a zero vector), no kNN. `names` are
    its anchors and what its words may spell."""
    planned: list[Leg] = []
    if terms:
        planned.append(Bm25Leg(tuple(terms), legs.heading_boost, legs.bm25_size))
    if names:
        planned.append(AnchorLeg(tuple(names), legs.anchors_size))
    if vector is not None and bool(vector.any()):
        planned.append(KnnLeg(vector, legs.knn_k, legs.knn_candidates))
    return tuple(planned)


def relevant(results: Sequence[LegResult], knn_floor: float) -> tuple[LegResult, ...]:
    """Drops neighbours whose cosine lies below the floor: kNN always returns somebody, near or not."""
    least = (1 + knn_floor) / 2
    return tuple(
        result
        if result.leg != "knn"
        else LegResult(
            result.leg, tuple(hit for hit in result.hits if hit.score >= least), result.took_ms, result.error
        )
        for result in results
    )


def found_chunks(results: Sequence[LegResult]) -> dict[str, FoundChunk]:
    """Every chunk that any leg found, by chunkId."""
    return {hit.chunk.chunk_id: hit.chunk for result in results for hit in result.hits}


def known_cosines(results: Sequence[LegResult]) -> dict[str, float]:
    """Cosine of the question with each chunk that the kNN leg found."""
    return {
        hit.chunk.chunk_id: 2 * hit.score - 1
        for result in results
        if result.leg == "knn"
        for hit in result.hits
    }
