"""Spreadsheets: numbers, dates and formulas as they are shown."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.offline.ingest.parsing.sheets.formats import general, shown
from tests.unit.offline.office import EXCEL, read, xlsx_of
from tests.unit.offline.sheet_material import book, saved, tables


@pytest.mark.parametrize(
    ("number", "code", "told"),
    [
        (0.12, "0%", "12%"), (0.125, "0.0%", "12.5%"), (1.0, "0%", "100%"), (1234567.891, "#,##0.00", "1,234,567.89"), (0.5, "0", "1"),
        (2.5, "0", "3"), (1.005, "0.00", "1.01"), (-1234.5, "#,##0.00;(#,##0.00)", "(1,234.50)"), (-3, "0.0", "-3.0"), (-0.001, "0.0", "0.0"),
        (0, '0.00;-0.00;"-"', "-"), (5, '"¥"#,##0', "¥5"), (5, "[$¥-804]#,##0.00", "¥5.00"), (1234, "#,##0_);[Red](#,##0)", "1,234"),
        (7, "000", "007"), (13812345678, "000-0000-0000", "138-1234-5678"), (12345, '0!.0,"万"', "1.2万"), (150000000, '0.0,,"百万"', "150.0百万"),
        (12000, '[>=10000]0!.0,"万";0', "1.2万"), (999, '[>=10000]0!.0,"万";0', "999"), (0.5, "#.##", ".5"), (3, "0.##", "3"), (12345, "0.00E+00", "1.23E+04"),
        (0.75, "# ?/?", "0.75"), (3, "General", "3"), (3, '0"年"', "3年"), (1e20, "0", "1" + "0" * 20), (12.5, "@", "12.5"), (3, '""', ""), (3, ";;;", ""),
        (45352, "yyyy-mm-dd", "2024-03-01"), (45352, "yyyy年m月d日", "2024-03-01"), (45352, "yyyy年m月", "2024-03"), (45352, "yyyy", "2024"), (45352, "m/d", "2024-03-01"),
        (45352.604166667, "yyyy/m/d h:mm", "2024-03-01 14:30"), (0.604166667, "h:mm", "14:30"), (1.5, "[h]:mm", "36:00:00"), (59, "yyyy-mm-dd", "1900-02-28"),
        (61, "yyyy-mm-dd", "1900-03-01"), (-5, "yyyy-mm-dd", "-5"), (1e10, "yyyy-mm-dd", "10000000000"), (45352, '[DBNum1][$-804]yyyy"年"m"月"d"日"', "2024-03-01"),
        (45352, "[$-409]d-mmm-yy;@", "2024-03-01"), (123, "[DBNum2]General", "123"), (7, 'General"个"', "7个"),
    ],
)  # fmt: skip
def test_numbers_as_they_are_shown(number: float, code: str, told: str) -> None:
    assert shown(number, code) == told


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (3.0, "3"),
        (-0.0, "0"),
        (0.1 + 0.2, "0.3"),
        (1e15, "1E+15"),
        (123456789012, "123456789012"),
        (1.5e-7, "1.5E-07"),
    ],
)
def test_numbers_without_a_format(number: float, told: str) -> None:
    assert general(number) == told


@given(st.floats(), st.text("0#?.,%;-()[]\"'ymdhsEe+@_*\\/>=$¥G 万", max_size=14))
def test_any_format_shows_something_or_nothing(number: float, code: str) -> None:
    assert isinstance(shown(number, code), str)


def test_dates_of_the_1904_system() -> None:
    assert shown(43890, "yyyy-mm-dd", epoch_1904=True) == "2024-03-01"


def test_formulas_give_what_was_kept_errors_their_sign_and_strings_their_characters() -> None:
    inside = (
        "<sheetData><row r='1'><c r='A1' t='str'><f>X</f><v>kept</v></c><c r='B1' t='e'><v>#N/A</v></c><c r='C1' t='b'><v>1</v></c>"
        "<c r='D1' t='inlineStr'><is><r><t>rich </t></r><r><t>text_x000D_ _x4E2D_</t></r><rPh><t>HIDDEN</t></rPh></is></c><c r='E1'><f>1+1</f></c></row>"
        "<row><c t='n'><v>1.10</v></c><c t='d'><v>2024-03-01T00:00:00</v></c></row></sheetData>"
    )
    document = read(xlsx_of(inside), EXCEL)
    assert document.canonical_text.split("\n")[2:] == [
        "kept | #N/A | TRUE | rich text 中",
        "1.1 | 2024-03-01 |  | ",
    ]


def test_every_value_of_openpyxl_is_read_the_same() -> None:
    values = [
        1,
        1.5,
        -2,
        "文",
        True,
        date(2024, 1, 2),
        datetime(2024, 1, 2, 3, 4),
        time(5, 6),
        timedelta(hours=30),
        "=1+1",
        "#N/A",
    ]
    raw = saved(book([["key", "v", "w"], *([f"k{at}", value, at] for at, value in enumerate(values))]))
    told = [row.split(" | ")[1] for row in tables(read(raw, EXCEL))[0][1]]
    assert told == [
        "1",
        "1.5",
        "-2",
        "文",
        "TRUE",
        "2024-01-02",
        "2024-01-02 03:04:00",
        "05:06:00",
        "30:00:00",
        "",
        "#N/A",
    ]
