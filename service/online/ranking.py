"""THE ONLINE STORY, first part: which chunks answer best, in which order. `story.py` goes on from here.

    legs → relevance floor → fusion → rights → collapse → cosines → token vectors → rerank

Search ends here; an answer begins here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from service.domain.answers import Candidate, Question, Retrieval
from service.domain.generations import Pin
from service.domain.ports import Embedder, Engine
from service.domain.retrieval import FoundChunk, LegResult, QuestionVectors, Vector
from service.domain.rights import Scope
from service.errors import GenerationGone, NotFound, Unavailable
from service.online import fusion, present, retrieval, rights
from service.online.deadline import Deadline
from service.online.question import Analysis
from service.online.rerank import stage as reranking
from service.online.rerank.contract import Reranker
from service.online.tracing import Recorder
from service.profiles.ranking import RankingProfile
from service.text.folding import fold
from service.text.language import prose_words

_SEARCH_S, _EMBED_S, _LOOKUP_S = 5.0, 2.0, 2.0  # most seconds of the request's deadline a step may take


@dataclass(frozen=True, slots=True)
class Request:
    """One request on its way: everything fixed before the first query.

    `epoch` is the access epoch as it was then: what is found under it may only be cached under it.
    """

    question: Question
    analysis: Analysis
    scope: Scope
    pin: Pin
    epoch: int
    profile: RankingProfile
    deadline: Deadline
    trace: Recorder


@dataclass(frozen=True, slots=True)
class Ranked:
    """What was found, best first, and all `documents` in it. `bm25` holds raw scores, for inspection only."""

    candidates: tuple[Candidate, ...] = ()
    documents: frozenset[str] = frozenset()
    chunks: Mapping[str, FoundChunk] | None = None
    failed_legs: frozenset[str] = frozenset()
    vector: Vector | None = None
    bm25: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking part of the path, with the parts it works with."""

    engine: Engine
    embedder: Embedder
    load_reranker: Callable[[RankingProfile], Reranker | None]
    executor: Executor

    def rank(self, request: Request) -> Ranked:
        """The candidates of a request in their final order."""
        profile, trace = request.profile, request.trace
        with trace.stage("embed") as stage:
            asked = self._embed(request)
            vector = asked.pooled if asked else None
            stage.went_out = int(asked is not None)

        with trace.stage("legs") as stage:
            results = self._legs(request, vector)
            chunks = retrieval.found_chunks(results)
            trace.saw(chunk.document_id for chunk in chunks.values())
            stage.went_out = len(chunks)
            stage.detail = {
                r.leg: {"found": len(r.hits), "tookMs": r.took_ms, "error": r.error} for r in results
            }
        if not chunks:
            self.require_visible(request)
            return Ranked()

        with trace.stage("fuse", len(chunks)) as stage:
            everything = fusion.reciprocal_rank_fusion(
                results, k=profile.fusion.rrf_k, weights=profile.fusion.weights
            )
            fused = fusion.pooled(everything, chunks, fold, profile.fusion.pool)
            stage.went_out = len(fused)
            order = [c.chunk_id for c in fused]
            stage.detail = {"order": order, "ranks": {c.chunk_id: c.ranks for c in fused}}

        with trace.stage("rights", len(fused)) as stage:
            documents = {chunks[c.chunk_id].document_id for c in fused}
            allowed = self.allowed(request, documents)
            fused = tuple(c for c in fused if chunks[c.chunk_id].document_id in allowed)
            stage.went_out = len(fused)
            if allowed != documents:
                trace.cacheable = False  # The chunks do not carry what the registry says yet.

        with trace.stage("collapse", len(fused)) as stage:
            unique, duplicates = fusion.collapse_identical(fused, chunks, fold)
            stage.went_out, stage.detail = len(unique), {"duplicates": duplicates}

        with trace.stage("cosines", len(unique)) as stage:
            pool = self._cosines(request, unique[: profile.rerank.depth], chunks, results, vector)
            stage.went_out = len(pool)

        with trace.stage("tokens", len(pool)) as stage:
            tokens = self._tokens(request, pool, asked)
            stage.went_out = len(tokens.candidates) if tokens else 0

        with trace.stage("rerank", len(pool)) as stage:
            ordered = self._rerank(request, pool, chunks, tokens)
            stage.went_out = len(ordered)
            stage.detail = {
                "model": profile.rerank.model,
                "tokens": tokens is not None,
                "order": [c.chunk_id for c in ordered],
                "scores": {
                    c.chunk_id: [round(c.score, 6), present.rounded(c.contributions)] for c in ordered
                },
            }
        return Ranked(
            candidates=ordered,
            documents=allowed,
            chunks=chunks,
            failed_legs=frozenset(r.leg for r in results if r.error),
            vector=vector,
            bm25={h.chunk.chunk_id: h.score for r in results if r.leg == "bm25" for h in r.hits},
        )

    def allowed(self, request: Request, documents: Iterable[str]) -> frozenset[str]:
        """Those of the documents that the registry lets this scope see at this moment."""
        asked = sorted(set(documents))
        entries = self.engine.registry.get_many(request.question.corpus, asked) if asked else {}
        return rights.allowed_documents(entries, asked, request.scope)

    def require_visible(self, request: Request) -> None:
        """A corpus in which the caller may see nothing must look like one that does not exist: NotFound."""
        seen = self.engine.retrieval.any_visible(
            request.pin.generation, request.scope, request.deadline.left(_LOOKUP_S)
        )
        if not seen:
            raise NotFound

    def _embed(self, request: Request) -> QuestionVectors | None:
        future = self.executor.submit(self.embedder.embed_question, request.question.text)
        try:
            return future.result(request.deadline.left(_EMBED_S))
        except FutureTimeout:
            request.trace.degrade("embedding")
            return None

    def _legs(self, request: Request, vector: Vector | None) -> tuple[LegResult, ...]:
        asked = request.analysis
        names = (*asked.anchors, *asked.respelled)
        legs = retrieval.plan(asked.terms, names, vector, request.profile.legs)
        if not legs:
            return ()
        results = self.engine.retrieval.search(
            request.pin.generation, legs, request.scope, request.deadline.left(_SEARCH_S)
        )
        for result in results:
            if result.error:
                request.trace.degrade(f"leg_{result.leg}")
        if all(result.error for result in results):
            raise Unavailable("The search engine answered none of the queries. Try again in a moment.")
        return retrieval.relevant(results, request.profile.legs.knn_floor)

    def _cosines(
        self,
        request: Request,
        candidates: tuple[Candidate, ...],
        chunks: Mapping[str, FoundChunk],
        results: Sequence[LegResult],
        vector: Vector | None,
    ) -> tuple[Candidate, ...]:
        if vector is None or not any(r.leg == "knn" and not r.error for r in results):
            return candidates
        known = retrieval.known_cosines(results)
        missing = [c.chunk_id for c in candidates if c.chunk_id not in known]
        if missing:
            known |= self.engine.retrieval.similarities(
                request.pin.generation, vector, missing, request.scope, request.deadline.left(_LOOKUP_S)
            )
        asked, cosine = request.analysis.language, request.profile.cosine

        def baseline(chunk_id: str) -> float:
            chunk = chunks[chunk_id]
            words = 0 if chunk.kind == "code" else prose_words(chunk.text)
            return cosine.baseline_for(asked, chunk.locale[:2], words)

        return fusion.with_cosines(candidates, known, baseline)

    def _tokens(
        self, request: Request, pool: Sequence[Candidate], asked: QuestionVectors | None
    ) -> reranking.Tokens | None:
        """Token vectors of question and pool, where the profile reads any and the generation keeps those of this
        embedder. Asked of the engine under the caller's scope, like everything else."""
        built = request.pin.manifest.processors.tokens
        question = asked.tokens if asked else None
        ours = built and built == self.embedder.token_identity
        if not (request.profile.reads_tokens and ours and question is not None and pool):
            return None
        names, left = [c.chunk_id for c in pool], request.deadline.left(_LOOKUP_S)
        try:
            kept = self.engine.retrieval.token_vectors(request.pin.generation, names, request.scope, left)
        except GenerationGone:
            raise
        except Unavailable:
            request.trace.degrade("token_vectors")
            return None
        return reranking.Tokens(question, kept)

    def _rerank(
        self,
        request: Request,
        pool: tuple[Candidate, ...],
        chunks: Mapping[str, FoundChunk],
        tokens: reranking.Tokens | None,
    ) -> tuple[Candidate, ...]:
        view = reranking.request_for(
            request.analysis.text,
            request.analysis.terms,
            request.analysis.anchors,
            [anchor.canonical for anchor in request.analysis.hard],
            request.analysis.asks_value,
            request.analysis.language,
            pool,
            chunks,
            tokens,
        )
        profile = request.profile
        if profile.reads_tokens and tokens is None:
            profile = profile.without_tokens
        seconds = request.deadline.left(request.profile.rerank.deadline_s)
        reranked = reranking.apply(self.load_reranker(profile), view, pool, seconds, self.executor)
        if reranked.fault:
            request.trace.degrade(f"rerank_{reranked.fault}")
        return reranked.order


def snapshot(request: Request) -> Retrieval:
    """The one generation this request speaks of."""
    return Retrieval(request.pin.generation.corpus_version, request.pin.generation.name)
