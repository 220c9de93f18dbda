"""Calendar dates as spans with one canonical form, whatever the language they are written in.

Canonical forms are ISO 8601: `2026-04-08`, `2026-04`, `2026`, and `--04-08`, `--04` where no year is given.
A bare number is never a date ("2026" needs its 年); a day must exist in its month.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from service.text.folding import fold_width
from service.text.numerals import DIGITS, numeral_value

_MONTHS = ("january", "february", "march", "april", "may", "june",
           "july", "august", "september", "october", "november", "december")  # fmt: skip
_MONTH_NUMBER = {name: index for index, name in enumerate(_MONTHS, 1)} | {
    name[:3]: index for index, name in enumerate(_MONTHS, 1)
} | {"sept": 9}  # fmt: skip
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)

# "may" and "march" are verbs in lower case; the other months are read in any case.
_EN_MONTH = (
    r"(?P<m>May|MAY|March|MARCH|Mar|MAR|(?i:Jan(?:uary)?|Feb(?:ruary)?|Apr(?:il)?|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?))"
)
_YEAR = r"(?P<y>[12][0-9]{3})"
_MM = r"(?:0?[1-9]|1[0-2])"
_DD = r"[0-3]?[0-9]"
_ZH_MM = "(?:十[一二]?|[一二三四五六七八九])"
_ZH_DD = f"[{DIGITS}十]{{1,3}}"

# (characters one of which the text must hold, form)
_FORMS = (
    # 2026年4月8日, 2026 年 4 月, 2026年, 4月8日, 4月8号, 4月 (a duration is written 4 个月)
    (
        "年",
        re.compile(
            rf"(?<![0-9.]){_YEAR} ?年(?: ?(?P<m>{_MM}) ?月(?:份|底|初|末)?(?: ?(?P<d>{_DD}) ?[日号])?)?"
        ),
    ),
    ("月", re.compile(rf"(?<![0-9.])(?P<m>{_MM}) ?月(?:份| ?(?P<d>{_DD}) ?[日号])?")),
    # 二〇二六年四月八日, 四月八日, 四月份
    ("年", re.compile(f"(?P<y>[一二][{DIGITS}]{{3}})年(?:(?P<m>{_ZH_MM})月份?(?:(?P<d>{_ZH_DD})[日号])?)?")),
    ("月", re.compile(f"(?P<m>{_ZH_MM})月(?:份|(?P<d>{_ZH_DD})[日号])")),
    # 2026-04-08, 2026/4/8, 2026.04.08: the separator must repeat; 2026-04
    (
        "-/.",
        re.compile(
            rf"(?<![A-Za-z0-9_./-]){_YEAR}(?P<s>[-/.])(?P<m>{_MM})(?P=s)(?P<d>0?[1-9]|[12][0-9]|3[01])"
            r"(?![0-9-]|[./][0-9])"
        ),
    ),
    ("-", re.compile(rf"(?<![A-Za-z0-9_./-]){_YEAR}-(?P<m>0[1-9]|1[0-2])(?![A-Za-z0-9_-]|[./][0-9])")),
    # April 8, 2026; April 8th; April 2026
    (
        "abceghilnoprtuvyABCEGHILNOPRTUVY",
        re.compile(
            rf"(?<![A-Za-z]){_EN_MONTH}\.? (?:(?P<d>{_DD})(?:st|nd|rd|th)?(?![0-9A-Za-z:.])(?:,? {_YEAR}(?![0-9A-Za-z]))?"
            r"|(?P<y2>[12][0-9]{3})(?![0-9A-Za-z]))"
        ),
    ),
    # 8 April 2026, 8th of April
    (
        "abceghilnoprtuvyABCEGHILNOPRTUVY",
        re.compile(
            rf"(?<![0-9A-Za-z.])(?P<d>{_DD})(?:st|nd|rd|th)? (?:of )?{_EN_MONTH}(?![A-Za-z])(?:\.?,? {_YEAR}(?![0-9A-Za-z]))?"
        ),
    ),
)


@dataclass(frozen=True, slots=True)
class Date:
    """A date written at [start, end) of the text; absent parts are None."""

    start: int
    end: int
    year: int | None
    month: int | None
    day: int | None

    @property
    def canonical(self) -> str:
        year = f"{self.year:04d}" if self.year is not None else "-"
        parts = (year, *(f"{part:02d}" for part in (self.month, self.day) if part is not None))
        return "-".join(parts)


def find_dates(text: str) -> list[Date]:
    """All dates of `text` in order, the longest form where several start together, never overlapping."""
    return dates_in(fold_width(text))


def dates_in(folded: str) -> list[Date]:
    """`find_dates` of text that is width-folded already."""
    found = sorted(_all(folded), key=lambda date: (date.start, -date.end))
    kept: list[Date] = []
    for date in found:
        if not kept or date.start >= kept[-1].end:
            kept.append(date)
    return kept


def _all(text: str) -> Iterator[Date]:
    for needed, form in _FORMS:
        if not any(character in text for character in needed):
            continue
        for match in form.finditer(text):
            groups = match.groupdict()
            year, month, day = (
                _number(groups.get("y") or groups.get("y2")),
                _number(groups.get("m")),
                _number(groups.get("d")),
            )
            if _exists(month, day):
                yield Date(match.start(), match.end(), year, month, day)


def _number(written: str | None) -> int | None:
    if written is None:
        return None
    if written.isdecimal():
        return int(written)
    named = _MONTH_NUMBER.get(written.lower())
    if named is not None:
        return named
    value = numeral_value(written)
    return None if value is None else int(value)


def _exists(month: int | None, day: int | None) -> bool:
    if month is None:
        return day is None
    return 1 <= month <= 12 and (day is None or 1 <= day <= _LONGEST[month - 1])
