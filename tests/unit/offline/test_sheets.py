"""Spreadsheets: every row with its columns and heads, what is hidden told as hidden."""

from __future__ import annotations

import io
from datetime import date, datetime

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.table import Table

from service.errors import SourceUnreadable
from service.offline.ingest.chunking import Chunker
from tests.unit.offline import material
from tests.unit.offline.material import check_chunks
from tests.unit.offline.office import EXCEL, read
from tests.unit.offline.sheet_material import Rows, book, document_of, saved, tables
from tests.unit.offline.test_coverage import archived, chunks_of, coverage


def test_a_sheet_with_title_unit_head_sums_and_note() -> None:
    made = book(
        收入=[
            ["2024年收入表"],
            [None, None, None, "单位：万元"],
            ["部门", "收入", "占比", "日期"],
            ["销售", 1200.5, 0.12, date(2024, 3, 1)],
            ["研发", 3, 0.4567, datetime(2024, 3, 1, 14, 30)],
            [],
            ["合计", 1203.5],
            ["注：未审计"],
        ]
    )
    sheet = made["收入"]
    sheet.merge_cells("A1:D1")
    sheet["C4"].number_format, sheet["C5"].number_format, sheet["B4"].number_format = "0%", "0.0%", "#,##0.00"
    sheet["E20"].number_format = "0"
    document = document_of(made)
    text = document.canonical_text
    assert material.shown(document, "heading", "paragraph") == [
        ("heading", "收入"),
        ("paragraph", "2024年收入表\n单位：万元"),
        ("paragraph", "注：未审计"),
    ]
    assert tables(document) == [
        (
            "部门 | 收入 | 占比 | 日期",
            [
                "销售 | 1,200.50 | 12% | 2024-03-01",
                "研发 | 3 | 45.7% | 2024-03-01 14:30:00",
                "合计 | 1203.5 |  | ",
            ],
        )
    ]
    table = material.only(document, "table")
    assert table.heading_path == ("收入",)
    assert table.caption is not None and table.caption.of(text) == "2024年收入表\n单位：万元"
    prefix = [c.search_prefix for c in chunks_of(document) if c.kind == "table"]
    assert prefix == ["2024年收入表\n单位：万元\n部门 | 收入 | 占比 | 日期"]


def test_tables_are_parted_by_empty_rows_and_columns() -> None:
    one = [["a", "b", None, "c", "d"], ["x", 1, None, "y", 2], ["z", 3, None, None, None]]
    two = [["e", "f", "g"], ["h", "i", 4]]
    assert tables(document_of([*one, [], [], *two])) == [
        ("a | b", ["x | 1", "z | 3"]),
        ("c | d", ["y | 2"]),
        ("e | f | g", ["h | i | 4"]),
    ]


def test_a_column_by_itself_is_part_of_its_table() -> None:
    assert tables(document_of([["a", None, "b", "c"], ["x", None, 1, 2]])) == [
        ("a |  | b | c", ["x |  | 1 | 2"])
    ]


def test_a_title_set_off_by_an_empty_row_is_the_caption() -> None:
    document = document_of([["Price list"], [], ["model", "price"], ["A", 1]])
    caption = material.only(document, "table").caption
    assert caption is not None and caption.of(document.canonical_text) == "Price list"


def test_grouped_heads_are_one_head_with_the_group_in_each_column() -> None:
    made = book([["产品", "国内", None, "国外"], [None, "量", "价", "量"], ["甲", 1, 2, 3], ["乙", 4, 5, 6]])
    made["S1"].merge_cells("A1:A2")
    made["S1"].merge_cells("B1:C1")
    assert tables(document_of(made)) == [
        ("产品 | 国内 | 国内 | 国外\n产品 | 量 | 价 | 量", ["甲 | 1 | 2 | 3", "乙 | 4 | 5 | 6"])
    ]


def test_columns_that_are_merged_all_the_way_down_count_once() -> None:
    made = book([["名称", None, "数量"], [None, None, None], ["甲", None, 1], ["乙", None, 2]])
    for area in ("A1:B2", "C1:C2", "A3:B3", "A4:B4"):
        made["S1"].merge_cells(area)
    assert tables(document_of(made)) == [("名称 | 数量", ["甲 | 1", "乙 | 2"])]


def test_a_merged_value_stands_in_every_row() -> None:
    made = book([["区", "店", "额"], ["华东", "甲", 1], [None, "乙", 2]])
    made["S1"].merge_cells("A2:A3")
    assert tables(document_of(made))[0][1] == ["华东 | 甲 | 1", "华东 | 乙 | 2"]


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ([["指标", 2022, 2023], ["收入", 1, 2]], "指标 | 2022 | 2023"),
        ([["a", "b", "c"], ["x", "y", "z"]], "a | b | c"),
        ([["a", "b", "b"], ["x", "y", "z"]], None),
        ([[1, 2], [3, 4]], None),
        ([["姓名", "张三"], ["部门", "研发"]], None),
        ([["a", "b"]], None),
        ([["x" * 80, "b"], ["c", 1]], None),
    ],
)
def test_what_is_a_head(rows: Rows, head: str | None) -> None:
    assert tables(document_of(rows))[0][0] == head


def test_what_the_sheet_says_is_a_head_is_one() -> None:
    rows = [["姓名", "部门"], ["张三", "研发"]]
    frozen, filtered, listed = book(rows), book(rows), book(rows)
    frozen["S1"].freeze_panes = "A2"
    filtered["S1"].auto_filter.ref = "A1:B2"
    listed["S1"].add_table(Table(displayName="T", ref="A1:B2"))
    for made in (frozen, filtered, listed):
        assert tables(document_of(made)) == [("姓名 | 部门", ["张三 | 研发"])]


def test_a_column_of_texts_is_prose_and_one_of_numbers_a_table() -> None:
    document = document_of([["one"], ["two"], ["two"]])
    assert material.shown(document) == [("heading", "S1"), ("paragraph", "one\ntwo\ntwo")]
    assert tables(document_of([["n"], [1], [2]])) == [("n", ["1", "2"])]


def test_a_very_wide_table_is_told_in_slices_with_its_first_column() -> None:
    rows: Rows = [["key", *(f"c{n}" for n in range(100))], *([f"r{m}", *range(100)] for m in range(3))]
    found = tables(document_of(rows))
    assert len(found) == 6
    for head, body in found:
        assert head is not None and head.startswith("key | c")
        assert [line.split(" | ")[0] for line in body] == ["r0", "r1", "r2"]
        assert {len(line.split(" | ")) for line in [head, *body]} <= {20, 6}


def test_what_is_hidden_is_told_in_the_heading_path() -> None:
    made = book([["a", "b", "c"], ["x", 1, 2], ["y", 3, 4]], 隐=[["k", "v"], ["z", 1]])
    made["S1"].row_dimensions[3].hidden = True
    made["S1"].column_dimensions["C"].hidden = True
    made["隐"].sheet_state = "veryHidden"
    document = document_of(made)
    assert [
        (b.heading_path, b.span.of(document.canonical_text)) for b in document.blocks if b.kind == "table"
    ] == [
        (("S1", "hidden columns C"), "a | b | c\nx | 1 | 2"),
        (("S1", "hidden rows, hidden columns C"), "a | b | c\ny | 3 | 4"),
        (("隐", "hidden sheet"), "k | v\nz | 1"),
    ]
    assert coverage(archived(document, EXCEL), chunks_of(document)).whole


def test_the_title_is_that_of_the_properties_else_the_first_sheet_s_name() -> None:
    rows: Rows = [["a", "b"], ["x", 1]]
    made = book(rows)
    assert document_of(made).title == ""
    assert document_of(book(收入=rows, 支出=rows)).title == "收入"
    made.properties.title = "Budget 2024"
    assert document_of(made).title == "Budget 2024"


CELLS = st.one_of(
    st.none(),
    st.integers(-(10**6), 10**6),
    st.text(st.characters(categories=["L", "N", "P"], exclude_characters="|"), max_size=8),
)


@settings(max_examples=80, deadline=None)
@given(st.lists(st.lists(CELLS, min_size=1, max_size=6), min_size=1, max_size=8))
def test_no_cell_of_a_random_sheet_is_lost(rows: Rows) -> None:
    raw = saved(book(rows))
    expected = [
        str(cell.value)
        for row in openpyxl.load_workbook(io.BytesIO(raw))["S1"].iter_rows()
        for cell in row
        if cell.value is not None and str(cell.value).strip() and cell.data_type != "f"
    ]
    try:
        document = read(raw, EXCEL)
    except SourceUnreadable:
        assert not expected
        return
    text = document.canonical_text
    for value in expected:
        assert value in text
    # In the order of rows, each once for each table; side by side they are told one after another.
    words = [word for line in text.split("\n")[2:] for word in line.split(" | ") if word]
    assert len(words) <= len(expected) and set(words) == set(expected)
    chunks = chunks_of(document)
    check_chunks(text, Chunker().cut("d", "0123456789abcdef", text, document.blocks, ""))
    assert coverage(archived(document, EXCEL), chunks).whole
    assert read(raw, EXCEL) == document


@settings(max_examples=40, deadline=None)
@given(st.integers(2, 60), st.integers(2, 8))
def test_a_full_table_keeps_rows_and_columns(width: int, height: int) -> None:
    rows: Rows = [
        [f"h{c}" for c in range(width)],
        *([f"r{r}", *(r * 100 + c for c in range(1, width))] for r in range(1, height)),
    ]
    seen: dict[str, list[str]] = {}
    for head, body in tables(document_of(rows)):
        assert head is not None
        for line in [head, *body]:
            first, *rest = line.split(" | ")
            assert len(line.split(" | ")) == len(head.split(" | "))
            seen.setdefault(first, []).extend(rest)
    assert seen == {str(row[0]): [str(value) for value in row[1:]] for row in rows}
