"""Quantities in text: numbers with their units and scales, percentages, fractions, ordinals, dates, times of day.

A digit inside a name (a model, a version, an error code) is not a quantity. Values are exact decimals.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from typing import Literal

from service.text.clauses import clauses
from service.text.dates import Date, dates_in
from service.text.folding import fold_width
from service.text.identifiers import Identifier, identifiers_in
from service.text.number_grammar import (
    AFTERNOON,
    CLOCK,
    DAY_CLOCK,
    DETERMINERS,
    DURATION,
    EN_NUMBER,
    FRACTION,
    INDEFINITE,
    NUMBER,
    OPENING,
    ORDINAL,
    PART_OF_HUNDRED,
    RANGE,
    RESTRICTORS,
    WITHIN_WORD,
    ZH_NUMBER,
    english_value,
)
from service.text.numerals import DIGITS, numeral_value
from service.text.units import GLUED, PREFIXES, SCALES, UNITS, unit_of
from service.text.worded import Worded, worded_in

QuantityKind = Literal["number", "measure", "percent", "fraction", "ordinal", "date", "time"]

_LEFT_OF_WORD = re.compile("[A-Za-z-]")
_DIGIT = re.compile("[0-9]")
_ZH_DIGIT = re.compile(f"[{DIGITS}十]")
_COMMA_LIST = re.compile("(?<=[0-9])，|，(?=[0-9])")
_SMALL_SCALE = {"k": 10**3, "K": 10**3, "M": 10**6, "B": 10**9}
_NIGHT, _EVENING = frozenset(("深夜", "半夜", "夜里")), frozenset(("晚上", "晚间", "晚"))
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
    folded = fold_width(text)
    return quantities_in(folded, text, identifiers_in(folded), dates_in(folded), worded_in(folded))


def quantities_in(
    folded: str,
    text: str,
    names: Sequence[Identifier],
    dates: Sequence[Date],
    worded: Iterable[Worded] = (),
) -> list[Quantity]:
    """`find_quantities` of `text` where its width-folded form, its names and its dates are known already, with those
    of its words for quantities that are given."""
    folded = _keep_chinese_commas(folded, text)
    taken = bytearray(len(folded))
    for name in names:
        taken[name.start : name.end] = b"\x01" * (name.end - name.start)
    kept: list[Quantity] = []
    in_words = (Quantity(w.start, w.end, text[w.start : w.end], w.value, w.unit, w.kind) for w in worded)
    for found in chain(in_words, _candidates(folded, text, dates)):
        if found.end > found.start and not any(taken[found.start : found.end]):
            taken[found.start : found.end] = b"\x01" * (found.end - found.start)
            kept.append(found)
    kept.sort(key=lambda quantity: quantity.start)
    return _spread_range_units(folded, kept)


def _keep_chinese_commas(folded: str, text: str) -> str:
    """100，200 are two numbers: a full-width comma groups thousands only between full-width digits."""
    if not _COMMA_LIST.search(text):
        return folded
    kept, position = [], 0
    for match in _COMMA_LIST.finditer(text):
        kept += [folded[position : match.start()], "，"]
        position = match.end()
    return "".join(kept) + folded[position:]


def _candidates(text: str, raw: str, dates: Sequence[Date]) -> Iterator[Quantity]:
    """Quantities of each written form, the forms that contain others first."""
    for date in dates:
        value = (date.year or 0) * 10000 + (date.month or 0) * 100 + (date.day or 0)
        yield Quantity(date.start, date.end, raw[date.start : date.end], Decimal(value), "", "date")
    for start, end in clauses(text):
        yield from _in_clause(text, raw, start, end)


def _in_clause(text: str, raw: str, start: int, end: int) -> Iterator[Quantity]:
    digits = _DIGIT.search(text, start, end) is not None
    zh_digits = _ZH_DIGIT.search(text, start, end) is not None
    if digits or zh_digits:
        yield from _times_of_day(text, raw, start, end)
    if digits:
        yield from _times(text, raw, start, end)
    if digits or zh_digits:
        yield from _parts(text, raw, start, end)
        yield from _ordinals(text, raw, start, end)
    if digits:
        for match in NUMBER.finditer(text, start, end):
            yield from _arabic(match, text, raw)
    if zh_digits:
        for match in ZH_NUMBER.finditer(text, start, end):
            yield from _chinese(match, text, raw)
    for match in EN_NUMBER.finditer(text, start, end):
        if not _LEFT_OF_WORD.search(text, max(0, match.start() - 1), match.start()):
            value = english_value(match.group("number"), match.group("scales"))
            yield _measured(match, raw, value, _unit_name(match), 1)


def _times_of_day(text: str, raw: str, start: int, end: int) -> Iterator[Quantity]:
    """下午三点半 and 3:30 pm are 15:30."""
    for match in DAY_CLOCK.finditer(text, start, end):
        hour = _value(match.group("hour") or match.group("hour_en"))
        written = match.group("minute") or match.group("minute_en")
        quarter = match.group("quarter")
        minute = _value(written) if written else Decimal(30 if match.group("half") else 0)
        if quarter:
            minute = (_value(quarter) or 0) * Decimal(15)
        if hour is None or minute is None or hour > 24 or minute > 59:
            continue
        part, half_day = match.group("part"), (match.group("half_day") or "").lower()
        if half_day:
            hour = hour % 12 + (12 if half_day == "p" else 0)
        elif hour < 12 and (
            part in AFTERNOON or (part == "中午" and hour < 6) or (part in _NIGHT and hour > 5)
        ):
            hour += 12
        elif hour == 12 and part in _NIGHT | _EVENING:
            hour = Decimal(24)
        yield _quantity(match, raw, hour * 3600 + minute * 60, "", "time")


def _times(text: str, raw: str, start: int, end: int) -> Iterator[Quantity]:
    for match in CLOCK.finditer(text, start, end):
        hour, minute, second = (int(part or 0) for part in match.group("hour", "minute", "second"))
        yield _quantity(match, raw, Decimal(hour * 3600 + minute * 60 + second), "", "time")
    for match in DURATION.finditer(text, start, end):
        seconds = sum(Decimal(part) * UNITS[unit].scale for unit, part in match.groupdict().items() if part)
        yield _quantity(match, raw, Decimal(seconds), "s", "measure")


def _ordinals(text: str, raw: str, start: int, end: int) -> Iterator[Quantity]:
    for match in ORDINAL.finditer(text, start, end):
        place = _value(match.group("number") or match.group("number_en"))
        # "第一，…" numbers the speaker's points, it says nothing about the subject.
        if place is not None and text[match.end() : match.end() + 1] not in (",", "，", "、", ":"):
            unit = unit_of(match.group("unit") or "")
            yield _quantity(match, raw, place, unit.name if unit else "", "ordinal")


def _parts(text: str, raw: str, start: int, end: int) -> Iterator[Quantity]:
    for match in PART_OF_HUNDRED.finditer(text, start, end):
        part = _value(match.group("number"))
        if part is not None:
            yield _quantity(match, raw, part, "%" if match.group("base") == "百" else "‰", "percent")
    for match in FRACTION.finditer(text, start, end):
        above = _value(match.group("numerator_zh") or match.group("numerator"))
        below = _value(match.group("denominator_zh") or match.group("denominator"))
        if above is not None and below:
            yield _quantity(match, raw, above / below, "", "fraction")


def _quantity(match: re.Match[str], raw: str, value: Decimal, unit: str, kind: QuantityKind) -> Quantity:
    return Quantity(match.start(), match.end(), raw[match.start() : match.end()], value, unit, kind)


def _measured(
    match: re.Match[str], raw: str, value: Decimal, unit: str, scale: int, start: int | None = None
) -> Quantity:
    kind: QuantityKind = "percent" if unit in ("%", "‰") else "measure" if unit else "number"
    first = match.start() if start is None else start
    return Quantity(first, match.end(), raw[first : match.end()], value * scale, unit, kind, scale)


def _unit_name(match: re.Match[str]) -> str:
    spelled = match.group("unit") or match.group("unit_word")
    if spelled:
        unit = unit_of(spelled)
        return unit.name if unit else ""
    glued = match.group("glued")
    return GLUED[glued] if glued else ""


def _arabic(match: re.Match[str], text: str, raw: str) -> Iterator[Quantity]:
    value = _value(match.group("number"))
    before = text[max(0, match.start() - 6) : match.start()]
    if value is None or match.group("rest") or WITHIN_WORD.search(before):
        return
    opening = OPENING.search(before)
    prefix = (opening.group("prefix") if opening else None) or ""
    if opening and opening.group("sign") == "-":
        value = -value
    start = match.start() - len(opening.group()) if opening else match.start()
    unit = _unit_name(match) or PREFIXES.get(prefix, "")
    small = match.group("scale_k")
    if small and not unit:
        # 64K, 100M, 7B alone: whether bytes or thousands nobody can tell; they equal only themselves.
        yield _measured(match, raw, value, GLUED.get(small, small), 1, start)
        return
    word = match.group("scale") or match.group("scale_en")
    yield _measured(
        match, raw, value, unit, SCALES[word] if word else _SMALL_SCALE.get(small or "", 1), start
    )


def _chinese(match: re.Match[str], text: str, raw: str) -> Iterator[Quantity]:
    """A Chinese numeral counts with a unit after it, or alone when it is long enough to be nothing else."""
    written = match.group("number")
    value = numeral_value(written)
    unit = _unit_name(match)
    before = text[max(0, match.start() - 8) : match.start()]
    # 几十个, 十几个: an unknown number, which no source can prove.
    if value is None or _SPOKEN_PAIR.fullmatch(written) or before.endswith(("几", "数")):
        return
    if len(written) == 1 and (not unit or _is_word(written, unit, match, text)):
        return
    if not unit and len(written) < 4 and not any(char in "十百千万亿拾佰仟萬億点" for char in written):
        return
    if written == "一" and before and before[-1] in DETERMINERS:
        return
    indefinite = written == "一" and unit in INDEFINITE and not RESTRICTORS.search(before)
    yield replace(_measured(match, raw, value, unit, 1), indefinite=indefinite)


def _is_word(written: str, unit: str, match: re.Match[str], text: str) -> bool:
    """十分 (very), 一点 (a bit), 三月 (March): a numeral and a unit that make another word."""
    spelled = match.group("unit") or ""
    if spelled == "分":
        return written in "十万千百" or text[match.end() : match.end() + 1] in (
            "之",
            "别",
            "为",
            "成",
            "布",
            "开",
        )
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
        if (
            first.kind == "number"
            and second.unit
            and first.scale == 1
            and RANGE.fullmatch(text[first.end : second.start])
        ):
            spread[index] = replace(
                first,
                value=first.value * second.scale,
                unit=second.unit,
                kind=second.kind,
                scale=second.scale,
            )
    return spread
