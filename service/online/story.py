"""THE ONLINE STORY: from a pinned request to a proven answer or an honest refusal. Read it top to bottom.

    rank:    legs → relevance floor → fusion → rights → collapse → cosines → rerank
    answer:  rules → rank → gate → pack → propose → conflict → verify → rights again, or start over

Each step is a room of its own and knows nothing of the others; only this file knows their order.
`entry.py` stands before it: it pins the generation, looks into the cache and keeps the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass, replace

from service.domain.answers import (
    Candidate,
    Evidence,
    Gap,
    GroundedAnswer,
    Outcome,
    Question,
    Reason,
    Retrieval,
)
from service.domain.generations import Pin
from service.domain.ports import Embedder, Engine
from service.domain.retrieval import FoundChunk, LegResult, Vector
from service.domain.rights import Scope
from service.errors import NotFound, Unavailable
from service.online import evidence, fusion, present, retrieval, rights
from service.online.answering import conflict as conflicts
from service.online.answering.extractive import AnswerRequest, Proposal
from service.online.citations.verify import Verdict, verify
from service.online.deadline import Deadline
from service.online.question import Analysis, forbidden
from service.online.rerank import stage as reranking
from service.online.rerank.contract import Reranker
from service.online.tracing import Recorder
from service.profiles.ranking import RankingProfile
from service.profiles.rules import compile_rules
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
class Story:
    """The online path with the parts it works with, put together by bootstrap."""

    engine: Engine
    embedder: Embedder
    load_reranker: Callable[[RankingProfile], Reranker | None]
    answerer: Callable[[AnswerRequest], Proposal]
    count_tokens: Callable[[str], int]
    executor: Executor

    def answer(self, request: Request) -> Outcome:
        """An answer whose every claim is proven, or a no-answer that says which condition failed."""
        refused = self._rules(request)
        if refused is not None:
            return Outcome(self.no_answer(request, refused))

        ranked = self.rank(request)
        answer = self._decide(request, ranked)
        if not self.still_allowed(request, ranked.documents):
            # A revocation came in while we worked: start over, since a refusal may speak of its documents as well as
            # an answer. Each round needs another revocation, and the deadline bounds them all.
            return self.answer(request)
        return Outcome(answer, ranked.documents)

    def _decide(self, request: Request, ranked: Ranked) -> GroundedAnswer:
        usable, decision = self._gate(request, ranked)
        if decision.reason is not None:
            return self.no_answer(request, decision.reason, decision.gap)

        packed = self._pack(request, usable, ranked)
        proposal = self._propose(request, packed, ranked)
        if not proposal.claims:
            return self.no_answer(
                request, Reason.EVIDENCE_BELOW_THRESHOLD, evidence.nothing_quotable(request.analysis.terms)
            )

        conflict = self._conflict(request, proposal, packed)
        if conflict is not None:
            gap = conflicts.conflict_gap(conflict, packed, request.analysis.terms)
            return self.no_answer(request, Reason.CONFLICTING_EVIDENCE, gap)

        answer = self._answered(request, proposal, packed, ranked)
        verdict = self.verify(request, answer, packed)
        if verdict.fault is not None:
            return replace(self.no_answer(request, Reason.CITATION_VALIDATION_FAILED), fault=verdict.fault)
        return answer

    def rank(self, request: Request) -> Ranked:
        """The candidates of a request in their final order."""
        profile, trace = request.profile, request.trace
        with trace.stage("embed") as stage:
            vector = self._embed(request)
            stage.went_out = int(vector is not None)

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
            fused = fusion.reciprocal_rank_fusion(
                results, k=profile.fusion.rrf_k, weights=profile.fusion.weights, pool=profile.fusion.pool
            )
            stage.went_out = len(fused)
            order = [c.chunk_id for c in fused]
            stage.detail = {"order": order, "ranks": {c.chunk_id: c.ranks for c in fused}}

        with trace.stage("rights", len(fused)) as stage:
            asked = {chunks[c.chunk_id].document_id for c in fused}
            allowed = self.allowed(request, asked)
            fused = tuple(c for c in fused if chunks[c.chunk_id].document_id in allowed)
            stage.went_out = len(fused)
            if allowed != asked:
                trace.cacheable = False  # The chunks do not carry what the registry says yet.

        with trace.stage("collapse", len(fused)) as stage:
            unique, duplicates = fusion.collapse_identical(fused, chunks, fold)
            stage.went_out, stage.detail = len(unique), {"duplicates": duplicates}

        with trace.stage("cosines", len(unique)) as stage:
            pool = self._cosines(request, unique[: profile.rerank.depth], chunks, results, vector)
            stage.went_out = len(pool)

        with trace.stage("rerank", len(pool)) as stage:
            ordered = self._rerank(request, pool, chunks)
            stage.went_out = len(ordered)
            stage.detail = {
                "model": profile.rerank.model,
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

    def verify(self, request: Request, answer: GroundedAnswer, packed: Sequence[Evidence]) -> Verdict:
        """Every claim of the answer against the archive."""
        with request.trace.stage("verify", len(answer.claims)) as stage:
            keys = sorted(
                {(c.document_id, c.document_version) for claim in answer.claims for c in claim.citations}
            )
            verdict = verify(answer.claims, packed, self.engine.archive.get_many(keys))
            stage.went_out = 0 if verdict.fault else len(answer.claims)
            stage.detail = {"fault": verdict.fault, "claim": verdict.claim, "why": verdict.detail}
        return verdict

    def still_allowed(self, request: Request, documents: frozenset[str]) -> bool:
        """The last look at the registry: may every one of the documents be seen at this moment?"""
        with request.trace.stage("rights_again", len(documents)) as stage:
            allowed = self.allowed(request, documents)
            stage.went_out = len(allowed)
        return allowed == documents

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

    def no_answer(self, request: Request, reason: Reason, gap: Gap | None = None) -> GroundedAnswer:
        """The structured refusal: no answer, no claims, no candidates."""
        return GroundedAnswer(
            status="no_answer",
            answer=None,
            claims=(),
            sources=(),
            retrieval=snapshot(request),
            reason=reason,
            gap=gap,
            degraded=tuple(request.trace.degraded),
            trace_id=request.trace.trace_id,
            engine=self.engine.name,
            profile=request.profile.identity,
        )

    # ── the steps, each in its own trace record ─────────────────────────────────────────────────────────

    def _rules(self, request: Request) -> Reason | None:
        with request.trace.stage("rules") as stage:
            entries = request.pin.manifest.corpus_profile.get("out_of_scope", ())
            refused = forbidden(request.analysis, compile_rules(entries, where="corpus profile"))
            stage.detail = {"rule": refused[1] if refused else None}
        if refused is None:
            return None
        self.require_visible(request)
        return refused[0]

    def _embed(self, request: Request) -> Vector | None:
        future = self.executor.submit(self.embedder.embed_query, request.question.text)
        try:
            return future.result(request.deadline.left(_EMBED_S))
        except FutureTimeout:
            request.trace.degrade("embedding")
            return None

    def _legs(self, request: Request, vector: Vector | None) -> tuple[LegResult, ...]:
        legs = retrieval.plan(request.analysis.terms, request.analysis.anchors, vector, request.profile.legs)
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

    def _rerank(
        self, request: Request, pool: tuple[Candidate, ...], chunks: Mapping[str, FoundChunk]
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
        )
        seconds = request.deadline.left(request.profile.rerank.deadline_s)
        reranked = reranking.apply(self.load_reranker(request.profile), view, pool, seconds, self.executor)
        if reranked.fault:
            request.trace.degrade(f"rerank_{reranked.fault}")
        return reranked.order

    def _gate(self, request: Request, ranked: Ranked) -> tuple[tuple[Candidate, ...], evidence.Decision]:
        with request.trace.stage("gate", len(ranked.candidates)) as stage:
            chunks = ranked.chunks or {}
            usable, missing = evidence.with_anchors(ranked.candidates, chunks, request.analysis.hard)
            decision = evidence.decide(
                usable,
                chunks,
                request.analysis.content,
                request.analysis.language,
                missing,
                request.profile.gate,
                ranked.failed_legs,
            )
            stage.went_out = 0 if decision.reason else len(usable)
            stage.detail = {"reason": decision.reason, "features": decision.features, "missing": len(missing)}
        return usable, decision

    def _pack(self, request: Request, usable: Sequence[Candidate], ranked: Ranked) -> tuple[Evidence, ...]:
        with request.trace.stage("pack", len(usable)) as stage:
            packed = evidence.pack(usable, ranked.chunks or {}, request.profile.packing, self.count_tokens)
            stage.went_out = len(packed.evidence)
            names = [item.chunk_id for item in packed.evidence]
            stage.detail = {"tokens": packed.tokens, "packed": names, "dropped": packed.dropped}
        return packed.evidence

    def _propose(self, request: Request, packed: tuple[Evidence, ...], ranked: Ranked) -> Proposal:
        analysis = request.analysis
        with request.trace.stage("answer", len(packed)) as stage:
            proposal = self.answerer(
                AnswerRequest(
                    question=analysis.text,
                    terms=analysis.terms,
                    hard=analysis.hard,
                    asks_value=analysis.asks_value,
                    vector=ranked.vector,
                    evidence=packed,
                    settings=request.profile.answering,
                    embed=self.embedder.embed_passages,
                )
            )
            stage.went_out = len(proposal.claims)
            stage.detail = {
                "units": [
                    [f"S{u.source + 1}", u.span.start, u.span.end, round(s, 4)] for u, s in proposal.units
                ]
            }
        return proposal

    def _conflict(
        self, request: Request, proposal: Proposal, packed: tuple[Evidence, ...]
    ) -> conflicts.Conflict | None:
        with request.trace.stage("conflict", len(proposal.units)) as stage:
            chosen = [unit for unit, _ in proposal.units]
            likeness = request.profile.answering.conflict_similarity
            conflict = conflicts.find_conflict(chosen, packed, request.analysis.terms, likeness)
            stage.detail = {"conflict": conflict.kind if conflict else None}
        return conflict

    def _answered(
        self, request: Request, proposal: Proposal, packed: tuple[Evidence, ...], ranked: Ranked
    ) -> GroundedAnswer:
        cited = {citation.source_id for claim in proposal.claims for citation in claim.citations}
        used = tuple(item for item in packed if item.source_id in cited)
        return GroundedAnswer(
            status="answered",
            answer=proposal.answer,
            claims=proposal.claims,
            sources=used,
            retrieval=replace(
                snapshot(request),
                candidate_chunk_ids=tuple(c.chunk_id for c in ranked.candidates),
                selected_chunk_ids=tuple(item.chunk_id for item in used),
            ),
            reason=None,
            gap=None,
            degraded=tuple(request.trace.degraded),
            trace_id=request.trace.trace_id,
            engine=self.engine.name,
            profile=request.profile.identity,
        )


def snapshot(request: Request) -> Retrieval:
    """The one generation this request speaks of."""
    return Retrieval(request.pin.generation.corpus_version, request.pin.generation.name)
