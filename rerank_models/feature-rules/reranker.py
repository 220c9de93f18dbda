"""The deterministic baseline: score = Σ weight × feature; the weights come from the ranking profile.

Every feature is a pure function of the question and the one candidate, so hidden documents cannot move it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from service.online.rerank.contract import RerankCandidate, RerankRequest, RerankScore
from service.text.analysis import analyse, coverage
from service.text.anchors import find_anchors, is_hard
from service.text.circumstances import another_case
from service.text.folding import fold_width
from service.text.numbers import entails, find_quantities
from service.text.polarity import polarity_conflict
from service.text.respelling import respelled

IDENTITY = "feature-rules@2"


class FeatureRules:
    identity = IDENTITY

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._weights = dict(weights)

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        return [self._score(request, candidate) for candidate in request.candidates]

    def _score(self, request: RerankRequest, candidate: RerankCandidate) -> RerankScore:
        contributions = {
            name: self._weights.get(name, 0.0) * value for name, value in features(request, candidate).items()
        }
        return RerankScore(candidate.chunk_id, sum(contributions.values()), contributions)


def features(request: RerankRequest, candidate: RerankCandidate) -> dict[str, float]:
    """Each in [-1, 1], most in [0, 1]:

    cosine: question · chunk, above the baseline of their languages;
    exact_term_overlap: weighted share of question terms in heading or text;
    required_number_match: share of the question's quantities that the text states;
    heading_match, scope_match: share of question terms in the heading path, in the document's title;
    anchor_match: share of the question's anchors the chunk holds exactly (0 when it has none);
    respelled: how many of its words spell one name of the chunk (tidb mem quota query: tidb_mem_quota_query): 1/2 for
    two words, 3/4 for three: the more fall together, the less by chance;
    titled: share of its names that stand in a heading over the text, or how much of one its words spell: what the
    section is about;
    as_written: share of its names (options, codes, identifiers) that stand in the text or a heading sign by sign, in
    whatever case: to who asks for --className, a page that speaks of className comes second;
    same_language: 1 when the document is in the question's language: of two pages that say the same, the reader
    gets the one that speaks as he does;
    negation_conflict: 1 when question and text disagree in polarity;
    another_case: 1 when the passage speaks of another version or of a sibling of what is asked about, half of that
    when of a part of it.
    """
    headings = " ".join(candidate.heading_path)
    asked = find_quantities(request.question)
    stated = find_quantities(candidate.text) if asked else []
    heading_terms = analyse(headings)
    body_terms = analyse(f"{candidate.prefix} {candidate.text}")
    return {
        # Where the kNN leg did not answer nobody has it, and it orders nothing.
        "cosine": candidate.relevance or 0.0,
        "exact_term_overlap": coverage(request.terms, [*heading_terms, *body_terms]),
        "required_number_match": (
            sum(any(entails(s, q) for s in stated) for q in asked) / len(asked) if asked else 0.0
        ),
        "heading_match": coverage(request.terms, heading_terms),
        "scope_match": coverage(request.terms, analyse(candidate.title)),
        "anchor_match": (
            len(request.anchors & candidate.anchors) / len(request.anchors) if request.anchors else 0.0
        ),
        "respelled": _respelled(request.question, candidate.anchors),
        "titled": max(_as_written(request.question, headings), _respelled_in(request.question, headings)),
        "as_written": _as_written(request.question, f"{headings}\n{candidate.prefix}\n{candidate.text}"),
        "same_language": float(bool(request.language) and candidate.locale[:2] == request.language),
        "negation_conflict": float(polarity_conflict(request.question, candidate.text)),
        "another_case": another_case(request.question, f"{candidate.title}\n{headings}\n{candidate.text}"),
    }


def _respelled(question: str, anchors: frozenset[str]) -> float:
    words = [count for term, count in _spellings(question).items() if term in anchors]
    return 1 - 0.5 ** (max(words) - 1) if words else 0.0


def _respelled_in(question: str, headings: str) -> float:
    if not _spellings(question):
        return 0.0
    return _respelled(question, frozenset(anchor.canonical for anchor in find_anchors(headings)))


_spellings = lru_cache(maxsize=256)(respelled)


def _as_written(question: str, text: str) -> float:
    names = _names(question)
    return sum(name.search(text) is not None for name in names) / len(names) if names else 0.0


@lru_cache(maxsize=256)
def _names(question: str) -> tuple[re.Pattern[str], ...]:
    """Each name of the question, standing alone: --all is not in --allow."""
    names = dict.fromkeys(anchor.text for anchor in find_anchors(fold_width(question)) if is_hard(anchor))
    return tuple(
        re.compile(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", re.IGNORECASE) for name in names
    )


def create(weights: Mapping[str, float]) -> FeatureRules:
    """The registry's entry point."""
    return FeatureRules(weights)
