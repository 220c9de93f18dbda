"""Quantities that have a word of their own: twice, half an hour, two thirds of, a dozen; 一半, 半小时, 三年半.

Only where the word surely counts: "once it stopped" is a time and not a number, the first half and 上半年 name parts.
They have to be proven like any number, and are no index terms.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from service.text.number_grammar import EN_NUMBER_WORD, any_of, english_value
from service.text.numerals import NUMERAL, numeral_value
from service.text.units import SCALES, SPELLINGS, unit_of

_SCALES = {"dozen": 12} | {word: SCALES[word] for word in "hundred thousand million billion trillion".split()}
_EN_SCALE = rf"(?P<scale>{'|'.join(_SCALES)})(?![A-Za-z])"
_EN_UNIT = (
    rf"(?P<unit>{any_of([s for s in SPELLINGS if s.isascii() and s.isalpha() and len(s) > 2])})(?![A-Za-z])"
)
_PERIOD = "second|minute|hour|day|night|week|month|quarter|season|term|year|decade|century"
_PARTS = {"half": 2, "quarter": 4} | {
    word: number
    for number, word in enumerate("third fourth fifth sixth seventh eighth ninth tenth".split(), 3)
}
_ABOVE = {"a": 1, "an": 1} | {
    word: number for number, word in enumerate("one two three four five six seven eight nine".split(), 1)
}
# Half of what is measured; half of what is counted is mostly an idiom (半个人).
_ZH_UNIT = any_of(
    "小时 个小时 钟头 个钟头 分钟 秒 秒钟 天 日 周 个星期 个月 年 个世纪 世纪 米 公里 千米 英里 海里 克 千克 公斤"
    " 斤 磅 吨 升 亩 公顷".split()
)

_TIMES = re.compile(
    r"(?<![A-Za-z-])(?:(?P<word>[Tt]wice|[Tt]hrice)(?![A-Za-z-])"
    # "Once a node stops" opens a clause, "once a day" counts.
    r"|(?<!at )(?<!at all )[Oo]nce(?=\s*(?:[.,;:!?)]|$)|\s(?:every|per|each|daily|weekly|monthly|yearly|annually)\b"
    rf"|\san?\s(?:{_PERIOD})\b(?!\s(?:is|was|has|ends|passes|begins))|\sor\stwice\b))"
)
_HALF_A = re.compile(
    rf"(?<![A-Za-z-])[Hh]alf(?:[ -]an? |[ -])(?:{_EN_SCALE}(?: {_EN_UNIT})?|{_EN_UNIT.replace('unit', 'own')})"
)
_AND_A_HALF = re.compile(
    rf"(?<![A-Za-z.,\d-])(?P<number>{EN_NUMBER_WORD}|[Oo]ne|[0-9]{{1,3}}) and a half(?:[ -]{_EN_SCALE})?"
    rf"(?:[ -]{_EN_UNIT})?(?![A-Za-z])"
)
_SHARE = re.compile(
    rf"(?<![A-Za-z-])(?:(?:(?P<above>{'|'.join(_ABOVE)})[ -])(?P<below>{'|'.join(_PARTS)})s? of"
    r"|(?<!first )(?<!second )(?<!latter )(?<!other )(?<!former )half (?:of|the|its|their|his|her|our|as|all)"
    r"|(?<=by )half)(?![A-Za-z-])",
    re.IGNORECASE,
)
_SCALED = re.compile(
    rf"(?<![A-Za-z-])(?:[Aa]n? {_EN_SCALE}|(?P<number>{EN_NUMBER_WORD}|[Oo]ne|[0-9]{{1,3}}) (?P<dozen>dozen))"
    rf"(?![A-Za-z])(?:[ -]{_EN_UNIT})?"
)
# Against half an hour. "A day" is mostly no length of time but a rate, or some day.
_AN_HOUR = re.compile(r"(?<![A-Za-z-])[Aa]n hour(?![A-Za-z])")
_ZH_SHARE = re.compile("一半|(?<![过大])半数")
_ZH_HALF_A = re.compile(rf"(?<![上下前后大小多夜几个年月天倍])半(?P<unit>{_ZH_UNIT})")
_ZH_AND_HALF = re.compile(
    rf"(?P<number>{NUMERAL}|[0-9]{{1,3}})\s?(?:个半(?P<counted>小时|钟头|月|星期|世纪)"
    r"|(?P<unit>个小时|小时|年|天|周|公里|公斤|米|倍|岁)半(?![夜导径岛决数]))"
)


@dataclass(frozen=True, slots=True)
class Worded:
    """A quantity at [start, end) of the text; `unit` is a canonical name or ""."""

    start: int
    end: int
    value: Decimal
    unit: str
    kind: Literal["number", "measure", "fraction"]


def worded_in(text: str) -> Iterator[Worded]:
    """Those of width-folded text; the forms that contain others first."""
    for pattern, read in _FORMS:
        for match in pattern.finditer(text):
            yield read(match)


def _times(match: re.Match[str]) -> Worded:
    word = (match["word"] or "once").lower()
    return Worded(*match.span(), Decimal(("once", "twice", "thrice").index(word) + 1), "次", "measure")


def _half_a(match: re.Match[str]) -> Worded:
    return _measured(
        match, Decimal("0.5") * _SCALES.get(match["scale"] or "", 1), match["own"] or match["unit"]
    )


def _and_a_half(match: re.Match[str]) -> Worded:
    value = (_english(match["number"]) + Decimal("0.5")) * _SCALES.get(match["scale"] or "", 1)
    return _measured(match, value, match["unit"])


def _scaled(match: re.Match[str]) -> Worded:
    value = _english(match["number"]) * 12 if match["dozen"] else Decimal(_SCALES[match["scale"]])
    return _measured(match, value, match["unit"])


def _an_hour(match: re.Match[str]) -> Worded:
    return _measured(match, Decimal(1), "hour")


def _share(match: re.Match[str]) -> Worded:
    if not match["below"]:
        return Worded(*match.span(), Decimal("0.5"), "", "fraction")
    value = Decimal(_ABOVE[match["above"].lower()]) / _PARTS[match["below"].lower()]
    return Worded(*match.span(), value, "", "fraction")


def _zh_half(match: re.Match[str]) -> Worded:
    return Worded(*match.span(), Decimal("0.5"), "", "fraction")


def _zh_half_a(match: re.Match[str]) -> Worded:
    return _measured(match, Decimal("0.5"), match["unit"])


def _zh_and_half(match: re.Match[str]) -> Worded:
    written = match["number"]
    whole = Decimal(written) if written.isascii() else numeral_value(written) or Decimal(0)
    return _measured(match, whole + Decimal("0.5"), match["unit"] or f"个{match['counted']}")


def _english(written: str) -> Decimal:
    if written.isdigit():
        return Decimal(written)
    return Decimal(1) if written.lower() == "one" else english_value(written, "")


def _measured(match: re.Match[str], value: Decimal, spelled: str | None) -> Worded:
    unit = unit_of(spelled) if spelled else None
    return Worded(*match.span(), value, unit.name if unit else "", "measure" if unit else "number")


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Worded]], ...] = (
    (_AND_A_HALF, _and_a_half),
    (_HALF_A, _half_a),
    (_SCALED, _scaled),
    (_AN_HOUR, _an_hour),
    (_SHARE, _share),
    (_TIMES, _times),
    (_ZH_AND_HALF, _zh_and_half),
    (_ZH_SHARE, _zh_half),
    (_ZH_HALF_A, _zh_half_a),
)
