"""Derived answers: a calculation that the question asks for, over values that the evidence states.

The values are quoted first, then calculated by the rules of `text/arithmetic`; nobody's head has a part in it. What is
missing, ambiguous or does not fit together is a gap that says so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from service.domain.answers import Claim, Derivation, Evidence, Gap, Input
from service.domain.documents import Span
from service.online.answering.extractive import Proposal
from service.online.answering.quoting import claim_of
from service.online.answering.units import Unit, units_of
from service.text.analysis import analyse, content_terms, coverage
from service.text.arithmetic import Refusal, calculate
from service.text.clauses import clauses
from service.text.derivations import Asked
from service.text.folding import fold
from service.text.language import HAN
from service.text.numbers import Quantity, entails, find_quantities
from service.text.polarity import negations
from service.text.support_tables import TURNS
from service.text.units import UNITS

_HAN_RUN = re.compile(f"[{HAN}]+")
# After these a Chinese word begins.
_PARTICLES = tuple("的和与及或在对为是有每各该本将把从到由按于则")
_ALL = 0.999  # of a side's words a piece must have
_BOUNDS = frozenset({"at most", "at least", "less", "more", "roughly"})
_REFUSED: dict[Refusal, tuple[str, str]] = {
    "mixed dimensions": ("The values have units that do not fit together.", "Ask for values of one kind."),
    "division by zero": ("The value to divide by is zero.", "Ask for the difference instead."),
    "overflow": ("The result has more digits than are calculated with.", "Ask for a larger unit."),
    "no such unit": ("The unit asked for is not known.", "Name a usual unit."),
    "incomplete date": ("A date lacks its year, month or day.", "Name the year that is meant."),
    "not a number": ("What the evidence states cannot be calculated with.", "Ask for the values themselves."),
}

Observed = Mapping[tuple[str, str], str]


@dataclass(frozen=True, slots=True)
class _Found:
    """A value with the piece that states it; `bounds` are the limits it is stated under."""

    unit: Unit
    quantity: Quantity
    bounds: frozenset[str]


def derive(asked: Asked, evidence: Sequence[Evidence], observed: Observed) -> Proposal | Gap | None:
    """The calculation as a proposal, or what stands against it. `observed` says when each document version was read.

    None where no value can be had and one piece of the evidence speaks of all sides: it may state the result itself.
    """
    pieces = [unit for place, item in enumerate(evidence) for unit in units_of(place, item)]
    inputs: list[_Found] = []
    for side in asked.sides:
        found = _values(side, asked, pieces)
        if len(found) != 1:
            together = len(asked.sides) > 1 and any(_has(" ".join(asked.sides), unit.text) for unit in pieces)
            return None if together and not found else _gap(side, asked, len(found))
        inputs.append(found[0])
    if len({one.bounds for one in inputs}) > 1:
        return _refused(asked, "The values hold under different limits (at most, at least, about).", "")
    if asked.rule in ("difference", "days") and not asked.signed and len(inputs) == 2:
        inputs = _greater_first(inputs)
    rule = asked.rule
    if rule == "days" and not any(one.quantity.kind == "date" for one in inputs):
        asked = replace(asked, rule="difference", unit="d")
        rule = "difference"
    result = calculate(rule, [one.quantity for one in inputs], asked.unit)
    if isinstance(result, str):
        return _refused(asked, *_REFUSED[result])

    stated = {one.unit.span: claim_of(evidence[one.unit.source], one.unit.span) for one in inputs}
    citations = tuple(stated[one.unit.span].citations[0] for one in inputs)
    derivation = Derivation(
        rule,
        asked.unit,
        tuple(
            Input(
                one.quantity.text,
                Span(one.unit.span.start + one.quantity.start, one.unit.span.start + one.quantity.end),
                observed.get((citation.document_id, citation.document_version), ""),
            )
            for one, citation in zip(inputs, citations, strict=True)
        ),
    )
    claim = Claim(result.text, "derived", citations, rule=rule, derivation=derivation)
    marks = "".join(f"[{name}]" for name in dict.fromkeys(citation.source_id for citation in citations))
    lines = [f"{one.text} [{one.citations[0].source_id}]" for one in stated.values()]
    return Proposal(
        "\n".join((*lines, f"{result.text} {marks}")),
        (*stated.values(), claim),
        tuple((one.unit, 1.0) for one in inputs),
    )


def _values(side: str, asked: Asked, pieces: Sequence[Unit]) -> list[_Found]:
    """The different values that the evidence states for a side: one is an answer, more are a question."""
    literal = find_quantities(side)
    if len(literal) == 1 and not content_terms(side[: literal[0].start] + " " + side[literal[0].end :]):
        same = [
            found
            for unit in pieces
            for found in _stated(unit, asked)
            if entails(found.quantity, literal[0])
            and (found.quantity.unit, found.quantity.kind) == (literal[0].unit, literal[0].kind)
        ]
        return same[:1]
    own = [unit for unit in pieces if _has(side, unit.text)]
    for told in (own, [unit for unit in pieces if _has(side, f"{unit.context} {unit.text}")]):
        found = [one for unit in told for one in _narrowed(side, unit, _stated(unit, asked))]
        if found:
            return _different(found)
    return []


def _has(side: str, text: str) -> bool:
    """Whether the text names the side: its Chinese parts as they stand and not as the end of a longer word (产假 is not
    陪产假), the rest by its terms."""
    folded = fold(side)
    parts = [part for run in _HAN_RUN.findall(folded) for part in run.split("的") if part]
    plain = "".join(fold(text).split())
    if not all(any(_opens(plain[: at.start()], parts) for at in re.finditer(part, plain)) for part in parts):
        return False
    terms = content_terms(_HAN_RUN.sub(" ", folded))
    return bool(parts or terms) and (not terms or coverage(list(terms), analyse(text)) >= _ALL)


def _opens(before: str, parts: Sequence[str]) -> bool:
    return not _HAN_RUN.match(before[-1:]) or before.endswith((*_PARTICLES, *parts))


def _stated(unit: Unit, asked: Asked) -> list[_Found]:
    """The values in a piece that the calculation can use; what is denied is not stated."""
    found = []
    for quantity in find_quantities(unit.text):
        clause = _clause(unit, quantity)
        if quantity.indefinite or negations(clause) or not _fits(quantity, asked):
            continue
        folded = fold(clause)
        bounds = frozenset(name for name, pattern in TURNS if name in _BOUNDS and pattern.search(folded))
        found.append(_Found(unit, quantity, bounds))
    return found


def _fits(quantity: Quantity, asked: Asked) -> bool:
    if quantity.kind == "date":
        return asked.rule == "days"
    if quantity.kind not in ("number", "measure", "percent"):
        return False
    wanted = "d" if asked.rule == "days" else asked.unit if asked.rule != "product" else ""
    if not wanted:
        return True
    unit = UNITS.get(quantity.unit)
    return unit is not None and unit.base == UNITS[wanted].base


def _clause(unit: Unit, quantity: Quantity) -> str:
    """What is said together with the quantity: its clause, in a table its cell."""
    if unit.row:
        start = unit.text.rfind("|", 0, quantity.start) + 1
        end = unit.text.find("|", quantity.end)
        return unit.text[start : end if end >= 0 else None]
    for start, end in clauses(unit.text):
        if start <= quantity.start < end:
            return unit.text[start:end]
    return unit.text


def _narrowed(side: str, unit: Unit, found: list[_Found]) -> list[_Found]:
    """Of several values in a piece, those in a clause that names the side. Which column is meant nobody said."""
    if len(found) < 2 or unit.row:
        return found
    return [one for one in found if _has(side, _clause(unit, one.quantity))] or found


def _different(found: Sequence[_Found]) -> list[_Found]:
    kept: list[_Found] = []
    for one in found:
        if not any(
            entails(other.quantity, one.quantity) and entails(one.quantity, other.quantity) for other in kept
        ):
            kept.append(one)
    return kept


def _greater_first(inputs: list[_Found]) -> list[_Found]:
    if inputs[0].quantity.kind == "date":
        return sorted(inputs, key=lambda one: -one.quantity.value)
    signed = calculate("difference", [one.quantity for one in inputs])
    return inputs[::-1] if not isinstance(signed, str) and signed.value < 0 else inputs


def _gap(side: str, asked: Asked, values: int) -> Gap:
    if values:
        return _refused(
            asked, f"The evidence states {values} different values for: {side}", "Say which of them is meant."
        )
    return _refused(
        asked, f"No value in the evidence for: {side}", "Name it in the documents' own words, with its unit."
    )


def _refused(asked: Asked, missing: str, suggestion: str) -> Gap:
    return Gap(missing, asked.sides, suggestion or "Ask for each value by itself.")
