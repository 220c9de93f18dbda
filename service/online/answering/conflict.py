"""Conflict: two documents that say the same of one subject, with different values or opposite polarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.answers import Evidence, Gap
from service.online.answering.units import Unit, units_of
from service.text.analysis import analyse, coverage, term_weight
from service.text.numbers import Quantity, entails, find_quantities, normalise
from service.text.polarity import polarity_conflict


@dataclass(frozen=True, slots=True)
class Conflict:
    """The two sides: the piece the answer would quote, and the one that contradicts it."""

    chosen: Unit
    other: Unit
    kind: str


def find_conflict(
    chosen: Sequence[Unit], evidence: Sequence[Evidence], terms: Sequence[str], similarity: float
) -> Conflict | None:
    """The first contradiction between a chosen unit and a unit of another document, or None.

    Likeness is the weighted Dice coefficient of the terms, numbers left out; the other unit must also speak
    to the question no less than half as well as the chosen one.
    """
    for unit in chosen:
        own_terms = _without_numbers(unit.text)
        own_cover = coverage(list(terms), analyse(unit.text))
        for place, other_evidence in enumerate(evidence):
            if other_evidence.document_id == evidence[unit.source].document_id:
                continue
            for other in units_of(place, other_evidence):
                if coverage(list(terms), analyse(other.text)) < own_cover / 2:
                    continue
                if _dice(own_terms, _without_numbers(other.text)) < similarity:
                    continue
                if _values_differ(find_quantities(unit.text), find_quantities(other.text)):
                    return Conflict(unit, other, "value")
                if polarity_conflict(unit.text, other.text):
                    return Conflict(unit, other, "polarity")
    return None


def conflict_gap(conflict: Conflict, evidence: Sequence[Evidence], terms: Sequence[str]) -> Gap:
    """Names both sides by document and version, without choosing one."""
    sides = [evidence[unit.source] for unit in (conflict.chosen, conflict.other)]
    named = " and ".join(f"{side.document_id} (version {side.document_version[:12]})" for side in sides)
    return Gap(
        f"Two documents disagree: {named}.",
        tuple(terms),
        "Ask about one of the documents by name, or have their owners settle which one holds.",
    )


def _without_numbers(text: str) -> frozenset[str]:
    for quantity in reversed(find_quantities(text)):
        text = f"{text[: quantity.start]} {text[quantity.end :]}"
    return frozenset(analyse(text))


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
