"""THE ONLINE STORY: from a pinned request to a proven answer or an honest refusal. Read it top to bottom.

    rank:    legs → relevance floor → fusion → rights → collapse → cosines → token vectors → rerank  (`ranking.py`)
    gather:  choose → join neighbours → follow links → S1..Sn      (`gathering.py`)
    answer:  rules → rank → gate → gather → minimum → derive, write, or read and quote → conflict → verify
             → rights again, or start over

Each step is a room of its own and knows nothing of the others; only these three files know their order.
`entry.py` stands before them: it pins the generation, looks into the cache and keeps the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.domain.answers import Candidate, ClaimFault, Evidence, Gap, GroundedAnswer, Mode, Outcome, Reason
from service.domain.reading import Reading
from service.errors import GenerationFailed
from service.online import evidence, packing, reading
from service.online.answering import conflict as conflicts
from service.online.answering import minimum
from service.online.answering.derived import derive
from service.online.answering.extractive import AnswerRequest, Proposal, beside
from service.online.answering.writing import Terms, Writer
from service.online.citations.verify import Verdict, verify
from service.online.gathering import Gathering
from service.online.question import forbidden
from service.online.ranking import Ranked, Ranking, Request, snapshot
from service.profiles.ranking import RankingProfile
from service.profiles.rules import compile_rules
from service.text.derivations import asked_derivation
from service.text.language import language

_AFTER_THE_MODEL_S = 1.5  # of the deadline, kept from a model: for verification, or for quotes in its place


@dataclass(frozen=True, slots=True)
class Story(Ranking):
    """The online path with the parts it works with, put together by bootstrap: ranking, and then answering."""

    load_reader: Callable[[RankingProfile], reading.Read | None]
    answerer: Callable[[AnswerRequest], Proposal]
    writer: Writer | None
    count_tokens: Callable[[str], int]

    def answer(self, request: Request) -> Outcome:
        """An answer whose every claim is proven, or a no-answer that says which condition failed."""
        refused = self._rules(request)
        if refused is not None:
            return Outcome(self.no_answer(request, refused))

        ranked = self.rank(request)
        outcome = self._decide(request, ranked)
        if not self.still_allowed(request, outcome.documents):
            # A revocation came in while we worked: start over, since a refusal may speak of its documents as well as
            # an answer. Each round needs another revocation, and the deadline bounds them all.
            return self.answer(request)
        return outcome

    def _decide(self, request: Request, ranked: Ranked) -> Outcome:
        """What is answered, with every document that had a part in it."""
        usable, decision = self._gate(request, ranked)
        if decision.reason is not None:
            return Outcome(self.no_answer(request, decision.reason, decision.gap), ranked.documents)

        packed, linked = self._pack(request, usable, ranked)
        return Outcome(self._from(request, packed, ranked), ranked.documents | linked)

    def _from(self, request: Request, packed: tuple[Evidence, ...], ranked: Ranked) -> GroundedAnswer:
        """What the packed evidence answers, proven, or why it does not."""
        asked = self._asked(request, packed, ranked)
        gap = self._minimum(request, minimum.lacking(asked))
        if gap is not None:
            return self.no_answer(request, Reason.EVIDENCE_BELOW_THRESHOLD, gap)

        derived = self._derive(request, packed)
        if isinstance(derived, Gap):
            return self.no_answer(request, Reason.EVIDENCE_BELOW_THRESHOLD, derived)
        proposal = derived or self._propose(request, asked)
        if proposal.fault is not None:
            return self._unproven(request, proposal.fault, proposal.mode)
        gap = self._minimum(request, minimum.unanswered(asked, proposal))
        if gap is not None:
            return self.no_answer(request, Reason.EVIDENCE_BELOW_THRESHOLD, gap)

        conflict = self._conflict(request, proposal, packed)
        difference = self._told(request, conflict, packed) if conflict else None
        if conflict and conflict.kind != "name":
            return self.no_answer(request, Reason.CONFLICTING_EVIDENCE, difference)
        if conflict:
            proposal = beside(proposal, asked, conflict.other)

        answer = replace(self._answered(request, proposal, packed, ranked), gap=difference)
        verdict = self.verify(request, answer, packed)
        if verdict.fault is not None:
            return self._unproven(request, verdict.fault, proposal.mode)
        return answer

    def answered_by(self, profile: RankingProfile) -> str:
        """Who answers under the profile, and what becomes of what is not proven: part of every cache key."""
        writer = self._writer_of(profile)
        answer = profile.answer
        return f"{writer.identity} {answer.unproven} {answer.model_down}" if writer else "quotes"

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

    def _pack(
        self, request: Request, usable: Sequence[Candidate], ranked: Ranked
    ) -> tuple[tuple[Evidence, ...], frozenset[str]]:
        with request.trace.stage("pack", len(usable)) as stage:
            writer = self._writer_of(request.profile)
            count_tokens = writer.count_tokens if writer else self.count_tokens
            gathering = Gathering(self.engine, count_tokens, self.allowed)
            gathered = gathering.gather(request, usable, ranked.chunks or {})
            stage.went_out, stage.detail = len(gathered.packed.evidence), gathered.detail
        return gathered.packed.evidence, gathered.documents

    def _asked(self, request: Request, packed: tuple[Evidence, ...], ranked: Ranked) -> AnswerRequest:
        analysis = request.analysis
        return AnswerRequest(
            question=analysis.text,
            terms=analysis.terms,
            hard=analysis.hard,
            asks_value=analysis.asks_value,
            vector=ranked.vector,
            evidence=packed,
            settings=request.profile.answering,
            embed=self.embedder.embed_passages,
            kind=analysis.kind,
            sides=analysis.sides,
            conditions=analysis.conditions,
        )

    def _minimum(self, request: Request, gap: Gap | None) -> Gap | None:
        """What evidence of the question's kind lacks, noted in the trace."""
        with request.trace.stage("minimum") as stage:
            stage.detail = {"kind": request.analysis.kind, "lacks": gap.part if gap else None}
        return gap

    def _derive(self, request: Request, packed: tuple[Evidence, ...]) -> Proposal | Gap | None:
        """The calculation that the question asks for, or what it lacks; None where it asks for none."""
        calculation = asked_derivation(request.analysis.text)
        if calculation is None:
            return None
        with request.trace.stage("derive", len(packed)) as stage:
            keys = sorted({(item.document_id, item.document_version) for item in packed})
            archive = self.engine.archive.get_many(keys)
            observed = {key: document.archived_at for key, document in archive.items()}
            derived = derive(calculation, packed, observed)
            stage.went_out = len(derived.claims) if isinstance(derived, Proposal) else 0
            stage.detail = {"rule": calculation.rule, "sides": len(calculation.sides)}
        return derived

    def _propose(self, request: Request, asked: AnswerRequest) -> Proposal:
        """What the profile's answerer says: the language model, or verbatim pieces, also in its place."""
        writer = self._writer_of(request.profile)
        if writer is not None:
            try:
                return self._write(writer, request, asked)
            except GenerationFailed as failed:
                if request.profile.answer.model_down == "refuse":
                    raise
                request.trace.degrade(f"model_{failed.kind}")
        asked = replace(asked, readings=self._read(request, asked))
        with request.trace.stage("answer", len(asked.evidence)) as stage:
            proposal = self.answerer(asked)
            stage.went_out = len(proposal.claims)
            stage.detail = {
                "units": [
                    [f"S{u.source + 1}", u.span.start, u.span.end, round(s, 4)] for u, s in proposal.units
                ]
            }
        return proposal

    def _read(self, request: Request, asked: AnswerRequest) -> tuple[Reading, ...]:
        """What the profile's reader makes of the evidence that is examined for quotes, in its order. It learnt within
        one language: of evidence in another one nothing is read, and so of none, since all of it is compared."""
        main = [item for item in asked.evidence if item.role == "main"]
        examined = main[: asked.settings.examined_evidence]
        with request.trace.stage("read", len(examined)) as stage:
            seconds = request.deadline.left(request.profile.reader.deadline_s)
            texts = [item.text for item in examined]
            same = all(language(text) == request.analysis.language for text in texts)
            read = self.load_reader(request.profile) if same else None
            readings = reading.apply(read, asked.question, texts, seconds, self.executor)
            if readings.fault:
                request.trace.degrade(f"reader_{readings.fault}")
            stage.went_out = len(readings.found)
            told = zip(examined, readings.found, strict=False)
            stage.detail = {"answers": {item.source_id: round(one.answers, 4) for item, one in told}}
        return readings.found

    def _write(self, writer: Writer, request: Request, asked: AnswerRequest) -> Proposal:
        slots = packing.slots_of(request.profile.packing, writer.count_tokens(asked.question))
        terms = Terms(
            unproven=request.profile.answer.unproven,
            evidence_tokens=slots.evidence,
            reply_tokens=slots.output,
            left=lambda: request.deadline.left() - _AFTER_THE_MODEL_S,
        )
        with request.trace.stage("write", len(asked.evidence)) as stage:
            stage.detail = {"model": writer.generator.identity}
            proposal, stage.detail = writer.write(asked, terms)
            stage.went_out = len(proposal.claims)
        request.trace.undecided += proposal.undecided
        return proposal

    def _writer_of(self, profile: RankingProfile) -> Writer | None:
        return self.writer if profile.answer.by == "model" else None

    def _unproven(self, request: Request, fault: ClaimFault, mode: Mode) -> GroundedAnswer:
        refused = self.no_answer(request, Reason.CITATION_VALIDATION_FAILED)
        return replace(refused, fault=fault, mode=mode)

    def _conflict(
        self, request: Request, proposal: Proposal, packed: tuple[Evidence, ...]
    ) -> conflicts.Conflict | None:
        with request.trace.stage("conflict", len(proposal.units)) as stage:
            chosen = [unit for unit, _ in proposal.units]
            likeness = request.profile.answering.conflict_similarity
            terms = request.analysis.terms
            conflict = conflicts.find_conflict(chosen, packed, terms, likeness) or conflicts.find_other_name(
                chosen, packed, terms
            )
            stage.detail = {"conflict": conflict.kind if conflict else None}
        return conflict

    def _told(self, request: Request, conflict: conflicts.Conflict, packed: tuple[Evidence, ...]) -> Gap:
        sides = [packed[unit.source] for unit in (conflict.chosen, conflict.other)]
        archive = self.engine.archive.get_many([(s.document_id, s.document_version) for s in sides])
        return conflicts.conflict_gap(conflict, packed, request.analysis.terms, archive)

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
            mode=proposal.mode,
        )
