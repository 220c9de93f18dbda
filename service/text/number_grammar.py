"""How numbers are written, Chinese and English, as regular expressions over width-folded text."""

from __future__ import annotations

import re
from decimal import Decimal

from service.text.numerals import NUMERAL
from service.text.units import PREFIXES, SCALES, SPELLINGS


def any_of(spellings: list[str]) -> str:
    return "|".join(re.escape(spelling) for spelling in sorted(spellings, key=len, reverse=True))


_ARABIC = r"(?:[0-9]{1,3}(?:,[0-9]{3})+(?![0-9])(?:\.[0-9]+)?|[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+(?![A-Za-z0-9]))?|\.[0-9]+)"
# What stands before a number and makes its digits a part of something longer. The second side of 1920x1080
# is a number of its own.
WITHIN_WORD = re.compile(r"(?:[A-Za-z_]|[0-9]\.|[0-9])$(?<![0-9][xX×])")
_SIGN = r"(?:(?:(?<=[\s(=:<>≥≤~,;|])|(?<=[为是于到至达或下])|^)(?P<sign>[-+]))"

_EN_UNITS = ("two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
             " eighteen nineteen").split()  # fmt: skip
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_EN_SCALES = ("hundred", "thousand", "million", "billion", "trillion")


def _capitalised(words: list[str]) -> str:
    return "|".join((*words, *(word.capitalize() for word in words)))


EN_NUMBER_WORD = (
    rf"(?:{_capitalised(_EN_TENS)})(?:-(?:one|{'|'.join(_EN_UNITS[:8])}))?|{_capitalised(_EN_UNITS[::-1])}"
    rf"|[Oo]ne(?=[ -](?:{'|'.join(_EN_SCALES)}))"
)

# 千 and 百 before a unit of their own (千米, 百分) belong to that unit.
_SCALE = (
    rf"(?:\s?(?P<scale>{any_of([scale for scale in SCALES if not scale.isascii()])})"
    r"(?!分之|分点|[克米瓦伏卡焦赫帕牛](?![\u4e00-\u9fff]{0,1}[数元]))"
    rf"|[ -](?P<scale_en>{'|'.join(_EN_SCALES)}|bn|mn)s?(?![A-Za-z])|(?P<scale_k>[kKMB])(?![A-Za-z0-9]))"
)
_WORDS = [
    spelling for spelling in SPELLINGS if spelling.isascii() and spelling.isalpha() and len(spelling) >= 3
]
_UNIT = (
    rf"(?:\s?(?:多|余|来)?\s?(?P<unit>{any_of(list(SPELLINGS))})(?!(?<=[A-Za-z])[A-Za-z])"
    rf"|[ -](?P<unit_word>(?i:{any_of(_WORDS)}))(?![A-Za-z])|(?P<glued>[kKMGTx×])(?![A-Za-z0-9/]))"
)

# Currency and sign written before a number, at the end of what precedes it.
OPENING = re.compile(rf"(?:(?<![A-Za-z])(?P<prefix>{any_of(list(PREFIXES))}) ?|{_SIGN})$")
# Patterns start with their digits, not with look-behinds: the regex engine then skips ahead to candidates.
NUMBER = re.compile(
    rf"(?P<number>{_ARABIC})(?:{_SCALE})?(?:{_UNIT})?(?P<rest>(?![xX×][0-9])[A-Za-z_]*)", re.MULTILINE
)
ZH_NUMBER = re.compile(rf"(?P<number>{NUMERAL})(?!几)(?:{_UNIT})?")
# Durations as Go, Prometheus and many configuration files write them: 1h30m, 10m0s.
DURATION = re.compile(
    r"(?<![0-9A-Za-z_.])(?=[0-9]+[dhm][0-9])(?:(?P<d>[0-9]+)d)?(?:(?P<h>[0-9]+)h)?(?:(?P<min>[0-9]+)m)?"
    r"(?:(?P<s>[0-9]+(?:\.[0-9]+)?)s)?(?![0-9A-Za-z_])"
)
EN_NUMBER = re.compile(
    rf"(?P<number>{EN_NUMBER_WORD})(?P<scales>(?:[ -](?:{'|'.join(_EN_SCALES)}))*)(?![A-Za-z])(?:{_UNIT})?"
)
PART_OF_HUNDRED = re.compile(rf"(?P<base>[百千])分之(?P<number>{_ARABIC}|{NUMERAL})")
FRACTION = re.compile(
    rf"(?P<denominator_zh>{NUMERAL})分之(?P<numerator_zh>{NUMERAL})|(?<![0-9A-Za-z_./-])(?P<numerator>[0-9]{{1,3}})/(?P<denominator>[0-9]{{1,3}})(?![0-9A-Za-z_/-]|\.[0-9])"
)
ORDINAL = re.compile(
    rf"第\s?(?P<number>[0-9]+|{NUMERAL})(?:\s?(?P<unit>{any_of([s for s in SPELLINGS if not s.isascii()])}))?"
    r"|(?<![0-9A-Za-z_.,-])(?P<number_en>[0-9]+)(?:st|nd|rd|th)(?![A-Za-z0-9])"
)
CLOCK = re.compile(
    r"(?<![0-9A-Za-z_:.])(?P<hour>[01]?[0-9]|2[0-4]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9]))?(?![0-9:])"
)
# 下午三点半: a part of the day before 点 tells a time of day from a point scored; 三点 alone may be either.
_ZH_DIGITS = "零〇一二三四五六七八九十两"
_ZH_HOUR = f"[{_ZH_DIGITS}]{{1,3}}"
DAY_CLOCK = re.compile(
    r"(?P<part>凌晨|清晨|早晨|早上|上午|中午|午后|下午|傍晚|晚上|晚间|深夜|半夜|夜里|[早晚](?!一点(?![半一三])))\s?"
    rf"(?P<hour>[0-9]{{1,2}}|{_ZH_HOUR})\s?[点點时](?!间|长)"
    rf"(?:(?P<half>半)|(?P<quarter>[一三])刻|\s?(?P<minute>[0-5][0-9]|[{_ZH_DIGITS}]{{2,3}}|(?:[0-9]|[{_ZH_DIGITS}])(?=\s?分))(?:\s?分)?)?"
    r"|(?<![0-9A-Za-z_:.])(?P<hour_en>1[0-2]|0?[1-9])(?::(?P<minute_en>[0-5][0-9]))?\s?(?P<half_day>[aApP])(?:\.[mM]\.|[mM](?![A-Za-z0-9]))"
)
AFTERNOON = frozenset(("午后", "下午", "傍晚", "晚上", "晚间", "晚"))
RANGE = re.compile(r"\s?(?:-|~|–|—{1,2}|至|到| to )\s?")

# Before 一: it points (这一次) or belongs to a word (统一, 唯一), it does not count.
DETERMINERS = frozenset("同每某任另这那下上之统唯万其逐单前后进近哪此第")
# Before 一: it does count, in spite of an indefinite classifier (只有一个).
RESTRICTORS = re.compile(
    r"(?:只|仅|就|共|唯|独|至少|最多|至多|超过|不到|不足|多于|少于|达|等于|为|限)(?:有|能|可|可以|允许|支持|需|需要|是|含)?\s?$"
)
# 一个, 一种 and the like are Chinese for "a"; they state a count only after a restrictor.
INDEFINITE = frozenset(
    "个 种 项 条 款 类 份 家 本 张 件 套 座 部 台 组 段 层 步 名 位 篇 支 根 块 门 点 级 把 所 场 轮 批 笔 期 届".split()
)


def english_value(number: str, scales: str) -> Decimal:
    """The value of "two", "forty-two", "three hundred thousand" (number and scale words, any case)."""
    total = 0
    for part in number.lower().split("-"):
        if part == "one":
            total += 1
        elif part in _EN_UNITS:
            total += _EN_UNITS.index(part) + 2
        else:
            total += (_EN_TENS.index(part) + 2) * 10
    for scale in scales.lower().replace("-", " ").split():
        total *= SCALES[scale]
    return Decimal(total)
