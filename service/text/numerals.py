"""Chinese numerals as values: 一千二百 → 1200, 三万五 → 35000, 二〇二六 → 2026, 三点一四 → 3.14."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import lru_cache

_DIGIT = {
    "零": 0, "〇": 0, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9,
    "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5, "陆": 6, "柒": 7, "捌": 8, "玖": 9,
    "貳": 2, "參": 3, "陸": 6, "两": 2, "兩": 2,
}  # fmt: skip
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

DIGITS = "".join(_DIGIT)
UNITS = "".join((*_SMALL, *_LARGE))
# A numeral starts with a digit or with 十 (十二). 百, 千, 万 alone open words (百度, 千万别, 万一), not numbers.
NUMERAL = rf"[{DIGITS}十拾][{DIGITS}{UNITS}]*(?:点[{DIGITS}]+)?[{''.join(_LARGE)}]*"

_SEQUENCE = re.compile(f"[{DIGITS}]+")


@lru_cache(maxsize=4096)
def numeral_value(text: str) -> Decimal | None:
    """The value of a Chinese numeral, or None where the characters are not one (五百千, 百, 三点).

    Units fall within each group of four digits; a last digit straight after a unit takes the next lower
    unit (三万五 = 35000, 两百五 = 250), as it is spoken.
    """
    whole, point, fraction = text.partition("点")
    tail = fraction.rstrip("".join(_LARGE))
    scale = 1
    for char in fraction[len(tail) :]:
        scale *= _LARGE[char]
    if point and not (whole and tail and _SEQUENCE.fullmatch(tail)):
        return None
    value = _digits(whole) if len(whole) > 1 and _SEQUENCE.fullmatch(whole) else _structured(whole)
    if value is None:
        return None
    decimals = "".join(str(_DIGIT[char]) for char in tail)
    return Decimal(f"{value}.{decimals}") * scale if decimals else Decimal(value)


def _digits(text: str) -> int:
    return int("".join(str(_DIGIT[char]) for char in text))


def _structured(text: str) -> int | None:
    """Digits with units. Each large unit closes what stands before it (一亿二千万 = 1e8 + 2000e4)."""
    total, group, digit = 0, 0, None
    last_unit, last_small, was_zero = 1, 10**4, False
    for char in text:
        if char in _DIGIT:
            if digit:
                return None
            digit, was_zero = _DIGIT[char], _DIGIT[char] == 0
        elif char in _SMALL:
            unit = _SMALL[char]
            if unit >= last_small or (not digit and unit != 10):
                return None
            group += (digit or 1) * unit
            digit, last_unit, last_small, was_zero = None, unit, unit, False
        elif char in _LARGE:
            unit = _LARGE[char]
            group += digit or 0
            if group == 0 and total == 0:
                return None
            # 一万亿 is 10^12: a large unit that exceeds the closed sum multiplies all of it.
            total = (total + group) * unit if total < unit else total + group * unit
            group, digit, last_unit, last_small, was_zero = 0, None, unit, 10**4, False
        else:
            return None
    spoken_short = digit is not None and last_unit >= 100 and not was_zero and _follows_unit(text)
    return total + group + (digit or 0) * (last_unit // 10 if spoken_short else 1)


def _follows_unit(text: str) -> bool:
    return len(text) > 1 and text[-2] in UNITS
