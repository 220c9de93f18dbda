"""Anchors: what a question names exactly, and what must be found exactly in an answer's source.

Names (models, error codes, options, identifiers, versions, paths, regulation numbers), dates, quantities and
longer bare numbers, each with one canonical index term that all its spellings share.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from service.text.dates import dates_in
from service.text.folding import fold_width
from service.text.identifiers import identifiers_in
from service.text.numbers import normalise
from service.text.patterns import IdentifierKind
from service.text.quantities import Quantity, quantities_in

AnchorKind = IdentifierKind | Literal["date", "quantity", "number"]

# An answer about a sibling is wrong for these. A label has other common names, a quantity other units, a date
# other precisions, an address or URL of the asker's own machine stands in no document.
_HARD: frozenset[AnchorKind] = frozenset(
    {"model", "error", "option", "identifier", "version", "regulation", "path"}
)
# A shorter bare number says too little to be looked for by itself.
_SHORTEST_NUMBER = 3


@dataclass(frozen=True, slots=True)
class Anchor:
    """An anchor written as `text` = source[start:end].

    `canonical` is its index term; `variants` are further terms under which the same thing may be indexed, each
    less specific (an error code's bare number, a file's name without its folders, a standard without its year).
    """

    kind: AnchorKind
    text: str
    start: int
    end: int
    canonical: str
    variants: tuple[str, ...] = ()


def find_anchors(text: str) -> list[Anchor]:
    """All anchors of `text` in order, never overlapping."""
    folded = fold_width(text)
    names, dates = identifiers_in(folded), dates_in(folded)
    found = [
        Anchor(name.kind, text[name.start : name.end], name.start, name.end, name.canonical, name.variants)
        for name in names
    ]
    canonical_dates = {(date.start, date.end): date.canonical for date in dates}
    for quantity in quantities_in(folded, text, names, dates):
        anchor = _of_quantity(quantity, canonical_dates)
        if anchor is not None:
            found.append(anchor)
    return sorted(found, key=lambda anchor: anchor.start)


def _of_quantity(quantity: Quantity, dates: dict[tuple[int, int], str]) -> Anchor | None:
    span = (quantity.text, quantity.start, quantity.end)
    if quantity.kind == "date":
        return Anchor("date", *span, dates[quantity.start, quantity.end])
    if quantity.kind in ("measure", "percent") and not quantity.indefinite:
        value, _, base = normalise(quantity)
        return Anchor("quantity", *span, f"{plain_number(value)}{base.lower()}")
    if quantity.kind == "number":
        number = plain_number(quantity.value)
        if sum(char.isdigit() for char in number) >= _SHORTEST_NUMBER:
            return Anchor("number", *span, number)
    return None


def plain_number(value: Decimal) -> str:
    """Without exponent and trailing zeros: 1,200.00 → "1200", 0.50 → "0.5"."""
    written = f"{value:f}"
    return (written.rstrip("0").rstrip(".") if "." in written else written) or "0"


def is_hard(anchor: Anchor) -> bool:
    """Whether an answer must hold this anchor exactly (names do; quantities, dates and labels do not)."""
    return anchor.kind in _HARD


def anchor_terms(anchor: Anchor) -> tuple[str, ...]:
    """The index terms of an anchor, the most specific first. Finding any of them is finding the anchor."""
    return (anchor.canonical, *anchor.variants)
