"""A run: every case asked through the online path, its ranking and its answer judged, figures per bucket."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from service.access.policy import principal_of
from service.domain.answers import GroundedAnswer, Question, Reason
from service.domain.rights import Principal
from service.evaluation.cases import Case, RequiredClaim
from service.evaluation.measures import mean, ndcg_at_k, recall_at_k, reciprocal_rank
from service.evaluation.statistics import interval
from service.evaluation.watching import STAGES, Place, orders, watched
from service.online.entry import Online
from service.text.folding import fold

CUTS = (1, 5, 10, 50)
Miss = Literal["should be refused", "answered wrongly", "refused"]
MISSES: tuple[Miss, ...] = get_args(Miss)  # the worst first
# What an answer is worth; each is told with its interval.
ANSWER_MEASURES = (
    "answered",
    "saysIt",
    "citesIt",
    "saysAndCitesIt",
    "claimRecall",
    "citationPrecision",
    "refusedRightly",
    "reasonAsExpected",
    "conflictTold",
)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case judged. `ranked` maps each stage (the legs, "fused", "reranked", "packed", "answered") to document ids,
    best first; `passages` to the rank at which each required claim's accepted place is first reached; `order` is that
    of the chunks as they were reranked.

    `says_it`: all required terms are in the answer; `cites_it`: some citation lies in an accepted place;
    `claims_met`: the share of required claims that are said and cited; `cited_rightly`: of the citations, those in an
    accepted place, None without citations; `forbidden`: the answer holds a claim that is forbidden.
    """

    case: Case
    ranked: dict[str, tuple[str, ...]]
    passages: dict[str, tuple[int | None, ...]]
    order: tuple[Place, ...]
    answer: GroundedAnswer
    says_it: bool
    cites_it: bool
    claims_met: float
    cited_rightly: float | None
    forbidden: bool
    seconds: float


@dataclass(slots=True)
class Figures:
    """Figures of one bucket, JSON-ready. `intervals` bounds means by 95 %, by the measure's name."""

    cases: int = 0
    ranking: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)
    intervals: dict[str, tuple[float, float]] = field(default_factory=dict)


def run(
    online: Online,
    corpus: str,
    cases: Sequence[Case],
    profile: str | None,
    progress: Callable[[str, int, int], None],
) -> list[CaseResult]:
    """Asks every case. A case's own principal asks it, so rights are part of what is measured."""
    results = []
    asked, seen = watched(online)
    for number, case in enumerate(cases, 1):
        who = principal_of(
            tenant=case.principal.tenant,
            subject=case.principal.subject,
            groups=list(case.principal.groups),
            labels=list(case.principal.labels),
            roles=["reader"],
        )
        seen.found = ()
        started = time.perf_counter()
        question = Question(case.case_id, case.query, corpus, case.corpus_version, profile)
        answer = asked.answer(replace(question, conversation_id=_after(asked, question, case, who)), who)
        seconds = time.perf_counter() - started
        trace = online.story.engine.traces.get(answer.trace_id) or {"stages": []}
        results.append(_judge(case, orders(seen.found, trace["stages"], answer), answer, seconds))
        progress("eval", number, len(cases))
    return results


def _after(asked: Online, question: Question, case: Case, who: Principal) -> str | None:
    """The conversation in which the case's earlier turns have been said; None where there are none."""
    conversation = "new" if case.earlier else None
    for text in case.earlier:
        conversation = asked.answer(
            replace(question, text=text, conversation_id=conversation), who
        ).conversation_id
    return conversation


def _judge(
    case: Case, stages: Mapping[str, tuple[Place, ...]], answer: GroundedAnswer, seconds: float
) -> CaseResult:
    said = fold(answer.answer or "")
    cited = stages["answered"]
    right = [any(accepted(claim, place) for claim in case.required_claims) for place in cited]
    met = [
        answer.status == "answered"
        and all(fold(term) in said for term in claim.required_terms)
        and any(accepted(claim, place) for place in cited)
        for claim in case.required_claims
    ]
    return CaseResult(
        case=case,
        ranked={name: _documents(place.document_id for place in order) for name, order in stages.items()},
        passages={
            name: tuple(_first(claim, order) for claim in case.required_claims)
            for name, order in stages.items()
        },
        order=stages["reranked"],
        answer=answer,
        says_it=answer.status == "answered"
        and all(fold(term) in said for claim in case.required_claims for term in claim.required_terms),
        cites_it=any(right),
        claims_met=mean([float(holds) for holds in met]),
        cited_rightly=mean([float(holds) for holds in right]) if right else None,
        forbidden=any(fold(claim) in said for claim in case.forbidden_claims),
        seconds=seconds,
    )


def _documents(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _first(claim: RequiredClaim, order: Sequence[Place]) -> int | None:
    return next((rank for rank, place in enumerate(order, 1) if accepted(claim, place)), None)


def accepted(claim: RequiredClaim, place: Place) -> bool:
    """Whether the claim may be cited from there."""
    return (
        place.document_id in claim.accepted_document_ids
        or place.chunk_id in claim.accepted_chunk_ids
        or any(
            span.document_id == place.document_id
            and place.span.start < span.end
            and span.start < place.span.end
            for span in claim.accepted_spans
        )
    )


def measures_of(result: CaseResult) -> dict[str, float]:
    """What one case says of each measure; absent where it says nothing. A run's figures are the means of these."""
    case, relevant = result.case, result.case.gold_documents()
    told: dict[str, float] = {}
    for stage in STAGES if relevant else ():
        ids, ranks = result.ranked.get(stage, ()), result.passages.get(stage, ())
        reached = [rank for rank in ranks if rank is not None]
        told |= {f"{stage}.recall@{k}": recall_at_k(relevant, ids, k) for k in CUTS}
        told[f"{stage}.mrr@10"] = reciprocal_rank(relevant, ids, 10)
        told[f"{stage}.ndcg@10"] = ndcg_at_k(relevant, ids, 10)
        for k in CUTS:
            within = sum(rank <= k for rank in reached)
            told[f"{stage}.passageRecall@{k}"] = within / len(case.required_claims)
        told[f"{stage}.passageMrr@10"] = 1 / min(reached) if reached and min(reached) <= 10 else 0.0
    answered = result.answer.status == "answered"
    if case.answerability == "answerable":
        told |= {
            "answered": float(answered),
            "saysIt": float(result.says_it),
            "citesIt": float(result.cites_it),
            "saysAndCitesIt": float(result.says_it and result.cites_it),
            "claimRecall": result.claims_met,
        }
        if result.cited_rightly is not None:
            told["citationPrecision"] = result.cited_rightly
    else:
        told["refusedRightly"] = float(not answered)
        if case.expected_no_answer_reason:
            told["reasonAsExpected"] = float(result.answer.reason == case.expected_no_answer_reason)
        if case.expected_no_answer_reason == Reason.CONFLICTING_EVIDENCE:
            told["conflictTold"] = float(_conflict_told(result.answer))
    return told


def _conflict_told(answer: GroundedAnswer) -> bool:
    """Refused for it, or answered with both sides and the difference said."""
    return answer.gap is not None and answer.gap.part == "conflict"


def miss(result: CaseResult) -> Miss | None:
    """How the answer falls short; None where it does not. A refusal for another reason than expected is no miss."""
    answered = result.answer.status == "answered"
    if result.case.answerability == "unanswerable":
        expects_both = result.case.expected_no_answer_reason == Reason.CONFLICTING_EVIDENCE
        told = expects_both and _conflict_told(result.answer)
        return "should be refused" if answered and not told else None
    if result.says_it and result.cites_it and not result.forbidden:
        return None
    return "answered wrongly" if answered else "refused"


def misses(results: Sequence[CaseResult]) -> list[tuple[Miss, CaseResult]]:
    """Cases that fall short, in the order of `MISSES`: an answer that should not be there is worse than none."""
    found = [(kind, result) for result in results if (kind := miss(result))]
    return sorted(found, key=lambda pair: MISSES.index(pair[0]))


def figures(results: Sequence[CaseResult]) -> dict[str, Figures]:
    """Of all together, and per bucket where there is more than one."""
    buckets: dict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        buckets[result.case.bucket].append(result)
    told = {"all": _figures(results)} if results else {}
    if len(buckets) > 1:
        # "all" is all of them, also where some cases name no bucket.
        told |= {name: _figures(own) for name, own in buckets.items() if name != "all"}
    return told


def _figures(results: Sequence[CaseResult]) -> Figures:
    values: dict[str, list[float]] = defaultdict(list)
    for result in results:
        for name, value in measures_of(result).items():
            values[name].append(value)
    ranking: dict[str, dict[str, float]] = defaultdict(dict)
    for name, own in values.items():
        stage, dot, measure = name.partition(".")
        if dot:
            ranking[stage][measure] = round(mean(own), 4)
    intervals = {name: interval(own) for name, own in values.items()}
    return Figures(
        len(results),
        dict(ranking),
        _answers(results, values),
        {name: (round(low, 4), round(high, 4)) for name, (low, high) in intervals.items()},
    )


def _answers(results: Sequence[CaseResult], values: Mapping[str, Sequence[float]]) -> dict[str, Any]:
    seconds = sorted(r.seconds for r in results)
    by_answerability: dict[str, list[CaseResult]] = {"answerable": [], "unanswerable": []}
    for result in results:
        by_answerability[result.case.answerability].append(result)
    return {
        "refusalMatrix": {
            "shouldAnswer": _matrix(by_answerability["answerable"]),
            "shouldRefuse": _matrix(by_answerability["unanswerable"]),
        },
        **{name: round(mean(values[name]), 4) if name in values else None for name in ANSWER_MEASURES},
        "forbiddenSaid": sum(r.forbidden for r in results),
        "degraded": dict(sorted(Counter(part for r in results for part in r.answer.degraded).items())),
        "p50Ms": round(seconds[len(seconds) // 2] * 1000, 1) if seconds else None,
        "p95Ms": round(seconds[int(len(seconds) * 0.95)] * 1000, 1) if seconds else None,
    }


def _matrix(results: Sequence[CaseResult]) -> dict[str, int]:
    return dict(sorted(Counter(_did(r.answer) for r in results).items()))


def _did(answer: GroundedAnswer) -> str:
    if answer.reason is not None:
        return str(answer.reason)
    return "ANSWERED_WITH_BOTH_SIDES" if _conflict_told(answer) else "ANSWERED"
