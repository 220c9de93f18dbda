"""Conflict: two documents that say the same of one subject, with different values or opposite polarity.

Of one subject: neither names something that the other does not, by identifier or by word, and they speak of the same
versions. Six pumps with six flows are no contradiction.

Where two sentences have another name in one place, forms do not tell whether they contradict each other or speak of
two things: neither is left out then, and the difference is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from service.domain.answers import Evidence, Gap
from service.domain.documents import ArchivedDocument
from service.online.answering.units import Unit, units_of, windows_of
from service.text.analysis import analyse, content_terms, coverage, term_weight
from service.text.anchors import find_anchors, is_hard
from service.text.circumstances import another_case
from service.text.clauses import clauses
from service.text.folding import fold
from service.text.numbers import Quantity, entails, find_quantities, normalise
from service.text.polarity import polarity_conflict
from service.text.polarity_tables import EN_NEGATORS, MODALITY, ZH_NEGATORS
from service.text.replaced import all_but_one
from service.text.sentences import sentences

_ABOUT_IT = 0.1  # share of the question's words, by weight, that the sentences must have in common


@dataclass(frozen=True, slots=True)
class Conflict:
    """The two sides: the piece the answer would quote, and the one that contradicts it, or says it of another name."""

    chosen: Unit
    other: Unit
    kind: Literal["value", "polarity", "name"]


def find_conflict(
    chosen: Sequence[Unit], evidence: Sequence[Evidence], terms: Sequence[str], similarity: float
) -> Conflict | None:
    """The first contradiction between a chosen unit and a unit of another document, or None.

    Likeness is the weighted Dice coefficient of the terms, numbers left out, with the other unit or the clause of it
    that is most alike: what it goes on to say makes it speak of nothing else. The other unit must also speak to the
    question no less than half as well as the chosen one.
    """
    for unit in chosen:
        own_terms = _without_numbers(unit.text)
        own_cover = coverage(list(terms), analyse(unit.text))
        for place, other_evidence in enumerate(evidence):
            if other_evidence.document_id == evidence[unit.source].document_id:
                continue
            for other in units_of(place, other_evidence):
                # Its headings count: under "Corporate credit cards" a sentence says "cards".
                if coverage(list(terms), analyse(f"{other.context} {other.text}")) < own_cover / 2:
                    continue
                if _likeness(own_terms, other.text) < similarity:
                    continue
                if not _same_subject(unit, other):
                    continue
                if _values_differ(find_quantities(unit.text), find_quantities(other.text)):
                    return Conflict(unit, other, "value")
                if polarity_conflict(unit.text, other.text):
                    return Conflict(unit, other, "polarity")
    return None


def find_other_name(
    chosen: Sequence[Unit], evidence: Sequence[Evidence], terms: Sequence[str]
) -> Conflict | None:
    """The first piece of another document that has a sentence of a chosen one with something else in one
    place, or None.

    The question must not tell the two apart: what it asks about stands in what the sentences share, and neither
    document is headed by more of it. The other piece is grown to what it cannot be quoted without.
    """
    for unit in chosen:
        least = coverage(list(terms), analyse(unit.text)) / 2
        for place, other_evidence in enumerate(evidence):
            if other_evidence.document_id == evidence[unit.source].document_id:
                continue
            for other in windows_of(place, other_evidence):
                if not _told_apart(terms, unit, other) and _another_name(terms, unit.text, other.text, least):
                    return Conflict(unit, other, "name")
    return None


def _told_apart(terms: Sequence[str], one: Unit, other: Unit) -> bool:
    """Whether what stands above one of the two has a word of the question that the other has nowhere."""
    asked = frozenset(terms)
    own, theirs = asked & frozenset(analyse(one.context)), asked & frozenset(analyse(other.context))
    return not (
        own <= theirs | frozenset(analyse(other.text)) and theirs <= own | frozenset(analyse(one.text))
    )


def _another_name(terms: Sequence[str], one: str, other: str, least: float) -> bool:
    for own in _cut(one):
        for theirs in _cut(other):
            said_by_both = all_but_one(own, theirs)
            if said_by_both is None:
                continue
            shared = frozenset(analyse(said_by_both))
            apart = frozenset((*analyse(own), *analyse(theirs))) - shared
            if apart.isdisjoint(terms) and coverage(list(terms), shared) >= max(least, _ABOUT_IT):
                return True
    return False


def _cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


def conflict_gap(
    conflict: Conflict,
    evidence: Sequence[Evidence],
    terms: Sequence[str],
    archive: Mapping[tuple[str, str], ArchivedDocument],
) -> Gap:
    """Names both sides by document, version and date, without choosing one."""
    sides = [evidence[unit.source] for unit in (conflict.chosen, conflict.other)]
    named = " and ".join(_side(side, archive) for side in sides)
    told = "say it of different names" if conflict.kind == "name" else "disagree"
    return Gap(
        f"Two documents {told}: {named}.",
        tuple(terms),
        "Ask about one of the documents by name, or have their owners settle which one holds.",
        part="conflict",
    )


def _side(side: Evidence, archive: Mapping[tuple[str, str], ArchivedDocument]) -> str:
    document = archive.get((side.document_id, side.document_version))
    dated = f", archived {document.archived_at[:10]}" if document else ""
    return f"{side.document_id} (version {side.document_version[:12]}{dated})"


def _same_subject(one: Unit, other: Unit) -> bool:
    names, versions = _names(one.text), _versions(one)
    others, other_versions = _names(other.text), _versions(other)
    if names and others and names.isdisjoint(others):
        return False
    if versions and other_versions and versions.isdisjoint(other_versions):
        return False
    if another_case(one.text, other.text) or another_case(other.text, one.text):
        return False
    own, theirs = _said_of(one.text), _said_of(other.text)
    apart = own - frozenset(analyse(f"{other.context} {other.text}"))
    their_apart = theirs - frozenset(analyse(f"{one.context} {one.text}"))
    return not apart or not their_apart


def _names(text: str) -> frozenset[str]:
    return frozenset(a.canonical for a in find_anchors(text) if is_hard(a) and a.kind != "version")


def _versions(unit: Unit) -> frozenset[str]:
    own = [a.canonical for a in find_anchors(unit.text) if a.kind == "version"]
    return frozenset(own or [a.canonical for a in find_anchors(unit.context) if a.kind == "version"])


def _said_of(text: str) -> frozenset[str]:
    """What a sentence speaks of: its words without numbers, negations, limits and duties."""
    for quantity in reversed(find_quantities(text)):
        text = f"{text[: quantity.start]} {text[quantity.end :]}"
    folded = fold(text)
    for pattern in (*MODALITY.values(), ZH_NEGATORS, EN_NEGATORS):
        folded = pattern.sub(" ", folded)
    return frozenset(content_terms(folded))


def _without_numbers(text: str) -> frozenset[str]:
    for quantity in reversed(find_quantities(text)):
        text = f"{text[: quantity.start]} {text[quantity.end :]}"
    return frozenset(analyse(text))


def _likeness(own: frozenset[str], other: str) -> float:
    # A clause that is most of it: of a short one among many nothing follows.
    parts = [other, *(other[a:b] for a, b in clauses(other) if 2 * (b - a) >= len(other))]
    return max(_dice(own, _without_numbers(part)) for part in parts)


def _dice(one: frozenset[str], two: frozenset[str]) -> float:
    total = sum(map(term_weight, one)) + sum(map(term_weight, two))
    return 2 * sum(map(term_weight, one & two)) / total if total else 0.0


def _values_differ(one: Sequence[Quantity], two: Sequence[Quantity]) -> bool:
    """Both state quantities of one dimension, and for some dimension no value is shared."""
    dimensions = {normalise(q)[1] for q in one} & {normalise(q)[1] for q in two}
    return any(
        not any(entails(a, b) for a in one if normalise(a)[1] == d for b in two if normalise(b)[1] == d)
        for d in dimensions
    )
