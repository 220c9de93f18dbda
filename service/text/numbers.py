"""Quantities in text and whether one supports another: 1,200.00 万元 = 一千二百万元 = 12,000,000 元 ≠ 1200 元.

A digit inside a name (a model, a version, an error code) is not a quantity. Values are exact decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Literal

from service.text.dates import find_dates
from service.text.folding import fold_width
from service.text.identifiers import Identifier, find_identifiers
from service.text.number_grammar import (
    CLOCK,
    DETERMINERS,
    DURATION,
    EN_NUMBER,
    FRACTION,
    INDEFINITE,
    NUMBER,
    ORDINAL,
    PART_OF_HUNDRED,
    RANGE,
    RESTRICTORS,
    ZH_NUMBER,
    english_value,
)
from service.text.numerals import numeral_value
from service.text.units import GLUED, PREFIXES, SCALES, UNITS, Unit, agree, unit_of

QuantityKind = Literal["number", "measure", "percent", "fraction", "ordinal", "date", "time"]

_SMALL_SCALE = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_BINARY_POWER = {"B": 0, "KB": 10, "MB": 20, "GB": 30, "TB": 40, "PB": 50}
# 五六个 is "five or six", not 56.
_SPOKEN_PAIR = re.compile("[一二三四五六七八九两]{2,3}")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A quantity at [start, end) of the text it was found in.

    `value` includes the scale word (1.2 万 is 12000). `unit` is a canonical name from the unit table, or "".
    A date's value is YYYYMMDD with zeros for what is not given; a time's is seconds since midnight.
    `scale` is the scale word's factor; `indefinite` marks 一个 used as an article.
    """

    start: int
    end: int
    text: str
    value: Decimal
    unit: str
    kind: QuantityKind
    scale: int = 1
    indefinite: bool = False


def find_quantities(text: str) -> list[Quantity]:
    """All quantities of `text` in order, never overlapping; dates whole, ranges with the unit on both sides."""
    folded = _fold(text)
    taken = bytearray(len(folded))
    for name in find_identifiers(text):
        taken[name.start : name.end] = b"\x01" * (name.end - name.start)
    kept: list[Quantity] = []
    for found in _candidates(folded, text):
        if found.end > found.start and not any(taken[found.start : found.end]):
            taken[found.start : found.end] = b"\x01" * (found.end - found.start)
            kept.append(found)
    kept.sort(key=lambda quantity: quantity.start)
    return _spread_range_units(folded, kept)


def _fold(text: str) -> str:
    """Width folding that keeps the Chinese comma between ASCII digits: 100，200 are two numbers."""
    folded = fold_width(text)
    if "，" not in text:
        return folded
    return "".join(
        raw if raw == "，" and (text[max(0, i - 1) : i].isascii() or text[i + 1 : i + 2].isascii()) else plain
        for i, (raw, plain) in enumerate(zip(text, folded, strict=True))
    )


def _candidates(text: str, raw: str) -> Iterator[Quantity]:
    """Quantities of each written form, the forms that contain others first."""
    for date in find_dates(text):
        value = (date.year or 0) * 10000 + (date.month or 0) * 100 + (date.day or 0)
        yield Quantity(date.start, date.end, raw[date.start : date.end], Decimal(value), "", "date")
    for match in CLOCK.finditer(text):
        hour, minute, second = (int(part or 0) for part in match.group("hour", "minute", "second"))
        yield _quantity(match, raw, Decimal(hour * 3600 + minute * 60 + second), "", "time")
    for match in PART_OF_HUNDRED.finditer(text):
        part = _value(match.group("number"))
        if part is not None:
            yield _quantity(match, raw, part, "%" if match.group("base") == "百" else "‰", "percent")
    for match in FRACTION.finditer(text):
        above = _value(match.group("numerator_zh") or match.group("numerator"))
        below = _value(match.group("denominator_zh") or match.group("denominator"))
        if above is not None and below:
            yield _quantity(match, raw, above / below, "", "fraction")
    for match in ORDINAL.finditer(text):
        place = _value(match.group("number") or match.group("number_en"))
        # "第一，…" numbers the speaker's points, it says nothing about the subject.
        if place is not None and text[match.end() : match.end() + 1] not in (",", "，", "、", ":"):
            unit = unit_of(match.group("unit") or "")
            yield _quantity(match, raw, place, unit.name if unit else "", "ordinal")
    for match in DURATION.finditer(text):
        seconds = sum(Decimal(part) * UNITS[unit].scale for unit, part in match.groupdict().items() if part)
        yield _quantity(match, raw, Decimal(seconds), "s", "measure")
    for match in NUMBER.finditer(text):
        yield from _arabic(match, raw)
    for match in ZH_NUMBER.finditer(text):
        yield from _chinese(match, text, raw)
    for match in EN_NUMBER.finditer(text):
        value = english_value(match.group("number"), match.group("scales"))
        yield _measured(match, raw, value, _unit_name(match), 1)


def _quantity(match: re.Match[str], raw: str, value: Decimal, unit: str, kind: QuantityKind) -> Quantity:
    return Quantity(match.start(), match.end(), raw[match.start() : match.end()], value, unit, kind)


def _measured(match: re.Match[str], raw: str, value: Decimal, unit: str, scale: int) -> Quantity:
    kind: QuantityKind = "percent" if unit in ("%", "‰") else "measure" if unit else "number"
    return replace(_quantity(match, raw, value * scale, unit, kind), scale=scale)


def _unit_name(match: re.Match[str]) -> str:
    spelled = match.group("unit") or match.group("unit_word")
    if spelled:
        unit = unit_of(spelled)
        return unit.name if unit else ""
    glued = match.group("glued")
    return GLUED[glued] if glued else ""


def _arabic(match: re.Match[str], raw: str) -> Iterator[Quantity]:
    value = _value(match.group("number"))
    if value is None or match.group("rest"):
        return
    unit = _unit_name(match) or PREFIXES.get(match.group("prefix") or "", "")
    small = match.group("scale_k")
    if small and not unit:
        # 64K, 100M, 7B alone: whether bytes or thousands nobody can tell; they equal only themselves.
        yield _measured(match, raw, value, GLUED.get(small, small), 1)
        return
    word = match.group("scale") or match.group("scale_en")
    yield _measured(match, raw, value, unit, SCALES[word] if word else _SMALL_SCALE.get(small or "", 1))


def _chinese(match: re.Match[str], text: str, raw: str) -> Iterator[Quantity]:
    """A Chinese numeral counts with a unit after it, or alone when it is long enough to be nothing else."""
    written = match.group("number")
    value = numeral_value(written)
    unit = _unit_name(match)
    if value is None or _SPOKEN_PAIR.fullmatch(written):
        return
    if len(written) == 1 and (not unit or _is_word(written, unit, match, text)):
        return
    if not unit and len(written) < 4 and not any(char in "十百千万亿拾佰仟萬億点" for char in written):
        return
    before = text[: match.start()]
    if written == "一" and before and before[-1] in DETERMINERS:
        return
    indefinite = written == "一" and unit in INDEFINITE and not RESTRICTORS.search(before[-8:])
    yield replace(_measured(match, raw, value, unit, 1), indefinite=indefinite)


def _is_word(written: str, unit: str, match: re.Match[str], text: str) -> bool:
    """十分 (very), 一点 (a bit), 三月 (March): a numeral and a unit that make another word."""
    spelled = match.group("unit") or ""
    if spelled == "分":
        return written in "十万千百" or text[match.end() : match.end() + 1] in ("之", "别", "为", "成", "布", "开")
    return spelled in ("点", "月", "号", "块", "角") or (spelled == "行" and written == "一")


def _value(written: str | None) -> Decimal | None:
    if not written:
        return None
    if any(char.isascii() and char.isdigit() for char in written):
        return Decimal(written.replace(",", ""))
    return numeral_value(written)


def _spread_range_units(text: str, quantities: list[Quantity]) -> list[Quantity]:
    """In "5-10 万元" the first number has the unit and scale of the second."""
    spread = list(quantities)
    for index in range(len(spread) - 2, -1, -1):
        first, second = spread[index], spread[index + 1]
        if first.kind == "number" and second.unit and first.scale == 1 and RANGE.fullmatch(text[first.end : second.start]):
            spread[index] = replace(
                first, value=first.value * second.scale, unit=second.unit, kind=second.kind, scale=second.scale
            )
    return spread


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
    ) or (agree(source_unit, claim_unit) and source.value * source_unit.scale == claim.value * claim_unit.scale)


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


_CITATION_OR_ENUMERATOR = re.compile(r"[\[【［]\s?\d{1,3}(?:\s?[,，]\s?\d{1,3})*\s?[\]】］]|^\s*[(（]?\d{1,3}[.、)）](?=\s|\D)", re.MULTILINE)
# A table head or a caption gives the unit once for a column of bare numbers: 电流(A), 单位：万元.
_DECLARED_UNIT = re.compile(r"[(（\[]\s?([^()（）\[\]\s\d]{1,8})\s?[)）\]]|(?:单位|[Uu]nits?)\s?[:：]\s?([^\s,，;；)）\]|]{1,8})")


def unsupported_quantities(claim: str, sources: Sequence[str]) -> list[Quantity]:
    """The claim's quantities that no source proves, in order.

    Citation marks ([1]) and list numbers of the claim are not quantities, nor is 一个 used as an article.
    A bare number of a source also counts with each unit the sources declare for a column or a table.
    """
    shown = _CITATION_OR_ENUMERATOR.sub(lambda match: " " * len(match.group()), claim)
    claimed = [quantity for quantity in find_quantities(shown) if not quantity.indefinite]
    if not claimed:
        return []
    proven = [quantity for source in sources for quantity in find_quantities(source)]
    proven += _with_declared_units(proven, sources)
    proven += [_bare_code(name.variants[0]) for source in sources for name in find_identifiers(source) if _is_code(name)]
    return [quantity for quantity in claimed if not any(entails(source, quantity) for source in proven)]


def _with_declared_units(proven: Sequence[Quantity], sources: Sequence[str]) -> list[Quantity]:
    declared = [_scaled_unit(first or second) for source in sources for first, second in _DECLARED_UNIT.findall(source)]
    return [
        replace(quantity, value=quantity.value * scale, unit=unit.name, kind="percent" if unit.name == "%" else "measure")
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


def _is_code(name: Identifier) -> bool:
    return name.kind == "error" and bool(name.variants) and name.variants[0].isdigit()


def _bare_code(number: str) -> Quantity:
    """An error code may be named without its word: "8028" for 错误码 8028."""
    return Quantity(0, 0, number, Decimal(number), "", "number")
