"""Looks on while a question is answered: what each leg found, and in which order each stage left it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.adapters.redis_cache import NoCache
from service.domain.answers import Citation, GroundedAnswer
from service.domain.documents import Span
from service.domain.generations import Generation
from service.domain.ports import Retrieval
from service.domain.retrieval import FoundChunk, Leg, LegResult, Vector
from service.domain.rights import RightsInUse, Scope
from service.online.entry import Online

STAGES = ("bm25", "anchors", "knn", "fused", "reranked", "packed", "answered")


@dataclass(frozen=True, slots=True)
class Place:
    """A chunk as a stage ranked it, or a citation: where in which document it stands."""

    document_id: str
    chunk_id: str
    span: Span


@dataclass(slots=True)
class Watched:
    """The engine's retrieval, which keeps what the last search found. Passes everything on as it is."""

    inner: Retrieval
    found: tuple[LegResult, ...] = ()

    def search(
        self, generation: Generation, legs: Sequence[Leg], scope: Scope, timeout_s: float
    ) -> tuple[LegResult, ...]:
        self.found = self.inner.search(generation, legs, scope, timeout_s)
        return self.found

    def resolve(self, corpus: str, corpus_version: str) -> Generation | None:
        return self.inner.resolve(corpus, corpus_version)

    def similarities(
        self, generation: Generation, vector: Vector, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, float]:
        return self.inner.similarities(generation, vector, chunk_ids, scope, timeout_s)

    def token_vectors(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, bytes]:
        return self.inner.token_vectors(generation, chunk_ids, scope, timeout_s)

    def any_visible(self, generation: Generation, scope: Scope, timeout_s: float) -> bool:
        return self.inner.any_visible(generation, scope, timeout_s)

    def rights_in_use(self, generation: Generation, tenant: str, timeout_s: float) -> RightsInUse | None:
        return self.inner.rights_in_use(generation, tenant, timeout_s)

    def fetch(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, FoundChunk]:
        return self.inner.fetch(generation, chunk_ids, scope, timeout_s)


def watched(online: Online) -> tuple[Online, Watched]:
    """The same path without its cache, since a cached answer was ranked by nobody, and whom to ask what was found."""
    seen = Watched(online.story.engine.retrieval)
    engine = replace(online.story.engine, retrieval=seen)
    return replace(online, story=replace(online.story, engine=engine), cache=NoCache()), seen


def orders(
    found: Sequence[LegResult], stages: Sequence[dict[str, Any]], answer: GroundedAnswer
) -> dict[str, tuple[Place, ...]]:
    """Each stage's order, best first. A stage that was not reached has none: a refused question packs nothing."""
    known = {hit.chunk.chunk_id: hit.chunk for leg in found for hit in leg.hits}

    def places(chunk_ids: Iterable[str]) -> tuple[Place, ...]:
        return tuple(_place(known[name]) for name in chunk_ids)

    # Of a stage that was begun again after a revocation, the last is the one that counts.
    detail = {stage["stage"]: stage["detail"] for stage in stages}
    citations = [citation for claim in answer.claims for citation in claim.citations]
    return {
        **{str(leg.leg): places(hit.chunk.chunk_id for hit in leg.hits) for leg in found},
        "fused": places(detail.get("fuse", {}).get("order", ())),
        "reranked": places(detail.get("rerank", {}).get("order", ())),
        "packed": places(detail.get("pack", {}).get("packed", ())),
        "answered": tuple(_cited(citation) for citation in citations),
    }


def _place(chunk: FoundChunk) -> Place:
    return Place(chunk.document_id, chunk.chunk_id, chunk.span)


def _cited(citation: Citation) -> Place:
    return Place(citation.document_id, citation.chunk_id, citation.span)
