"""A run: every case asked through the online path, its ranking and its answer judged, figures per bucket."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from service.access.policy import principal_of
from service.domain.answers import Citation, GroundedAnswer, Question, SearchResult
from service.evaluation.cases import Case
from service.evaluation.measures import mean, ndcg_at_k, recall_at_k, reciprocal_rank
from service.online.entry import Online
from service.text.folding import fold

DEPTH = 50
LEGS = ("bm25", "anchors", "knn")
CUTS = (1, 5, 10, 50)


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One case judged. `ranked` maps "bm25", "knn", "anchors" and "final" to document ids, best first.

    `says_it`: all required terms are in the answer; `cites_it`: some citation lies in an accepted place;
    `forbidden`: the answer holds a claim that is forbidden.
    """

    case: Case
    ranked: dict[str, tuple[str, ...]]
    answer: GroundedAnswer
    says_it: bool
    cites_it: bool
    forbidden: bool
    seconds: float


@dataclass(slots=True)
class Figures:
    """Figures of one bucket, JSON-ready."""

    cases: int = 0
    ranking: dict[str, dict[str, float]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)


def run(
    online: Online,
    corpus: str,
    cases: Sequence[Case],
    profile: str | None,
    progress: Callable[[str, int, int], None],
) -> list[CaseResult]:
    """Asks every case. A case's own principal asks it, so rights are part of what is measured."""
    results = []
    for number, case in enumerate(cases, 1):
        who = principal_of(
            tenant=case.principal.tenant,
            subject=case.principal.subject,
            groups=list(case.principal.groups),
            labels=list(case.principal.labels),
            roles=["reader"],
        )
        question = Question(case.case_id, case.query, corpus, case.corpus_version, profile)
        ranking = online.search(question, who, DEPTH)
        started = time.perf_counter()
        answer = online.answer(question, who)
        results.append(_judge(case, ranking, answer, time.perf_counter() - started))
        progress("eval", number, len(cases))
    return results


def _judge(case: Case, ranking: SearchResult, answer: GroundedAnswer, seconds: float) -> CaseResult:
    ranked = {"final": _documents(hit.document_id for hit in ranking.hits)}
    for leg in LEGS:
        found = sorted((hit for hit in ranking.hits if leg in hit.legs), key=lambda hit: hit.legs[leg])
        ranked[leg] = _documents(hit.document_id for hit in found)
    said = fold(answer.answer or "")
    citations = [citation for claim in answer.claims for citation in claim.citations]
    return CaseResult(
        case=case,
        ranked=ranked,
        answer=answer,
        says_it=answer.status == "answered"
        and all(fold(term) in said for claim in case.required_claims for term in claim.required_terms),
        cites_it=any(_accepted(case, citation) for citation in citations),
        forbidden=any(fold(claim) in said for claim in case.forbidden_claims),
        seconds=seconds,
    )


def _documents(ids: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ids))


def _accepted(case: Case, citation: Citation) -> bool:
    return any(
        citation.document_id in claim.accepted_document_ids
        or citation.chunk_id in claim.accepted_chunk_ids
        or any(
            span.document_id == citation.document_id
            and citation.span.start < span.end
            and span.start < citation.span.end
            for span in claim.accepted_spans
        )
        for claim in case.required_claims
    )


def figures(results: Sequence[CaseResult]) -> dict[str, Figures]:
    """Of all together, and per bucket where there is more than one."""
    buckets: dict[str, list[CaseResult]] = defaultdict(list)
    for result in results:
        buckets[result.case.bucket].append(result)
    told = {"all": _figures(results)} if results else {}
    return told | ({name: _figures(own) for name, own in buckets.items()} if len(buckets) > 1 else {})


def _figures(results: Sequence[CaseResult]) -> Figures:
    gold = [(r, r.case.gold_documents()) for r in results if r.case.gold_documents()]
    ranking = {}
    for stage in (*LEGS, "final"):
        if gold:
            lists = [(r.ranked.get(stage, ()), relevant) for r, relevant in gold]
            ranking[stage] = {
                **{f"recall@{k}": round(mean([recall_at_k(g, ids, k) for ids, g in lists]), 4) for k in CUTS},
                "mrr@10": round(mean([reciprocal_rank(g, ids, 10) for ids, g in lists]), 4),
                "ndcg@10": round(mean([ndcg_at_k(g, ids, 10) for ids, g in lists]), 4),
            }
    return Figures(len(results), ranking, _answers(results))


def _answers(results: Sequence[CaseResult]) -> dict[str, Any]:
    answerable = [r for r in results if r.case.answerability == "answerable"]
    unanswerable = [r for r in results if r.case.answerability == "unanswerable"]
    seconds = sorted(r.seconds for r in results)

    def share(members: Sequence[CaseResult], holds: Callable[[CaseResult], bool]) -> float | None:
        return round(sum(map(holds, members)) / len(members), 4) if members else None

    return {
        "refusalMatrix": {
            "shouldAnswer": _matrix(answerable),
            "shouldRefuse": _matrix(unanswerable),
        },
        "answered": share(answerable, lambda r: r.answer.status == "answered"),
        "saysIt": share(answerable, lambda r: r.says_it),
        "citesIt": share(answerable, lambda r: r.cites_it),
        "saysAndCitesIt": share(answerable, lambda r: r.says_it and r.cites_it),
        "refusedRightly": share(unanswerable, lambda r: r.answer.status == "no_answer"),
        "reasonAsExpected": share(
            [r for r in unanswerable if r.case.expected_no_answer_reason],
            lambda r: r.answer.reason == r.case.expected_no_answer_reason,
        ),
        "forbiddenSaid": sum(r.forbidden for r in results),
        "p50Ms": round(seconds[len(seconds) // 2] * 1000, 1) if seconds else None,
        "p95Ms": round(seconds[int(len(seconds) * 0.95)] * 1000, 1) if seconds else None,
    }


def _matrix(results: Sequence[CaseResult]) -> dict[str, int]:
    return dict(sorted(Counter(str(r.answer.reason or "ANSWERED") for r in results).items()))
