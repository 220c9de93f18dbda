"""Ways to make a true claim wrong, and ways to say it differently that leave it true.

A mutator takes a claim's text and gives another, or None where the text has no place for it. Each changes one thing.
`rng` decides which place, so that a run can be repeated.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence

from opencc import OpenCC

from service.text.numbers import Quantity, find_quantities
from service.text.polarity import negations

Mutator = Callable[[str, random.Random], str | None]

_INTEGER = re.compile(r"\d+")
_VERSION = re.compile(r"(?<![\w.])v?\d+\.\d+(?:\.\d+)?(?![\w.])")
_ZH_COUNTED = re.compile(
    r"(?<![\d.,第])(?<!第 )(?<![-+*/×=] )([1-9])(?= ?(?:个|次|天|台|条|种|小时|分钟|秒|名|位))"
)
_ZH_NUMERAL = re.compile(
    r"(?<![一二三四五六七八九十百千万两第几每任同某另这那唯统单进下上])([两二三四五六七八])(?=(?:个|次|天|台|条|种|小时|分钟|秒|名|位|倍|层|类)(?!级|性))"
)
_CHINESE_DIGITS = "零一二三四五六七八九"
# Items of a list with others on both sides: the first and the last may hold a verb or 等.
_ITEM = r"((?:(?![等与和及以的号])[A-Za-z一-鿿]){2,5})"
_LIST = re.compile(rf"(?<=、){_ITEM}、{_ITEM}(?=、)|\b(\w{{3,15}}), (\w{{3,15}}),? and\b")


def _pairs(table: str) -> tuple[tuple[str, str], ...]:
    """ "a>b; c>d" as (("a", "b"), ("c", "d"))."""
    return tuple((said, other) for said, _, other in (pair.partition(">") for pair in table.split("; ")))


# (what is said, what it is turned into); the first that occurs and fits is taken
_LIMITS = _pairs(
    "最多>至少; 至多>至少; 至少>最多; 不超过>不少于; 不少于>不超过; 最大值>最小值; 最小值>最大值; "
    "大于>小于; 小于>大于; 高于>低于; 低于>高于; 上限>下限; 下限>上限; 以上>以下; 以下>以上; 之前>之后; "
    "之后>之前; 增加>减少; 减少>增加; at most>at least; at least>at most; up to>at least; "
    "no more than>no less than; more than>less than; less than>more than; greater than>less than; "
    "maximum>minimum; minimum>maximum; before>after; after>before; above>below; increase>decrease"
)
_DUTIES = _pairs(
    "必须>可以; 不得>可以; 应当>可以; 只能>能; 仅支持>支持; 仅仅>; 仅>; 可以>必须; 只有>; must not>may; "
    "must>may; should>must; may>must; only>; can>must; always>sometimes"
)
_NEGATED = _pairs(
    "支持>不支持; 允许>不允许; 需要>不需要; 可以>不可以; 能够>不能够; 包含>不包含; 会>不会; 使用>不使用; "
    "是>不是; 有>没有; is>is not; are>are not; was>was not; were>were not; can>cannot; will>will not; "
    "should>should not; must>must not; has>has no; supports>does not support"
)
_POSITIVE = dict(
    _pairs(
        "不支持>支持; 无法>可以; 不能>能; 不会>会; 不需要>需要; 无需>需要; 没有>有; 不是>是; 不允许>允许; "
        "不再>仍然; cannot>can; does not>does; do not>do; is not>is; are not>are; not>; never>always; no>; "
        "without>with; 未>已"
    )
)
_CONDITIONS = (
    re.compile(
        r"^(?:如果|若|当|假如|只有|除非|仅当|在[^，。]{2,30}(?:(?<!利)时|情况下|的情况下|之前|之后))[^，。]{1,60}[，,]\s*"
    ),
    re.compile(r"[，,](?:除非|但|除了|只有|前提是|如果|仅当)[^。]{2,60}(?=[。]?$)"),
    re.compile(r"^(?:If|When|Unless|Only if|Provided that|Once|Before|After|Until) [^,]{4,80}, "),
    re.compile(r",? (?:if|unless|only if|provided that|except|when|until) [^,.]{4,80}(?=\.?$)"),
)
_UNITS = _pairs(
    "毫秒>秒; 分钟>小时; 小时>分钟; 秒>分钟; 天>小时; 万元>元; 千米>米; 公里>米; MB>GB; GB>MB; KB>MB; "
    "MiB>GiB; GiB>MiB; KiB>MiB; TB>GB; ms>s; kg>g; km>m; 年>个月; 个月>年; %>‰; 亿>万; 万>亿; "
    "million>billion; billion>million; minutes>hours; hours>minutes; seconds>minutes; days>weeks; "
    "years>months; miles>metres"
)
_WORDED = _pairs(
    "twice>once; once>twice; thrice>twice; half an hour>an hour; half of>a third of; half the>a quarter of the; "
    "two thirds of>a third of; a third of>half of; a quarter of>half of; a dozen>two dozen; a hundred>a thousand; "
    "a million>two million; 一半>三分之一; 半数>四分之一; 半年>一年; 半小时>一小时; 半个月>一个月; 年半>年; "
    "个半小时>个小时; 两次>三次; 一次>两次; 两倍>三倍; 一倍>两倍"
)


def numbers(text: str) -> list[Quantity]:
    """Quantities written in digits; a date is no number to be added to."""
    return [
        q
        for q in find_quantities(text)
        if q.kind in ("number", "measure", "percent") and _INTEGER.search(q.text)
    ]


def one_more(text: str, rng: random.Random) -> str | None:
    return _on_digits(text, rng, lambda digits: str(int(digits) + 1))


def one_less(text: str, rng: random.Random) -> str | None:
    return _on_digits(text, rng, lambda digits: str(int(digits) - 1) if int(digits) else None)


def chinese_one_more(text: str, rng: random.Random) -> str | None:
    """三次 becomes 四次; of numerals only those that surely count."""
    found = list(_ZH_NUMERAL.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    value = "一二三四五六七八".index(match[1].replace("两", "二")) + 1
    return text[: match.start(1)] + _CHINESE_DIGITS[value + 1] + text[match.end(1) :]


def word_for_number_changed(text: str, rng: random.Random) -> str | None:
    """Quantities without digits: twice becomes once, 一半 三分之一."""
    return _first_of(text, _WORDED)


def digit_dropped(text: str, rng: random.Random) -> str | None:
    def drop(digits: str) -> str | None:
        shorter = digits[:-1] if len(digits) > 1 else None
        return shorter if shorter and int(shorter) != int(digits) else None

    return _on_digits(text, rng, drop)


def ten_times(text: str, rng: random.Random) -> str | None:
    return _on_digits(text, rng, lambda digits: digits + "0" if int(digits) else None)


def unit_swapped(text: str, rng: random.Random) -> str | None:
    found = numbers(text)
    rng.shuffle(found)
    for quantity in found:
        for spelled, other in _UNITS if quantity.value else ():  # 0 ms is 0 s
            if quantity.text.endswith(spelled):
                end = quantity.end - len(spelled)
                return text[:end] + other + text[quantity.end :]
    return None


def version_swapped(text: str, rng: random.Random) -> str | None:
    found = list(_VERSION.finditer(text))
    if not found:
        return None
    match = rng.choice(found)
    head, _, last = match.group().rpartition(".")
    return f"{text[: match.start()]}{head}.{int(last) + 1}{text[match.end() :]}"


def negation_added(text: str, rng: random.Random) -> str | None:
    for plain, negated in _NEGATED:
        if plain.isascii():
            plain, negated = f" {plain} ", f" {negated} "
        at = text.find(plain)
        around = text[max(0, at - 2) : at + len(plain) + 1]
        if at >= 0 and not any(sign in around for sign in "不没未无非") and " not" not in text[at : at + 12]:
            if plain == "是" and (
                "还是" in around or "是否" in around or "或是" in around or "但是" in around
            ):
                continue
            if plain in ("会", "有") and not re.search(rf"[将都也就，]{plain}", around):
                continue
            return text[:at] + negated + text[at + len(plain) :]
    return None


def negation_removed(text: str, rng: random.Random) -> str | None:
    found = [n for n in negations(text) if n.text.lower() in _POSITIVE]
    if not found:
        return None
    negation = rng.choice(found)
    return _tidy(text[: negation.start] + _POSITIVE[negation.text.lower()] + text[negation.end :])


def limit_turned(text: str, rng: random.Random) -> str | None:
    return _first_of(text, _LIMITS)


def duty_changed(text: str, rng: random.Random) -> str | None:
    return _first_of(text, _DUTIES)


def condition_dropped(text: str, rng: random.Random) -> str | None:
    for pattern in _CONDITIONS:
        match = pattern.search(text)
        if match and len(text) - len(match.group()) > 12:
            rest = text[: match.start()] + text[match.end() :]
            return rest[0].upper() + rest[1:]
    return None


# ── ways to say the same ────────────────────────────────────────────────────────────────────────────────


def grouped_number(text: str, rng: random.Random) -> str | None:
    """1200 as 1,200 and back."""
    for quantity in numbers(text):
        match = re.fullmatch(r"(\D*)(\d{1,3}(?:,\d{3})+|\d{4,9})(\D*)", quantity.text, re.S)
        if match and not (quantity.kind == "number" and re.fullmatch(r"[12]\d{3}", match[2])):
            written = match[2].replace(",", "") if "," in match[2] else f"{int(match[2]):,}"
            if not match[2].startswith("0"):
                return text[: quantity.start] + match[1] + written + match[3] + text[quantity.end :]
    return None


def chinese_number(text: str, rng: random.Random) -> str | None:
    match = _ZH_COUNTED.search(text)
    return match and text[: match.start()] + _CHINESE_DIGITS[int(match[1])] + text[match.end() :]


def percent_in_words(text: str, rng: random.Random) -> str | None:
    match = re.search(r"(?<![\d.])([1-9]|10)%", text)
    if match is None or not re.search("[一-鿿]", text):
        return None
    value = int(match[1])
    return (
        text[: match.start()]
        + "百分之"
        + ("十" if value == 10 else _CHINESE_DIGITS[value])
        + text[match.end() :]
    )


def full_width(text: str, rng: random.Random) -> str | None:
    wide = "".join(chr(ord(c) + 0xFEE0) if c.isascii() and c.isalnum() else c for c in text)
    return wide if wide != text else None


def traditional(text: str, rng: random.Random) -> str | None:
    converted = OpenCC("s2t").convert(text)
    return converted if converted != text and len(converted) == len(text) else None


def other_case(text: str, rng: random.Random) -> str | None:
    lowered = text[0] + re.sub(r"\b[A-Z][a-z]{2,}\b", lambda m: m.group().lower(), text[1:])
    return lowered if lowered != text else None


def list_reordered(text: str, rng: random.Random) -> str | None:
    match = _LIST.search(text)
    if match is None:
        return None
    first, second = (1, 2) if match[1] else (3, 4)
    if match[first] == match[second]:
        return None
    return (
        text[: match.start(first)] + match[second] + text[match.end(first) : match.start(second)] + match[first]
        + text[match.end(second) :]
    )  # fmt: skip


WRONG: dict[str, Mutator] = {
    "number + 1": one_more,
    "number - 1": one_less,
    "Chinese number + 1": chinese_one_more,
    "word for a number": word_for_number_changed,
    "digit dropped": digit_dropped,
    "unit swapped": unit_swapped,
    "scale x 10": ten_times,
    "version swapped": version_swapped,
    "negation added": negation_added,
    "negation removed": negation_removed,
    "limit turned": limit_turned,
    "duty changed": duty_changed,
    "condition dropped": condition_dropped,
}
HARMLESS: dict[str, Mutator] = {
    "digits grouped": grouped_number,
    "number in Chinese": chinese_number,
    "percent in words": percent_in_words,
    "full width": full_width,
    "traditional": traditional,
    "case": other_case,
    "list order": list_reordered,
}


def _on_digits(text: str, rng: random.Random, change: Callable[[str], str | None]) -> str | None:
    found = numbers(text)
    rng.shuffle(found)
    for quantity in found:
        match = _INTEGER.search(quantity.text)
        written = change(match.group()) if match else None
        if match and written:
            start = quantity.start + match.start()
            return text[:start] + written + text[start + len(match.group()) :]
    return None


def _first_of(text: str, pairs: Sequence[tuple[str, str]]) -> str | None:
    for said, other in pairs:
        if said.isascii():
            match = re.search(rf"\b{said}\b", text)
            if match:
                return _tidy(text[: match.start()] + other + text[match.end() :])
        elif said in text:
            return text.replace(said, other, 1)
    return None


def _tidy(text: str) -> str:
    return re.sub(r"  +", " ", text)
