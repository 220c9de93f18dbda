"""The door of the online path: pins the generation, looks into the cache, keeps the trace.

What happens between is `story.py`. Web, cli and the evaluation all come in here.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from service.access.policy import scope_of
from service.domain.answers import GroundedAnswer, Question, Reason, SearchResult, SourceView
from service.domain.generations import LIVE, Generation, Pin
from service.domain.ports import Cache
from service.domain.rights import Principal
from service.errors import (
    AliasOnSeveral,
    AttestError,
    GenerationGone,
    InvalidInput,
    Misconfigured,
    NotFound,
    Unavailable,
)
from service.online import caching, present, rights, sources
from service.online.conversation import Dialogue, Turn
from service.online.deadline import Deadline
from service.online.question import analyse, forbidden
from service.online.ranking import Request, snapshot
from service.online.readiness import Readiness
from service.online.reviewing import ReviewKeeper
from service.online.story import Story
from service.online.tracing import Recorder, cited
from service.profiles.ranking import RankingProfile
from service.profiles.rules import bypass_identity
from service.text.analysis import ANALYZER_VERSION
from service.text.followup import VERSION as FOLLOWUP_VERSION
from service.text.questions import VERSION as QUESTIONS_VERSION

Event = Callable[[str, str, float], None]


@dataclass(frozen=True, slots=True)
class Online:
    """The four things a caller can ask for, and whether the path is ready.

    `on_event(kind, name, value)` feeds the metrics: stage times, cache hits, degraded parts. `pinned` is a generation
    that is asked whatever the aliases say: before it goes live, it is tried so.
    """

    story: Story
    cache: Cache
    scopes: caching.EffectiveScopes
    load_profile: Callable[[str], RankingProfile]
    default_profile: str
    request_timeout_s: float
    cache_ttl_s: int
    on_event: Event
    dialogue: Dialogue
    readiness: Readiness
    reviews: ReviewKeeper
    pinned: Generation | None = None

    def answer(self, question: Question, principal: Principal) -> GroundedAnswer:
        """A grounded answer or a structured no-answer.

        Raises NotFound for a corpus or corpusVersion that is missing or not yours, Unavailable when the engine
        does not answer in time: that is never told as "no evidence".
        """
        turn = self.dialogue.turn(question, principal) if question.conversation_id else None
        request = self._begin(turn.question if turn else question, principal)
        try:
            answer = self._open(request, turn) or self._cached_answer(request) or self._fresh_answer(request)
        except AttestError as error:
            self._finish(request, {"error": error.code})
            raise
        selected = list(answer.retrieval.selected_chunk_ids)
        outcome = {
            "status": answer.status,
            "reason": answer.reason,
            "fault": answer.fault,
            "selected": selected,
            "citations": cited(answer),
        }
        if turn is not None:
            answer = self._kept(request, turn, answer)
        self._finish(request, outcome)
        return answer

    def search(self, question: Question, principal: Principal, size: int) -> SearchResult:
        """Ranked chunks without an answer. Raises like `answer`."""
        request = self._begin(question, principal)
        try:
            result = self._search(request, size)
        except AttestError as error:
            self._finish(request, {"error": error.code})
            raise
        self._finish(request, {"hits": [hit.chunk_id for hit in result.hits]})
        return result

    def read_source(
        self,
        principal: Principal,
        document_id: str,
        version: str,
        start: int | None,
        end: int | None,
        quote_sha256: str | None = None,
    ) -> SourceView:
        """A span of an archived version, authorised anew; with the hash of a quote, that quote or nothing.

        Raises NotFound for anything missing or forbidden.
        """
        scope = scope_of(principal)
        return sources.read_source(self.story.engine, scope, document_id, version, start, end, quote_sha256)

    def read_trace(self, principal: Principal, trace_id: str) -> dict[str, Any]:
        """A recorded trace, if every document it names may be seen by this principal now. Raises NotFound."""
        record = self.story.engine.traces.get(trace_id)
        if record is None or record.get("tenant") != principal.tenant:
            raise NotFound
        documents = sorted(set(record["documents"]))
        if not documents:
            self._require_visible(Generation.parse(str(record["generation"])), principal)
        entries = self.story.engine.registry.get_many(str(record["corpus"]), documents)
        if rights.allowed_documents(entries, documents, scope_of(principal)) != frozenset(documents):
            raise NotFound
        return record

    def ready(self) -> dict[str, str]:
        """Part → "ok", "degraded: …" (still answers) or what is wrong (does not)."""
        return self.readiness()

    def _begin(self, question: Question, principal: Principal) -> Request:
        asked_for = self.load_profile(question.profile) if question.profile else None
        trace = Recorder(uuid.uuid4().hex)
        deadline = Deadline.after(self.request_timeout_s)
        with trace.stage("pin"):
            # Before anything is found: a result may be older than the rights of its time, never newer.
            epoch = self.story.engine.registry.epoch()
            pin = self._pin(question, principal)
        profile = asked_for or self._tuned_profile(pin)
        with trace.stage("analyse") as stage:
            analysis = analyse(question.text)
            stage.detail = {
                "terms": len(analysis.terms),
                "anchors": len(analysis.anchors),
                "hardAnchors": len(analysis.hard),
                "language": analysis.language,
                "asksValue": analysis.asks_value,
                "kind": analysis.kind,
                "sides": len(analysis.sides),
                "respelled": len(analysis.respelled),
                "conditions": [condition.kind for condition in analysis.conditions],
                "versions": {"questions": QUESTIONS_VERSION, "analyzer": ANALYZER_VERSION},
            }
        trace.header = {
            "queryId": question.query_id,
            "tenant": principal.tenant,
            "corpus": question.corpus,
            "corpusVersion": pin.generation.corpus_version,
            "generation": pin.generation.name,
            "engine": self.story.engine.name,
            "profile": profile.identity,
            "embedder": self.story.embedder.identity,
            "answerer": self.story.answered_by(profile),
        }
        return Request(question, analysis, scope_of(principal), pin, epoch, profile, deadline, trace)

    def _pin(self, question: Question, principal: Principal) -> Pin:
        generation = self.pinned or self._resolve(question.corpus, question.corpus_version, principal)
        if generation is None:
            raise self._not_there(question, principal)
        manifest = self.story.engine.builds.get(generation.name)
        if manifest is None or manifest.processors.embedder != self.story.embedder.identity:
            # What is wrong with a corpus is told to those only for whom there is one.
            self._require_visible(generation, principal)
            raise Unavailable(
                "The live generation does not fit this service; an operator runs `attest doctor`."
            )
        return Pin(generation, manifest)

    def _resolve(self, corpus: str, corpus_version: str, principal: Principal) -> Generation | None:
        try:
            return self.story.engine.retrieval.resolve(corpus, corpus_version)
        except AliasOnSeveral as fault:
            # That something is wrong is told to those only who may see something of it.
            behind = [Generation.parse(name) for name in fault.behind]
            if not any(self._sees_some(generation, principal) for generation in behind):
                raise NotFound from None
            raise

    def _not_there(self, question: Question, principal: Principal) -> AttestError:
        """NotFound; but who may see something of the corpus hears of a corpusVersion that was live and is pruned."""
        engine = self.story.engine
        pinned = question.corpus_version != LIVE
        live = self._resolve(question.corpus, LIVE, principal) if pinned else None
        if live is None:
            return NotFound()
        self._require_visible(live, principal)
        for manifest in engine.builds.scan(question.corpus):
            was_live = manifest.state == "pruned" and any(s["state"] == "live" for s in manifest.history)
            if was_live and manifest.corpus_version == question.corpus_version:
                return GenerationGone('That corpusVersion was pruned; ask again with "live".')
        return NotFound()

    def _tuned_profile(self, pin: Pin) -> RankingProfile:
        """The profile the corpus had when the generation was built, so that a switch brings the one tuned for it."""
        name = str(pin.manifest.corpus_profile.get("profile") or self.default_profile)
        try:
            return self.load_profile(name)
        except InvalidInput as error:
            raise Misconfigured(f"The live generation's ranking profile {name!r}: {error.message}") from error

    def _require_visible(self, generation: Generation | None, principal: Principal) -> None:
        """Raises NotFound where the principal may see nothing of the generation, or it is gone."""
        if not self._sees_some(generation, principal):
            raise NotFound

    def _sees_some(self, generation: Generation | None, principal: Principal) -> bool:
        try:
            return generation is not None and self.story.engine.retrieval.any_visible(
                generation, scope_of(principal), self.request_timeout_s
            )
        except GenerationGone:
            return False

    def _open(self, request: Request, turn: Turn | None) -> GroundedAnswer | None:
        """The refusal of a turn that nothing settles; None where there is a question to answer."""
        if turn is None:
            return None
        with request.trace.stage("conversation", len(turn.before)) as stage:
            stage.detail = {"how": turn.how, "version": FOLLOWUP_VERSION}
        if turn.gap is None:
            return None
        self.story.require_visible(request)
        return self.story.no_answer(request, Reason.EVIDENCE_BELOW_THRESHOLD, turn.gap)

    def _kept(self, request: Request, turn: Turn, answer: GroundedAnswer) -> GroundedAnswer:
        """The answer with its place in the conversation. A turn that could not be kept is told: the next one would find
        nothing to follow."""
        asked = None if turn.gap else turn.question.text
        try:
            self.dialogue.keep(turn, answer.reason)
        except Unavailable:
            request.trace.degrade("conversation")
            degraded = tuple(request.trace.degraded)
            return replace(answer, degraded=degraded, resolved_question=asked)
        return replace(answer, conversation_id=turn.conversation_id, resolved_question=asked)

    def _fresh_answer(self, request: Request) -> GroundedAnswer:
        outcome = self.story.answer(request)
        if request.trace.cacheable:
            self.cache.set(self._key(request, "answer"), caching.dump_outcome(outcome), self.cache_ttl_s)
        self._note_cache(request)
        return replace(outcome.answer, degraded=tuple(request.trace.degraded))

    def _note_cache(self, request: Request) -> None:
        """A cache that fails makes a request slower and no other: told, but no reason to keep nothing."""
        if self.cache.failing:
            request.trace.degraded.append("cache")

    def _cached_answer(self, request: Request) -> GroundedAnswer | None:
        """A cached answer that still holds: same snapshot, claims proven anew, documents still visible."""
        with request.trace.stage("cache") as stage:
            data = self.cache.get(self._key(request, "answer"))
            kept = caching.load_outcome(data) if data is not None else None
            stage.detail = {"hit": kept is not None}
        self.on_event("cache", "hit" if kept else "miss", 1)
        if kept is None:
            return None
        cached = kept.answer
        if cached.retrieval != replace(
            snapshot(request),
            candidate_chunk_ids=cached.retrieval.candidate_chunk_ids,
            selected_chunk_ids=cached.retrieval.selected_chunk_ids,
        ):
            return None
        request.trace.saw(kept.documents)
        if cached.status == "answered":
            cited = {c.document_id for claim in cached.claims for c in claim.citations}
            if not cited or not cited <= kept.documents:
                return None
            if self.story.verify(request, cached, cached.sources).fault is not None:
                return None
        elif not kept.documents:
            self.story.require_visible(request)
        if not self.story.still_allowed(request, kept.documents):
            return None
        return replace(cached, trace_id=request.trace.trace_id)

    def _search(self, request: Request, size: int) -> SearchResult:
        if forbidden(request.analysis, ()) is not None:
            self.story.require_visible(request)
            return self._result(request, ())
        key = self._key(request, f"search-{size}-{'explain' if request.question.explain else 'plain'}")
        cached = self._cached_search(request, key)
        if cached is not None:
            return cached
        ranked = self.story.rank(request)
        if not self.story.still_allowed(request, ranked.documents):
            return self._search(request, size)  # A revocation came in meanwhile: as in `Story.answer`.
        bm25 = ranked.bm25 or {} if request.question.explain else {}
        result = self._result(request, present.hits(ranked.candidates[:size], ranked.chunks or {}, bm25))
        if request.trace.cacheable:
            self.cache.set(key, caching.dump_search(result), self.cache_ttl_s)
        self._note_cache(request)
        return replace(result, degraded=tuple(request.trace.degraded))

    def _cached_search(self, request: Request, key: str) -> SearchResult | None:
        """A cached result whose every document may still be seen."""
        with request.trace.stage("cache") as stage:
            data = self.cache.get(key)
            cached = caching.load_search(data) if data is not None else None
            stage.detail = {"hit": cached is not None}
        self.on_event("cache", "hit" if cached else "miss", 1)
        if cached is None or cached.retrieval != snapshot(request):
            return None
        documents = {hit.document_id for hit in cached.hits}
        request.trace.saw(documents)
        if not documents:
            self.story.require_visible(request)
        if self.story.allowed(request, documents) != documents:
            return None
        return replace(cached, trace_id=request.trace.trace_id)

    def _result(self, request: Request, hits: tuple[Any, ...]) -> SearchResult:
        return SearchResult(
            hits=hits,
            retrieval=snapshot(request),
            degraded=tuple(request.trace.degraded),
            trace_id=request.trace.trace_id,
            engine=self.story.engine.name,
            profile=request.profile.identity,
        )

    def _key(self, request: Request, kind: str) -> str:
        return caching.cache_key(
            self.story.engine.prefix,
            kind,
            generation=request.pin.generation.name,
            profile=request.profile.identity,
            answerer=self.story.answered_by(request.profile),
            rules=bypass_identity(),
            scope_hash=self.scopes.hash_of(request.scope, request.pin.generation, request.epoch),
            epoch=request.epoch,
            question=" ".join(request.analysis.folded.split()),
        )

    def _finish(self, request: Request, outcome: dict[str, Any]) -> None:
        for stage in request.trace.stages:
            self.on_event("stage", stage.stage, stage.ms / 1000)
        for part in request.trace.degraded:
            self.on_event("degraded", part, 1)
        try:
            self.story.engine.traces.save(request.trace.trace_id, request.trace.record(outcome))
        except AttestError:
            # An answer is not withheld because its record could not be kept; the metric tells the operator.
            self.on_event("trace", "lost", 1)
        trace = request.trace
        self.reviews.keep(self.story.engine.reviews, trace.trace_id, trace.header, trace.undecided)
