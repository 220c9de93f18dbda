"""The evidence gate: whether what was found is enough to answer from, and which condition fails where not."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.answers import Candidate, Gap, Reason
from service.domain.retrieval import FoundChunk
from service.profiles.ranking import Gate
from service.text.analysis import analyse, coverage
from service.text.anchors import Anchor, find_anchors
from service.text.folding import fold
from service.text.respelling import respelled


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether the evidence is enough. `features` are what the decision read, for the trace."""

    reason: Reason | None
    gap: Gap | None
    features: dict[str, float] = field(default_factory=dict)


def search_text(chunk: FoundChunk) -> str:
    """Everything a chunk is known by: title, headings, a table's head, and its own text."""
    return "\n".join(
        part for part in (chunk.title, *chunk.heading_path, chunk.search_prefix, chunk.text) if part
    )


def with_anchors(
    candidates: Sequence[Candidate], chunks: Mapping[str, FoundChunk], hard: Sequence[Anchor]
) -> tuple[tuple[Candidate, ...], tuple[Anchor, ...]]:
    """Candidates that hold at least one of the question's hard anchors, and the anchors that nobody holds.

    An identifier must match exactly: a sibling's chunk is no evidence, however near its words are.
    """
    if not hard:
        return tuple(candidates), ()
    held = {c.chunk_id: _held(chunks[c.chunk_id], hard) for c in candidates}
    covered = frozenset().union(*held.values()) if held else frozenset()
    missing = tuple(anchor for anchor in hard if anchor.canonical not in covered)
    return tuple(c for c in candidates if held[c.chunk_id]), missing


def _held(chunk: FoundChunk, hard: Sequence[Anchor]) -> frozenset[str]:
    own = set(chunk.anchors)
    missing = [anchor for anchor in hard if anchor.canonical not in own]
    if missing:
        # The question may show an anchor in a form that the document's context hid from the index.
        text = search_text(chunk)
        own |= {anchor.canonical for anchor in find_anchors(text)}
        folded = fold(text)
        own |= {anchor.canonical for anchor in missing if _stands_alone(fold(anchor.text), folded)}
        own |= {anchor.canonical for anchor in missing if not own.isdisjoint(_spelled_otherwise(anchor))}
    return frozenset(anchor.canonical for anchor in hard if anchor.canonical in own)


def _spelled_otherwise(anchor: Anchor) -> frozenset[str]:
    """tidb-x-y for tidb_x_y: all of its parts, in order, make the other name."""
    terms = respelled(anchor.text)
    most = max(terms.values(), default=0)
    return frozenset(term for term, words in terms.items() if words == most)


def _stands_alone(needle: str, folded: str) -> bool:
    """Whether the needle occurs with no letter or digit glued to it ("8028" is not in "80281")."""
    at = folded.find(needle)
    while at != -1:
        before, after = folded[at - 1 : at], folded[at + len(needle) : at + len(needle) + 1]
        if not (before.isascii() and before.isalnum()) and not (after.isascii() and after.isalnum()):
            return True
        at = folded.find(needle, at + 1)
    return False


def decide(
    candidates: Sequence[Candidate],
    chunks: Mapping[str, FoundChunk],
    terms: Sequence[str],
    language: str,
    missing: Sequence[Anchor],
    gate: Gate,
    failed_legs: frozenset[str],
) -> Decision:
    """Whether the best candidate is evidence enough; the first failing condition names the gap.

    Reads cosine, coverage and token relevance only: none of them moves with documents the caller may not see, as an
    index-wide term statistic would.
    """
    tried = tuple(dict.fromkeys(terms))
    if missing:
        names = tuple(anchor.text for anchor in missing)
        return Decision(
            Reason.EVIDENCE_BELOW_THRESHOLD,
            Gap(
                "No accessible document has an exact match for: " + ", ".join(names),
                tried,
                "Check the spelling of the identifier, or name the product or document it belongs to.",
                names,
                "identifier",
            ),
        )
    if not candidates:
        return Decision(
            Reason.NO_RELEVANT_CANDIDATE,
            Gap(
                "Nothing in the accessible documents is near the question.",
                tried,
                "Use the documents' own words, or choose another corpus.",
                part="candidates",
            ),
        )
    best = candidates[0]
    chunk = chunks[best.chunk_id]
    relevance, tokens = best.features.get("relevance"), best.features.get("token_relevance")
    covered = coverage(list(terms), analyse(search_text(chunk))) if terms else 0.0
    read = {"coverage": covered, "relevance": relevance, "token_relevance": tokens}
    features = {name: round(value, 6) for name, value in read.items() if value is not None}
    if relevance is None:
        passed = covered >= gate.lexical_coverage
    elif "bm25" in failed_legs:
        passed = relevance >= gate.semantic_relevance
    else:
        weights = gate.weights(f"{language}>{chunk.locale[:2]}", tokens is not None)
        logit = weights.bias + weights.cosine * relevance + weights.coverage * covered
        logit += weights.tokens * (tokens or 0.0)
        features["probability"] = round(1 / (1 + math.exp(-logit)), 6)
        passed = features["probability"] >= gate.threshold
    if passed:
        return Decision(None, None, features)
    return Decision(
        Reason.EVIDENCE_BELOW_THRESHOLD,
        Gap(
            "The best passage is not close enough to the question to answer from it.",
            tried,
            "Ask more narrowly, name the product, version or document, or choose another corpus.",
            part="relevance",
        ),
        features,
    )
