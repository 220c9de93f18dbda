"""THE WRONG ORDER, built here and nowhere else: find everything, rank it, cache it by its question, filter last.

It looks right from outside, since the last step takes out what the caller may not see. What the restricted
document leaves behind on its way is what the experiment shows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from service.access.policy import scope_of, visible
from service.domain.answers import Candidate, Question
from service.domain.generations import Generation
from service.domain.retrieval import FoundChunk
from service.domain.rights import Principal
from service.errors import NotFound
from service.online import fusion, retrieval
from service.online.entry import Online
from service.online.question import analyse


@dataclass(slots=True)
class Memory:
    """A cache within this process that tells what went through it: `touched` holds (key, value) of every call."""

    entries: dict[str, bytes] = field(default_factory=dict)
    touched: list[tuple[str, bytes]] = field(default_factory=list)
    name: str = "memory"
    failing: bool = False

    def get(self, key: str) -> bytes | None:
        value = self.entries.get(key)
        self.touched.append((key, value or b""))
        return value

    def set(self, key: str, value: bytes, ttl_s: int) -> None:
        self.entries[key] = value
        self.touched.append((key, value))

    def healthy(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class WrongHit:
    """`rank`, `legs` and `fused` are what the hit had among everything, hidden or not."""

    rank: int
    document_id: str
    title: str
    legs: dict[str, int]
    fused: float


@dataclass(frozen=True, slots=True)
class WrongResult:
    hits: tuple[WrongHit, ...]
    trace: dict[str, Any]


@dataclass(frozen=True, slots=True)
class WrongOrder:
    """Search as it must not be. `all_seeing` may see every document of the corpus."""

    online: Online
    all_seeing: Principal
    cache: Memory

    def search(self, question: Question, principal: Principal, size: int) -> WrongResult:
        key = f"wrong:{' '.join(analyse(question.text).folded.split())}"
        stored = self.cache.get(key)
        if stored is not None:
            hits = tuple(WrongHit(**hit) for hit in json.loads(stored))
            return WrongResult(hits, {"cache": "hit", "kept": [asdict(hit) for hit in hits]})
        found = self._best(question, size)
        allowed = self._allowed(question.corpus, [hit.document_id for hit in found], principal)
        kept = tuple(hit for hit in found if hit.document_id in allowed)
        self.cache.set(key, json.dumps([asdict(hit) for hit in kept], ensure_ascii=False).encode(), 60)
        trace = {
            "found": [asdict(hit) for hit in found],
            "filtered": sorted({hit.document_id for hit in found} - allowed),
        }
        return WrongResult(kept, trace)

    def _best(self, question: Question, size: int) -> tuple[WrongHit, ...]:
        """The first `size` of everything: the legs run with a scope that is not the caller's."""
        story, profile = self.online.story, self.online.load_profile(self.online.default_profile)
        analysis = analyse(question.text)
        vector = story.embedder.embed_question(question.text).pooled
        legs = retrieval.plan(analysis.terms, analysis.anchors, vector, profile.legs)
        results = story.engine.retrieval.search(
            self._live(question.corpus), legs, scope_of(self.all_seeing), self.online.request_timeout_s
        )
        chunks = retrieval.found_chunks(results)
        fused = fusion.reciprocal_rank_fusion(results, k=profile.fusion.rrf_k, weights=profile.fusion.weights)
        return tuple(_hit(rank, c, chunks[c.chunk_id]) for rank, c in enumerate(fused[:size], 1))

    def _live(self, corpus: str) -> Generation:
        generation = self.online.story.engine.retrieval.resolve(corpus, "live")
        if generation is None:
            raise NotFound
        return generation

    def _allowed(self, corpus: str, document_ids: Iterable[str], principal: Principal) -> frozenset[str]:
        entries = self.online.story.engine.registry.get_many(corpus, sorted(set(document_ids)))
        return frozenset(id_ for id_, e in entries.items() if visible(e.access, scope_of(principal)))


def _hit(rank: int, candidate: Candidate, chunk: FoundChunk) -> WrongHit:
    return WrongHit(rank, chunk.document_id, chunk.title, candidate.ranks, candidate.score)
