"""The deterministic baseline: score = Σ weight × feature; the weights come from the ranking profile.

Every feature is a pure function of the question and the one candidate, so hidden documents cannot move it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.online.rerank.contract import RerankCandidate, RerankRequest, RerankScore
from service.text.analysis import analyse, coverage
from service.text.circumstances import another_case
from service.text.numbers import entails, find_quantities
from service.text.polarity import polarity_conflict

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
        "same_language": float(bool(request.language) and candidate.locale[:2] == request.language),
        "negation_conflict": float(polarity_conflict(request.question, candidate.text)),
        "another_case": another_case(request.question, f"{candidate.title}\n{headings}\n{candidate.text}"),
    }


def create(weights: Mapping[str, float]) -> FeatureRules:
    """The registry's entry point."""
    return FeatureRules(weights)
