"""Chinese numerals: values from how they are read aloud."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.numerals import numeral_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("一千二百", 1200),
        ("三万五", 35000),
        ("三万五千", 35000),
        ("三万零五", 30005),
        ("两百五", 250),
        ("二百零五", 205),
        ("十二", 12),
        ("二十", 20),
        ("一百一十", 110),
        ("一亿二千万", 120_000_000),
        ("一万亿", 10**12),
        ("一千零一", 1001),
        ("壹仟贰佰", 1200),
        ("二〇二六", 2026),
        ("三点一四", "3.14"),
        ("一点五万", 15000),
        ("兩萬", 20000),
        ("零", 0),
    ],
)
def test_value(text: str, value: int | str) -> None:
    assert numeral_value(text) == Decimal(value)


@pytest.mark.parametrize("text", ["百", "五百千", "三点", "千万", "一二百", "abc"])
def test_what_is_no_numeral_has_no_value(text: str) -> None:
    assert numeral_value(text) is None


def written(number: int) -> str:
    """A number below 10^8 as it is written in full, zeros once for each gap."""
    digits, units = "零一二三四五六七八九", ("", "十", "百", "千")

    def group(value: int) -> str:
        out, gap = "", False
        for power in (3, 2, 1, 0):
            digit = value // 10**power % 10
            if digit:
                out += ("零" if gap and out else "") + digits[digit] + units[power]
                gap = False
            else:
                gap = True
        return out

    high, low = divmod(number, 10_000)
    if not high:
        return group(low) or "零"
    joint = "零" if 0 < low < 1000 else ""
    return f"{group(high)}万{joint}{group(low)}"


@settings(max_examples=500)
@given(st.integers(0, 10**8 - 1))
def test_every_number_written_in_full_is_read_back(number: int) -> None:
    assert numeral_value(written(number)) == number
