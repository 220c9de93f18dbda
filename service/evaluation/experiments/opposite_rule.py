"""A rule and its opposite, where the opposite has more of the question's words.

The wrong way, built here and nowhere else, takes the best hit of the words alone and quotes its best sentence: the
citation is in order, and the answer is wrong. The product must quote the right rule, or say that two pages disagree
where both speak of the same thing. Nothing in either path knows a page's id.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from service.access.policy import scope_of
from service.adapters.redis_cache import NoCache
from service.domain.answers import Citation, Question
from service.errors import NotFound
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.opposite_rules import CASES, OTHERS, Case
from service.evaluation.experiments.permission_world import PUBLIC, Page, publish
from service.offline.story import Offline
from service.online import retrieval
from service.online.entry import Online
from service.online.question import analyse
from service.text.analysis import analyse as terms_of
from service.text.analysis import coverage
from service.text.sentences import sentences

CORPUS, ALONE = "opposite-rule", "opposite-rule-alone"


@dataclass(frozen=True, slots=True)
class Seen:
    """Of one case: the words' ranks of the two pages, what the words alone would quote, and the product's way."""

    case: Case
    by_words: dict[str, int]
    words_quote: str
    order: tuple[str, ...]
    status: str
    reason: str
    quotes: tuple[str, ...]
    documents: frozenset[str]

    def to_json(self) -> dict[str, Any]:
        return {
            "case": self.case.name,
            "kind": self.case.kind,
            "rankByWords": {name: self.by_words.get(page.document_id) for name, page in _pair(self.case)},
            "quotedByWords": self.words_quote,
            "productRank": {name: _rank(self.order, page.document_id) for name, page in _pair(self.case)},
            "status": self.status,
            "reason": self.reason,
            "quotes": list(self.quotes),
        }


def run(offline: Offline, online: Online) -> tuple[list[dict[str, Any]], list[Expectation]]:
    """All cases in one corpus; the caller gives an engine of its own. Figures by case, and expectations."""
    pages = {page.document_id: page for case in CASES for page in (case.right, case.opposite)}
    publish(offline, CORPUS, (*pages.values(), *OTHERS))
    asked = [_ask(online, pages | {page.document_id: page for page in OTHERS}, case) for case in CASES]
    told = [one for seen in asked for one in _expectations(seen)]
    publish(offline, ALONE, (*(case.opposite for case in CASES if not case.conflict), *OTHERS))
    told += [_alone(online, case) for case in CASES if case.apart]
    return [seen.to_json() for seen in asked], told


def _alone(online: Online, case: Case) -> Expectation:
    """The opposite is no answer for want of a better one."""
    answer = replace(online, cache=NoCache()).answer(Question(ALONE, case.question, ALONE), PUBLIC)
    said = case.never in (answer.answer or "")
    return expect(f"{case.name}, the opposite alone: is said", False, said)


def _expectations(seen: Seen) -> list[Expectation]:
    case = seen.case
    wrong, right = case.opposite.document_id, case.right.document_id
    told = [expect(f"{case.name}, by words: rank of the opposite rule", 1, seen.by_words.get(wrong))]
    if case.conflict:
        return [
            *told,
            expect(f"{case.name}: reason", "CONFLICTING_EVIDENCE", seen.reason),
            expect(f"{case.name}: quotes", (), seen.quotes),
        ]
    return [
        *told,
        expect(f"{case.name}, by words: quotes the opposite", True, case.never in seen.words_quote),
        expect(f"{case.name}: the right rule stands before its opposite", True, _before(seen.order, right, wrong)),
        expect(f"{case.name}: status", "answered", seen.status),
        expect(f"{case.name}: says {case.says}", True, any(case.says in quote for quote in seen.quotes)),
        expect(f"{case.name}: cites", {right}, seen.documents),
        expect(f"{case.name}: says {case.never}", False, any(case.never in quote for quote in seen.quotes)),
    ]  # fmt: skip


def _ask(online: Online, pages: dict[str, Page], case: Case) -> Seen:
    by_words = _by_words(online, case)
    first = next(name for name, rank in by_words.items() if rank == 1)
    question = Question(CORPUS, case.question, CORPUS)
    uncached = replace(online, cache=NoCache())
    answer = uncached.answer(question, PUBLIC)
    citations: list[Citation] = [citation for claim in answer.claims for citation in claim.citations]
    return Seen(
        case=case,
        by_words=by_words,
        words_quote=_best_sentence(pages[first].text, case.question),
        order=tuple(dict.fromkeys(hit.document_id for hit in uncached.search(question, PUBLIC, 20).hits)),
        status=answer.status,
        reason=answer.reason or "",
        quotes=tuple(citation.quote for citation in citations),
        documents=frozenset(citation.document_id for citation in citations),
    )


# ── the wrong way ───────────────────────────────────────────────────────────────────────────────────────


def _by_words(online: Online, case: Case) -> dict[str, int]:
    """Documents by their rank in the BM25 leg alone."""
    story, profile = online.story, online.load_profile(online.default_profile)
    live = story.engine.retrieval.resolve(CORPUS, "live")
    if live is None:
        raise NotFound
    legs = retrieval.plan(analyse(case.question).terms, (), None, profile.legs)
    [result] = story.engine.retrieval.search(live, legs, scope_of(PUBLIC), online.request_timeout_s)
    documents = dict.fromkeys(hit.chunk.document_id for hit in result.hits)
    return {document: rank for rank, document in enumerate(documents, 1)}


def _best_sentence(text: str, question: str) -> str:
    """The sentence that has most of the question's words."""
    terms = list(analyse(question).terms)
    spans = sentences(text)
    start, end = max(spans, key=lambda span: coverage(terms, terms_of(text[span[0] : span[1]])))
    return text[start:end]


# ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pair(case: Case) -> tuple[tuple[str, Page], tuple[str, Page]]:
    return ("right", case.right), ("opposite", case.opposite)


def _rank(order: tuple[str, ...], document_id: str) -> int | None:
    return order.index(document_id) + 1 if document_id in order else None


def _before(order: tuple[str, ...], right: str, wrong: str) -> bool:
    first, second = _rank(order, right), _rank(order, wrong)
    return first is not None and (second is None or first < second)
