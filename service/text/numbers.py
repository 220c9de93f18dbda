"""Whether one quantity supports another: 1,200.00 万元 = 一千二百万元 = 12,000,000 元 ≠ 1200 元."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal

from service.text.attribution import Stated, about_something_else, stated
from service.text.folding import fold_width
from service.text.identifiers import find_identifiers
from service.text.quantities import Quantity, QuantityKind, find_quantities
from service.text.units import SCALES, UNITS, Unit, agree, unit_of

__all__ = ["Quantity", "QuantityKind", "entails", "find_quantities", "normalise", "unsupported_quantities"]

_BINARY_POWER = {"B": 0, "KB": 10, "MB": 20, "GB": 30, "TB": 40, "PB": 50}


def normalise(quantity: Quantity) -> tuple[Decimal, str, str]:
    """(value in the base unit, dimension, base unit); ("number", "") and the kind itself where there is no unit."""
    unit = UNITS.get(quantity.unit)
    if unit is None or quantity.kind == "ordinal":
        return quantity.value, ("number" if quantity.kind == "measure" else quantity.kind), quantity.unit
    return quantity.value * unit.scale, unit.dimension, unit.base


def entails(source: Quantity, claim: Quantity) -> bool:
    """Whether the source's quantity proves the claim's: equal after scale, in units that can be compared.

    A claim without a unit needs the same number (never a percentage); a count word (3 个) may be added to a
    bare number, a measure may not. A date proves its own year and month. KB and KiB are never mixed.
    """
    if claim.kind == "date" or source.kind == "date":
        return _date_entails(source, claim)
    if {claim.kind, source.kind} == {"fraction", "percent"}:
        return _share(source) == _share(claim)
    special = ("ordinal", "time", "fraction")
    if claim.kind in special or source.kind in special:
        units_agree = not (claim.unit and source.unit) or claim.unit == source.unit
        return claim.kind == source.kind and claim.value == source.value and units_agree
    source_unit, claim_unit = UNITS.get(source.unit), UNITS.get(claim.unit)
    if claim_unit is None or source_unit is None:
        addable = claim_unit is None or claim_unit.dimension.startswith("count-")
        return addable and "percent" not in (source.kind, claim.kind) and source.value == claim.value
    return any(
        left.dimension == right.dimension and source.value * left.scale == claim.value * right.scale
        for left in _readings(source, source_unit)
        for right in _readings(claim, claim_unit)
    ) or (
        agree(source_unit, claim_unit) and source.value * source_unit.scale == claim.value * claim_unit.scale
    )


def _share(quantity: Quantity) -> Decimal:
    """一半, 1/2 and 50 % are one share."""
    return quantity.value / {"%": 100, "‰": 1000}.get(quantity.unit, 1)


def _readings(quantity: Quantity, unit: Unit) -> tuple[Unit, ...]:
    """The unit as spelled, and what else the spelling means in practice."""
    if unit.dimension == "data":
        # Memory sizes are written with decimal prefixes and binary meaning: 1 GB is also 1024 MB.
        return unit, Unit(unit.name, "data-binary", "B", Decimal(2 ** _BINARY_POWER[unit.name]))
    if unit.name == "m" and quantity.text.endswith("m") and quantity.text[-2:-1].isdigit():
        return unit, UNITS["min"]
    return (unit,)


def _date_entails(source: Quantity, claim: Quantity) -> bool:
    if source.kind != "date":
        return False
    have, want = int(source.value), int(claim.value)
    if claim.kind == "number":
        return want >= 1000 and want == have // 10000
    if claim.kind != "date":
        return False
    parts = ((have // 10000, want // 10000), (have // 100 % 100, want // 100 % 100), (have % 100, want % 100))
    return all(wanted in (0, had) for had, wanted in parts)


# Not `params[0]`: a number in brackets behind a name is an index.
_CITATION_OR_ENUMERATOR = re.compile(
    r"(?<![A-Za-z0-9_])[\[【［]\s?\d{1,3}(?:\s?[,，]\s?\d{1,3})*\s?[\]】］]"
    r"|^\s*[(（]?\d{1,3}[.、)）](?=\s|\D)",
    re.MULTILINE,
)
# A table head or a caption gives the unit once for a column of bare numbers: 电流(A), 单位：万元.
_DECLARED_UNIT = re.compile(
    r"[(（\[]\s?([^()（）\[\]\s\d]{1,8})\s?[)）\]]|(?:单位|[Uu]nits?)\s?[:：]\s?([^\s,，;；)）\]|]{1,8})"
)


def unsupported_quantities(claim: str, sources: Sequence[str]) -> list[Quantity]:
    """The claim's quantities that no source proves, in order.

    Citation marks ([1]) and list numbers of the claim are not quantities, nor is 一个 used as an article.
    A bare number of a source also counts with each unit the sources declare for a column or a table. A number
    that the source says about something else proves nothing (see `attribution`).
    """
    shown = _CITATION_OR_ENUMERATOR.sub(lambda match: " " * len(match.group()), claim)
    claimed = [one for one in stated(shown, find_quantities(shown)) if not one.quantity.indefinite]
    if not claimed:
        return []
    by_source = [stated(source, find_quantities(source)) for source in sources]
    unplaced = _with_declared_units([one.quantity for source in by_source for one in source], sources)
    unplaced += _bare_codes(sources)
    return [
        one.quantity
        for one in claimed
        if not any(entails(source, one.quantity) for source in unplaced)
        and not any(_proves(source, one) for source in by_source)
    ]


def _proves(source: Sequence[Stated], claimed: Stated) -> bool:
    return any(
        entails(found.quantity, claimed.quantity) and not about_something_else(claimed, found, source)
        for found in source
    )


def _with_declared_units(proven: Sequence[Quantity], sources: Sequence[str]) -> list[Quantity]:
    declared = [
        _scaled_unit(first or second)
        for source in sources
        for first, second in _DECLARED_UNIT.findall(source)
    ]
    return [
        replace(
            quantity,
            value=quantity.value * scale,
            unit=unit.name,
            kind="percent" if unit.name == "%" else "measure",
        )
        for unit, scale in dict.fromkeys(pair for pair in declared if pair)
        for quantity in proven
        if quantity.kind == "number"
    ]


def _scaled_unit(spelling: str) -> tuple[Unit, int] | None:
    """万元 as (元, 10000)."""
    plain = fold_width(spelling)
    for scale, factor in (("", 1), *SCALES.items()):
        unit = unit_of(plain[len(scale) :]) if plain.startswith(scale) else None
        if unit is not None:
            return unit, factor
    return None


def _bare_codes(sources: Sequence[str]) -> list[Quantity]:
    """An error code may be named without its word: "8028" for 错误码 8028."""
    return [
        Quantity(0, 0, number, Decimal(number), "", "number")
        for source in sources
        for name in find_identifiers(source)
        if name.kind == "error"
        for number in name.variants
        if number.isdecimal()
    ]
