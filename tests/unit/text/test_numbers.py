"""Quantities: what is found with which value and unit, and which quantity proves which."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.numbers import entails, find_quantities, normalise, unsupported_quantities


def one(text: str) -> tuple[Decimal, str, str]:
    [quantity] = find_quantities(text)
    return quantity.value, quantity.unit, quantity.kind


@pytest.mark.parametrize(
    ("text", "value", "unit", "kind"),
    [
        ("10 MB", "10", "MB", "measure"),
        ("１０ＭＢ", "10", "MB", "measure"),
        ("30 分钟", "30", "min", "measure"),
        ("三十分钟", "30", "min", "measure"),
        ("thirty minutes", "30", "min", "measure"),
        ("1,200.50 元", "1200.50", "元", "measure"),
        ("1.2 万元", "12000", "元", "measure"),
        ("一千二百万元", "12000000", "元", "measure"),
        ("$3.5 million", "3500000", "USD", "measure"),
        ("99.9%", "99.9", "%", "percent"),
        ("百分之五", "5", "%", "percent"),
        ("3 次", "3", "次", "measure"),
        ("第三次", "3", "次", "ordinal"),
        ("-5 ℃", "-5", "°C", "measure"),
        ("3 days", "3", "d", "measure"),
        ("3 个工作日", "3", "工作日", "measure"),
        ("12 个月", "12", "month", "measure"),
        ("2048", "2048", "", "number"),
        ("16:30", "59400", "", "time"),
        ("4:30 p.m.", "59400", "", "time"),
        ("下午四点半", "59400", "", "time"),
        ("下午4点30分", "59400", "", "time"),
        ("4 am", "14400", "", "time"),
        ("凌晨四点", "14400", "", "time"),
        ("12 am", "0", "", "time"),
        ("中午一点", "46800", "", "time"),
        ("晚上十二点", "86400", "", "time"),
        ("晚八点一刻", "72900", "", "time"),
        ("It failed twice.", "2", "次", "measure"),
        ("exactly once", "1", "次", "measure"),
        ("两次", "2", "次", "measure"),
        ("half an hour", "0.5", "h", "measure"),
        ("half a million dollars", "500000", "USD", "measure"),
        ("two and a half hours", "2.5", "h", "measure"),
        ("half of the rooms", "0.5", "", "fraction"),
        ("three quarters of the rooms", "0.75", "", "fraction"),
        ("half a dozen eggs", "6", "", "number"),
        ("two dozen eggs", "24", "", "number"),
        ("一半的人", "0.5", "", "fraction"),
        ("半小时", "0.5", "h", "measure"),
        ("两个半小时", "2.5", "h", "measure"),
        ("三年半", "3.5", "year", "measure"),
    ],
)
def test_one_quantity(text: str, value: str, unit: str, kind: str) -> None:
    assert one(text) == (Decimal(value), unit, kind)


@pytest.mark.parametrize("text", ["早一点到", "晚一点再说", "要点三个", "早点", "晚三点五米"])
def test_a_point_is_no_part_of_a_time_of_day(text: str) -> None:
    assert not [q for q in find_quantities(text) if q.kind == "time" and q.text.endswith(("五", "一点"))]


@pytest.mark.parametrize(
    "text",
    [
        "Once it stopped, it fell.",
        "Stop at once.",
        "the third of May",
        "the second half",
        "下半年",
        "半岛",
        "a third party",
    ],
)
def test_words_that_count_elsewhere_are_no_quantity(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize("text", ["PPR-9087", "v7.5.1", "E1024X", "万一", "百度一下", "千万别动"])
def test_digits_and_units_inside_names_are_no_quantity(text: str) -> None:
    assert find_quantities(text) == []


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("1,200.00 万元", "12,000,000 元"),
        ("一千二百万元", "1200 万元"),
        ("60 分钟", "1 小时"),
        ("1.5 小时", "90 min"),
        ("10 MB", "１０ＭＢ"),
        ("2 年", "24 个月"),
        ("5 km", "5000 米"),
        ("三十天", "30 days"),
        ("百分之五", "5%"),
        ("2026年4月8日", "2026-04-08"),
        ("2026年4月8日", "2026 年 4 月"),
        ("April 8, 2026", "二〇二六年四月八日"),
    ],
)
def test_equal_values_prove_each_other(source: str, claim: str) -> None:
    [have], [want] = find_quantities(source), find_quantities(claim)
    assert entails(have, want)


@pytest.mark.parametrize(
    ("source", "claim"),
    [
        ("10 MB", "10 GB"),
        ("10 KB", "10 KiB"),
        ("5 kW", "5 W"),
        ("30 秒", "30 分钟"),
        ("1200 元", "1200 万元"),
        ("5 元", "5 美元"),
        ("5%", "5"),
        ("5%", "5 个百分点"),
        ("5%", "5‰"),
        ("3 次", "3 台"),
        ("3 天", "3 个工作日"),
        ("30 天", "1 个月"),
        ("第 3 次", "3 次"),
        ("2026年4月", "2026年4月8日"),
        ("2026年4月8日", "2025年4月8日"),
        ("10", "10 GB"),
        ("8 V", "8 A"),
    ],
)
def test_different_values_do_not(source: str, claim: str) -> None:
    [have], [want] = find_quantities(source), find_quantities(claim)
    assert not entails(have, want)


@given(st.integers(1, 10**6), st.sampled_from(["B", "KB", "MB", "GB", "秒", "分钟", "元", "kg", "V", "次"]))
def test_a_quantity_proves_itself_and_not_its_successor(number: int, unit: str) -> None:
    [have], [other] = find_quantities(f"{number} {unit}"), find_quantities(f"{number + 1} {unit}")
    assert have.value == number
    assert entails(have, have)
    assert not entails(have, other)


@given(st.integers(0, 10**9))
def test_thousands_separators_change_nothing(number: int) -> None:
    assert one(f"{number:,}")[0] == one(str(number))[0] == number


@given(st.text(alphabet="共重试三3次 10MBGB元%万年月。,第", max_size=40))
def test_spans_are_cut_from_the_text(text: str) -> None:
    last = 0
    for quantity in find_quantities(text):
        assert last <= quantity.start < quantity.end
        assert text[quantity.start : quantity.end] == quantity.text
        last = quantity.end


def test_units_reduce_to_their_base() -> None:
    assert normalise(find_quantities("1.5 kW")[0]) == (Decimal(1500), "power", "W")
    assert normalise(find_quantities("2 GiB")[0]) == (Decimal(2 * 1024**3), "data-iec", "B")


@pytest.mark.parametrize(
    ("claim", "source", "missing"),
    [
        ("最多重试 3 次 [1]", "同一任务最多自动重试三次。", []),
        ("最多重试 5 次", "同一任务最多自动重试三次。", ["5 次"]),
        ("上限为 10 GB", "上限为 10 MB", ["10 GB"]),
        ("the limit is 20 MB", "The limit is 20 MB.", []),
        ("1. 等待 30 秒", "等待 30 秒", []),
        ("这是一个任务", "任务", []),
    ],
)
def test_claims_against_sources(claim: str, source: str, missing: list[str]) -> None:
    assert [quantity.text for quantity in unsupported_quantities(claim, [source])] == missing
