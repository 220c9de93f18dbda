"""The teaching corpus' asserted results, through general rules, on a real engine.

Builds the three-document sample corpus, asks, and compares.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from service.access.policy import principal_of
from service.adapters.redis_cache import NoCache
from service.domain.answers import Question
from service.domain.documents import Span
from service.domain.rights import Principal
from service.errors import NotFound
from service.evaluation.experiments import Expectation, expect
from service.evaluation.measures import mean, recall_at_k, reciprocal_rank
from service.offline.story import Offline
from service.online.answering.extractive import AnswerRequest, Proposal, propose
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile, read_corpus_profile

RETRY = "任务自动重试耗尽后怎么办？"
PRICE = "这个系统明年的价格是多少？"
RESTRICTED = "内部恢复开关是做什么用的？"


def run(offline: Offline, online: Online, samples: Path) -> list[Expectation]:
    """All assertions of the lesson, over a corpus built for them; the caller gives an engine of its own."""
    corpus = "lesson"
    profile = read_corpus_profile(samples) or CorpusProfile(name=corpus)
    offline.ingest(corpus, [samples], profile, None, lambda *_: None)
    manifest = offline.build(corpus, lambda *_: None)
    offline.publish(corpus, manifest.generation)
    return [
        *_retry(online, corpus),
        *_out_of_scope(online, corpus),
        *_version(online, corpus),
        *_restricted(online, corpus),
        *_shifted(online, corpus),
        *_measures(),
    ]


def _reader(*labels: str) -> Principal:
    return principal_of(tenant="demo", subject="reader", groups=[], labels=list(labels), roles=["reader"])


def _ask(corpus: str, text: str, version: str = "live") -> Question:
    return Question("lesson", text, corpus, version)


def _retry(online: Online, corpus: str) -> list[Expectation]:
    answer = online.answer(_ask(corpus, RETRY), _reader())
    quotes = "".join(c.quote for claim in answer.claims for c in claim.citations)
    return [
        expect("retry question: status", "answered", answer.status),
        expect("retry question: 三次 inside the cited span", True, "三次" in quotes),
        expect("retry question: 隔离队列 inside the cited span", True, "隔离队列" in quotes),
    ]


def _out_of_scope(online: Online, corpus: str) -> list[Expectation]:
    answer = online.answer(_ask(corpus, PRICE), _reader())
    return [
        expect("price question: reason", "QUESTION_OUT_OF_SCOPE", answer.reason),
        expect("price question: candidates", (), answer.retrieval.candidate_chunk_ids),
        expect("price question: claims", (), answer.claims),
    ]


def _version(online: Online, corpus: str) -> list[Expectation]:
    try:
        answer = online.answer(_ask(corpus, RETRY, "cv000000000000"), _reader())
        seen: object = answer.status
    except NotFound as refused:
        seen = refused.code
    return [expect("a corpusVersion that is not allowed", "NOT_FOUND", seen)]


def _restricted(online: Online, corpus: str) -> list[Expectation]:
    public = online.search(_ask(corpus, RESTRICTED), _reader(), 50)
    permitted = online.search(_ask(corpus, RESTRICTED), _reader("restricted-demo"), 50)
    return [
        expect(
            "restricted document for a public principal",
            0,
            sum(hit.document_id == "restricted-runbook" for hit in public.hits),
        ),
        expect(
            "restricted document for a permitted principal: first",
            "restricted-runbook",
            permitted.hits[0].document_id if permitted.hits else None,
        ),
    ]


def _shifted(online: Online, corpus: str) -> list[Expectation]:
    """The answerer is replaced by one whose first citation starts one code point late, its hash unchanged."""

    def shifted(request: AnswerRequest) -> Proposal:
        proposal = propose(request)
        first = proposal.claims[0]
        citation = first.citations[0]
        moved = replace(citation, span=Span(citation.span.start + 1, citation.span.end))
        return replace(proposal, claims=(replace(first, citations=(moved,)), *proposal.claims[1:]))

    faulty = replace(online, story=replace(online.story, answerer=shifted), cache=NoCache())
    answer = faulty.answer(_ask(corpus, RETRY), _reader())
    return [
        expect("start offset moved by one: status", "no_answer", answer.status),
        expect("start offset moved by one: reason", "CITATION_VALIDATION_FAILED", answer.reason),
        expect("start offset moved by one: claims", (), answer.claims),
    ]


def _measures() -> list[Expectation]:
    ranked = ["retry-policy#1", "retry-policy#2", "cache-policy#1"]
    gold = {"retry-policy#2"}
    first_ranks: list[tuple[set[str], list[str]]] = [({"a"}, ["a"]), ({"b"}, ["x", "b"]), ({"c"}, ["x", "y"])]
    return [
        expect("Recall@2 on its ranked list", 1.0, recall_at_k(gold, ranked, 2)),
        expect("RR on its ranked list", 0.5, reciprocal_rank(gold, ranked)),
        expect("MRR of ranks 1, 2 and none", 0.5, mean([reciprocal_rank(g, r) for g, r in first_ranks])),
        expect("Recall@3 with one of two found", 0.5, recall_at_k({"a", "b"}, ["a", "x", "y"], 3)),
    ]
