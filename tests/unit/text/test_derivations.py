"""Calculations: what is asked for, and that the arithmetic is exact or refused."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.arithmetic import Result, calculate, recalculated
from service.text.derivations import Asked, asked_derivation
from service.text.quantities import Quantity, find_quantities
from service.text.units import UNITS


def of(text: str) -> Quantity:
    return find_quantities(text)[0]


@pytest.mark.parametrize(
    ("question", "rule", "sides", "unit"),
    [
        ("年假和病假一共多少天？", "sum", ("年假", "病假"), "d"),
        ("请问年假与病假加起来是多少天", "sum", ("年假", "病假"), "d"),
        ("年假比病假多几天？", "difference", ("年假", "病假"), "d"),
        ("甲机和乙机的价格相差多少元？", "difference", ("甲机", "乙机的价格"), "元"),
        ("X200 的保修期是 X300 的保修期的几倍？", "ratio", ("X200 的保修期", "X300 的保修期"), ""),
        ("2024年3月1日和2024-01-01之间相隔多少天？", "days", ("2024年3月1日", "2024-01-01"), ""),
        ("重试次数乘以重试间隔是多少秒？", "product", ("重试次数", "重试间隔"), "s"),
        ("把缓存上限换算成 MB", "conversion", ("缓存上限",), "MB"),
        ("2 GiB 换算成 MB 是多少？", "conversion", ("2 GiB",), "MB"),
        ("Convert 2 GiB into MB", "conversion", ("2 GiB",), "MB"),
        ("How many days do annual leave and sick leave make in total?", "sum", ("annual leave", "sick leave"), "d"),
        ("How many weeks longer is maternity leave than paternity leave?", "difference",
         ("maternity leave", "paternity leave"), "week"),
        ("By how many hours do plan A and plan B differ?", "difference", ("plan A", "plan B"), "h"),
        ("How many days are there between the release of v6.5 and the end of support?", "days",
         ("release of v6.5", "end of support"), ""),
        ("How many times larger is the big disk than the small disk?", "ratio", ("big disk", "small disk"), ""),
        ("What is the ratio of reads to writes?", "ratio", ("reads", "writes"), ""),
    ],
)  # fmt: skip
def test_what_is_asked_for(question: str, rule: str, sides: tuple[str, ...], unit: str) -> None:
    found = asked_derivation(question)
    assert found is not None
    assert (found.rule, found.sides, found.unit) == (rule, sides, unit)


@pytest.mark.parametrize(
    "question",
    [
        "TCP 和 UDP 有什么区别？",
        "一共有多少种命令？",
        "同一任务最多自动重试几次？",
        "What is the difference between TCP and UDP?",
        "How many times is a task retried?",
        "convert this file into PDF",
        "How many days of annual leave are there?",
        "怎么把表转换成分区表",
    ],
)
def test_what_is_not_asked_for(question: str) -> None:
    assert asked_derivation(question) is None


@pytest.mark.parametrize(
    ("rule", "texts", "unit", "told"),
    [
        ("sum", ("15 天", "10 天"), "", "15 天 + 10 天 = 25 天"),
        ("sum", ("6 周", "3 天"), "", "6 周 + 3 天 = 45 天"),
        ("sum", ("1.5 万元", "2,000 元"), "", "1.5 万元 + 2,000 元 = 17000 元"),
        ("difference", ("12 weeks", "10 days"), "d", "12 weeks − 10 days = 74 days"),
        ("difference", ("30%", "12.5%"), "", "30% − 12.5% = 17.5 percentage points"),
        ("ratio", ("10 秒", "3 秒"), "", "10 秒 ÷ 3 秒 ≈ 3.3333 倍"),
        ("product", ("3 次", "5 秒"), "s", "3 次 × 5 秒 = 15 秒"),
        ("product", ("10%", "200 元"), "", "10% × 200 元 = 20 元"),
        ("conversion", ("2 GiB",), "MB", "2 GiB = 2147.483648 MB"),
        ("days", ("2024年3月1日", "2024-01-01"), "", "2024年3月1日 − 2024-01-01 = 60 天"),
        ("days", ("2023-03-01", "2023-02-01"), "", "2023-03-01 − 2023-02-01 = 28 days"),
    ],
)
def test_what_comes_out(rule: str, texts: tuple[str, ...], unit: str, told: str) -> None:
    result = calculate(rule, [of(text) for text in texts], unit)  # type: ignore[arg-type]
    assert isinstance(result, Result)
    assert result.text == told


@pytest.mark.parametrize(
    ("rule", "texts", "unit", "why"),
    [
        ("sum", ("15 天", "10 元"), "", "mixed dimensions"),
        ("sum", ("1 GB", "1 GiB"), "", "mixed dimensions"),
        ("sum", ("3 次", "4 台"), "", "mixed dimensions"),
        ("sum", ("3 个月", "10 天"), "", "mixed dimensions"),
        ("sum", ("100 元", "100 美元"), "", "mixed dimensions"),
        ("sum", ("10 ℃", "20 ℃"), "", "mixed dimensions"),
        ("ratio", ("10 ℃", "20 ℃"), "", "mixed dimensions"),
        ("product", ("3 米", "5 秒"), "", "mixed dimensions"),
        ("ratio", ("3 米", "0 米"), "", "division by zero"),
        ("conversion", ("3 米",), "s", "mixed dimensions"),
        ("conversion", ("30",), "s", "mixed dimensions"),
        ("days", ("2024年3月", "2024-01-01"), "", "incomplete date"),
        ("days", ("3月1日", "2024-01-01"), "", "incomplete date"),
        ("days", ("2023-02-29", "2023-01-01"), "", "incomplete date"),
        ("sum", ("第3名", "第4名"), "", "not a number"),
        ("product", ("9" * 20, "9" * 20), "", "overflow"),
        ("sum", ("9" * 40, "1"), "", "overflow"),
    ],
)
def test_what_is_refused(rule: str, texts: tuple[str, ...], unit: str, why: str) -> None:
    assert calculate(rule, [of(text) for text in texts], unit) == why  # type: ignore[arg-type]


_VALUES = st.decimals(min_value=0, max_value=10**6, places=3)
_UNITS = st.sampled_from(
    sorted(name for name, unit in UNITS.items() if unit.dimension in ("time", "length", "data"))
)


def _measure(value: Decimal, unit: str) -> Quantity:
    text = f"{value} {unit}"
    return Quantity(0, len(text), text, value, unit, "measure")


@given(_VALUES, _VALUES, _UNITS, _UNITS)
def test_sums_are_exact_and_never_across_dimensions(a: Decimal, b: Decimal, first: str, second: str) -> None:
    one, two = UNITS[first], UNITS[second]
    result = calculate("sum", [_measure(a, first), _measure(b, second)])
    if one.dimension != two.dimension:
        assert result == "mixed dimensions"
        return
    assert isinstance(result, Result)
    wanted = Fraction(a) * Fraction(one.scale) + Fraction(b) * Fraction(two.scale)
    assert result.value * Fraction(UNITS[result.unit].scale) == wanted


@given(_VALUES, _VALUES, _UNITS)
def test_what_was_added_can_be_taken_away(a: Decimal, b: Decimal, unit: str) -> None:
    total = calculate("sum", [_measure(a, unit), _measure(b, unit)])
    assert isinstance(total, Result)
    back = calculate(
        "difference",
        [_measure(Decimal(total.value.numerator) / total.value.denominator, unit), _measure(b, unit)],
    )
    assert isinstance(back, Result)
    assert back.value == Fraction(a)


@given(_VALUES, _UNITS, _UNITS)
def test_there_and_back_is_the_same(value: Decimal, first: str, second: str) -> None:
    there = calculate("conversion", [_measure(value, first)], second)
    if UNITS[first].base != UNITS[second].base:
        assert there == "mixed dimensions"
    elif isinstance(there, Result):
        assert there.value * Fraction(UNITS[second].scale) == Fraction(value) * Fraction(UNITS[first].scale)
    else:
        assert there == "overflow"


@given(_VALUES, _VALUES, st.integers(-3, 3))
def test_only_the_very_place_of_an_input_counts(a: Decimal, b: Decimal, moved: int) -> None:
    quotes = [f"甲为 {a} 秒。", f"乙为 {b} 秒。"]
    at = [find_quantities(quote)[0] for quote in quotes]
    places = [(quote, q.start, q.end) for quote, q in zip(quotes, at, strict=True)]
    assert recalculated("sum", places, "") == calculate("sum", at)
    quote, start, end = places[1]
    shifted = recalculated("sum", [places[0], (quote, start + moved, end + moved)], "")
    assert (shifted is None) == (moved != 0)


def test_a_side_is_not_compared_with_itself() -> None:
    assert asked_derivation("年假和年假一共多少天？") is None
    assert asked_derivation("年假和病假一共多少天？") == Asked("sum", ("年假", "病假"), "d")
