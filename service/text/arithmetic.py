"""Arithmetic over quantities as they stand in text: exact, with units, or refused with what stands against it.

Values are fractions until they are written. Units are those of `units`: decimal prefixes for KB and MB as the SI
brochure and IEC 80000-13 define them, binary ones for KiB and MiB.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Literal

from service.text.language import HAN
from service.text.quantities import Quantity, find_quantities
from service.text.units import UNITS, Unit

Rule = Literal["sum", "difference", "product", "ratio", "days", "conversion"]
Refusal = Literal[
    "mixed dimensions", "division by zero", "overflow", "no such unit", "incomplete date", "not a number"
]

_MOST_DIGITS = 30
_ROUNDED = 4  # decimals of a value that has no end
_SIGN = {"sum": "+", "difference": "−", "product": "×", "ratio": "÷", "days": "−"}
# How a result's unit is written where its canonical name is not what people write.
_SPOKEN = {"s": ("秒", "s"), "min": ("分钟", "min"), "h": ("小时", "h"), "d": ("天", "days"), "week": ("周", "weeks"),
           "month": ("个月", "months"), "year": ("年", "years"), "倍": ("倍", "times"), "个": ("个", "items"),
           "pp": ("个百分点", "percentage points"), "次": ("次", "times"),
           "B": ("字节", "bytes"), "字符": ("字符", "characters"), "人": ("人", "people")}  # fmt: skip
_HAN = re.compile(f"[{HAN}]")
_LEVELS = (
    "temperature",
    "temperature-f",
    "temperature-k",
)  # their zero is a convention: sums and ratios say nothing


@dataclass(frozen=True, slots=True)
class Result:
    """`text` is the whole calculation as it is told; `value` is exact, in `unit` ("" for a bare number)."""

    value: Fraction
    unit: str
    text: str


def calculate(rule: Rule, inputs: Sequence[Quantity], unit: str = "") -> Result | Refusal:
    """What the rule makes of the inputs, in `unit` where one is wanted. Differences and days may be negative."""
    if rule == "days":
        return _days(inputs)
    if any(quantity.kind not in ("number", "measure", "percent") for quantity in inputs):
        return "not a number"
    if any(_too_long(Fraction(quantity.value)) for quantity in inputs):
        return "overflow"
    found = _value(rule, inputs, unit)
    if not isinstance(found, tuple):
        return found
    value, result_unit = found
    if _too_long(value):
        return "overflow"
    return _told(rule, inputs, value, result_unit)


def recalculated(rule: Rule, quotes: Sequence[tuple[str, int, int]], unit: str) -> Result | Refusal | None:
    """`calculate` anew from quotes and the [start, end) at which each input stands in its own; None where there is no
    quantity at exactly that place. Places come from a claim, so nothing about them is believed."""
    inputs = []
    for quote, start, end in quotes:
        at = [q for q in find_quantities(quote) if (q.start, q.end) == (start, end)]
        if not at:
            return None
        inputs.append(at[0])
    return calculate(rule, inputs, unit)


def _value(rule: Rule, inputs: Sequence[Quantity], unit: str) -> tuple[Fraction, str] | Refusal:
    if rule == "conversion":
        return _converted(inputs[0], unit)
    if rule == "product":
        return _product(inputs)
    first = inputs[0]
    if any(_base(quantity) != _base(first) for quantity in inputs):
        return "mixed dimensions"
    known = UNITS.get(first.unit)
    level = known is not None and known.dimension in _LEVELS
    if level and rule != "difference":
        return "mixed dimensions"
    values = [_in_base(quantity) for quantity in inputs]
    if rule == "ratio":
        if values[1] == 0:
            return "division by zero"
        return values[0] / values[1], "倍"
    total = sum(values, Fraction(0)) if rule == "sum" else values[0] - values[1]
    if first.kind == "percent" and rule == "difference":
        return total, "pp"
    if known is None:
        return (total, "") if not unit else "mixed dimensions"
    finest = min((UNITS[quantity.unit] for quantity in inputs), key=lambda one: one.scale)
    wanted = UNITS.get(unit, finest if not unit else None)
    if wanted is None:
        return "no such unit"
    if wanted.base != known.base:
        return "mixed dimensions"
    return total / Fraction(wanted.scale), wanted.name


def _product(inputs: Sequence[Quantity]) -> tuple[Fraction, str] | Refusal:
    """How often something, or which part of it: at most one input carries a dimension."""
    measured = [quantity for quantity in inputs if not _is_factor(quantity)]
    if len(measured) > 1:
        return "mixed dimensions"
    value = Fraction(1)
    for quantity in inputs:
        value *= Fraction(quantity.value)
        if quantity.kind == "percent":
            value /= 1000 if quantity.unit == "‰" else 100
    return value, measured[0].unit if measured else ""


def _is_factor(quantity: Quantity) -> bool:
    unit = UNITS.get(quantity.unit)
    return unit is None or quantity.kind == "percent" or unit.dimension.startswith("count-")


def _converted(quantity: Quantity, unit: str) -> tuple[Fraction, str] | Refusal:
    known, wanted = UNITS.get(quantity.unit), UNITS.get(unit)
    if wanted is None:
        return "no such unit"
    if known is None or known.base != wanted.base:
        return "mixed dimensions"
    return Fraction(quantity.value) * Fraction(known.scale) / Fraction(wanted.scale), wanted.name


def _days(inputs: Sequence[Quantity]) -> Result | Refusal:
    days = [_day(quantity) for quantity in inputs]
    if any(day is None for day in days):
        return "incomplete date"
    first, second = (day for day in days if day is not None)
    return _told("days", inputs, Fraction((first - second).days), "d")


def _day(quantity: Quantity) -> date | None:
    written = int(quantity.value)
    try:
        return (
            date(written // 10000, written // 100 % 100, written % 100) if quantity.kind == "date" else None
        )
    except ValueError:
        return None  # Without a year, month or day, or one that never was.


def _base(quantity: Quantity) -> str:
    """What two quantities must share to be added. Decimal and binary sizes do not: 1 GB is often written for 1 GiB."""
    unit = UNITS.get(quantity.unit)
    return f"{unit.dimension} {unit.base}" if unit else quantity.unit


def _in_base(quantity: Quantity) -> Fraction:
    unit: Unit | None = UNITS.get(quantity.unit)
    return Fraction(quantity.value) * (Fraction(unit.scale) if unit else 1)


def _too_long(value: Fraction) -> bool:
    most: int = 10**_MOST_DIGITS
    return abs(value.numerator) >= most or value.denominator >= most


def _told(rule: Rule, inputs: Sequence[Quantity], value: Fraction, unit: str) -> Result:
    """`15 天 + 12 天 = 27 天`; `10 s ÷ 3 s ≈ 3.3333 times`, rounded, for a value without end."""
    told = f" {_SIGN[rule]} ".join(q.text for q in inputs) if rule != "conversion" else inputs[0].text
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    sign, shown = ("=", value) if rest == 1 else ("≈", round(value, _ROUNDED))
    chinese, english = _SPOKEN.get(unit, (unit, unit))
    name = chinese if any(_HAN.search(quantity.text) for quantity in inputs) else english
    return Result(value, unit, f"{told} {sign} {_decimal(shown)}" + (f" {name}" if name else ""))


def _decimal(value: Fraction) -> str:
    """All digits of a value that ends."""
    places = 0
    while (value * 10**places).denominator != 1:
        places += 1
    digits = str(abs(int(value * 10**places))).rjust(places + 1, "0")
    whole, parts = (digits[:-places], digits[-places:]) if places else (digits, "")
    return ("-" if value < 0 else "") + whole + (f".{parts}" if parts else "")
