"""The least that evidence must hold to answer a question of its kind, and the gap where it does not.

Looked at twice: before the answerer, whether every part that is asked about is there at all; after it, whether
what it quotes says what was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from service.domain.answers import Claim, Evidence, Gap
from service.online.answering.extractive import AnswerRequest, Proposal, has_value
from service.text.analysis import analyse, content_terms, coverage
from service.text.circumstances import SIBLING, another_case
from service.text.folding import fold
from service.text.language import language
from service.text.qualifiers import unheld

# Of the words of a comparison's side, the share that some piece must hold.
_SIDE_HELD = 0.6
_SPEAKS_OF_VERSIONS = re.compile(
    r"旧版|老版|早期|历史版本|以前|之前|更早|曾|此前|\bv?\d+\.\d+|\b(?:old|older|earlier|previous|legacy|prior|before|formerly|since)\b"
)
_ASKS_ITSELF = re.compile(r"[?？]\s*$")


def lacking(request: AnswerRequest) -> Gap | None:
    """What is asked about and is in no piece of the evidence: a side, a version, a platform, a narrower subject."""
    evidence = request.evidence
    for side in request.sides if request.kind == "comparison" else ():
        if not any(held(side, item) for item in evidence):
            return _gap(
                request,
                "comparison_side",
                f"Nothing accessible was found for one side of the comparison: {side}",
                "Ask for each side by itself, in the documents' own words.",
            )
    for condition in request.conditions:
        if condition.kind == "platform" and not any(condition.text in fold(_read(item)) for item in evidence):
            return _gap(
                request,
                "condition",
                f"No passage that was found says that it holds for: {condition.text}",
                "Ask without the platform for what holds in general.",
            )
        if condition.kind == "older" and not any(
            _SPEAKS_OF_VERSIONS.search(fold(_read(i))) for i in evidence
        ):
            return _gap(
                request,
                "condition",
                f"No passage that was found speaks of: {condition.text}",
                "Name the version, or ask for what holds now.",
            )
    spoken = language(request.question)
    same = [item for item in evidence if language(item.text) == spoken]
    qualifier = unheld(request.question, {t for item in same for t in analyse(_read(item))}) if same else None
    if qualifier is not None:
        return _gap(
            request,
            "qualifier",
            f"What was found speaks of {qualifier.head} in general, not of: {qualifier.text}",
            "Ask without it for the general rule, or name the document that sets it apart.",
        )
    return None


def unanswered(request: AnswerRequest, proposal: Proposal) -> Gap | None:
    """What the proposed pieces do not say, though there are pieces: nothing at all, no value, only a question."""
    if not proposal.claims:
        part = "value" if request.asks_value else "statement"
        return _gap(
            request,
            part,
            "No sentence or row of the evidence states a value that would answer the question."
            if request.asks_value
            else "No sentence or row of the evidence answers the question.",
            "Name the quantity, unit or version you mean.",
        )
    if all(
        another_case(request.question, _in_context(request, claim)) == SIBLING for claim in proposal.claims
    ):
        return _gap(
            request,
            "condition",
            "What was found speaks of another version or another case than the question.",
            "Ask for what holds in general, or name the document that holds for this case.",
        )
    said = [claim.text for claim in proposal.claims]
    if request.kind == "yes_no" and all(_ASKS_ITSELF.search(text) for text in said):
        return _gap(
            request,
            "polarity",
            "What was found asks the same and says neither yes nor no.",
            "Ask for the rule itself.",
        )
    if request.kind == "value" and not any(has_value(text, request) for text in said):
        return _gap(
            request,
            "value",
            "The passage that answers best states no value.",
            "Name the quantity, unit or version you mean.",
        )
    return None


def held(side: str, item: Evidence) -> bool:
    """Whether the piece speaks of a side of the comparison."""
    terms = content_terms(side) or analyse(side)
    return coverage(terms, analyse(_read(item))) >= _SIDE_HELD


def _read(item: Evidence) -> str:
    return " ".join((item.title, *item.heading_path, item.search_prefix, item.text))


def _in_context(request: AnswerRequest, claim: Claim) -> str:
    """The claim under the titles and headings of what it cites."""
    cited = {citation.source_id for citation in claim.citations}
    heads = [part for e in request.evidence if e.source_id in cited for part in (e.title, *e.heading_path)]
    return "\n".join((*heads, claim.text))


def _gap(request: AnswerRequest, part: str, missing: str, suggestion: str) -> Gap:
    return Gap(missing, _tried(request.terms), suggestion, part=part)


def _tried(terms: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(terms))
