"""Spreadsheets: every row with its columns, numbers as they are shown, what is hidden told as hidden."""

from __future__ import annotations

import io
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.worksheet.table import Table

from service.domain.sources import ParsedDocument
from service.errors import SourceUnreadable
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing.sheets import grid
from service.offline.ingest.parsing.sheets.formats import general, shown
from tests.unit.offline import material
from tests.unit.offline.material import check_chunks
from tests.unit.offline.office import EXCEL, ODS, OLD_EXCEL, read, xlsx_of, zipped
from tests.unit.offline.test_coverage import archived, chunks_of, coverage

Rows = list[list[Any]]


def book(*sheets: Rows, **names: Rows) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in [*((f"S{at}", rows) for at, rows in enumerate(sheets, 1)), *names.items()]:
        sheet = made.create_sheet(name)
        for at, row in enumerate(rows, 1):
            for column, value in enumerate(row, 1):
                sheet.cell(at, column, value)
    return made


def saved(made: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def document_of(made: openpyxl.Workbook | Rows) -> ParsedDocument:
    return read(saved(made if isinstance(made, openpyxl.Workbook) else book(made)), EXCEL)


def tables(document: ParsedDocument) -> list[tuple[str | None, list[str]]]:
    """(head, rows) of each."""
    text = document.canonical_text
    return [
        (b.head.of(text) if b.head else None, [part.of(text) for part in b.parts])
        for b in document.blocks
        if b.kind == "table"
    ]


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────


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


# ── values ──────────────────────────────────────────────────────────────────────────────────────────────


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


# ── limits ──────────────────────────────────────────────────────────────────────────────────────────────


def test_one_cell_in_the_last_corner_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = "<sheetData><row r='1048576'><c r='XFD1048576'><v>7</v></c></row></sheetData>"
    assert read(xlsx_of(inside), EXCEL).canonical_text == "S1\n\n7"


def corner(cells: str, more: str = "") -> bytes:
    return xlsx_of(f"<sheetData>{cells}</sheetData>{more}")


def test_too_many_cells_are_refused_before_they_are_made() -> None:
    both = "<row r='1'><c r='A1'><v>1</v></c></row><row r='100000'><c r='XFD100000'><v>1</v></c></row>"
    with pytest.raises(SourceUnreadable, match="more than 1000000 cells"):
        read(corner(both, "<mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>"), EXCEL)
    diagonal = "".join(f"<row><c r='{grid_letters(n)}{n + 1}'><v>1</v></c></row>" for n in range(1500))
    with pytest.raises(SourceUnreadable, match="more than 1000000 cells"):
        read(corner(diagonal), EXCEL)


def grid_letters(number: int) -> str:
    return str(openpyxl.utils.get_column_letter(number + 1))


def test_too_many_sheets_are_refused() -> None:
    one = "<sheetData><row><c><v>1</v></c></row></sheetData>"
    assert read(xlsx_of(*[one] * grid.MOST_SHEETS), EXCEL).canonical_text.count("S") == grid.MOST_SHEETS
    with pytest.raises(SourceUnreadable, match="more than 200 sheets"):
        read(xlsx_of(*[one] * (grid.MOST_SHEETS + 1)), EXCEL)


# ── the other formats ───────────────────────────────────────────────────────────────────────────────────


def ods_of(tables_xml: str, styles: str = "") -> bytes:
    names = " ".join(
        f'xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"'
        for n in ("office", "table", "text", "style")
    )
    content = (
        f"<office:document-content {names}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables_xml}</office:spreadsheet></office:body></office:document-content>"
    )
    return zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet", "content.xml": content})


def ods_cell(text: str, more: str = "") -> str:
    return f"<table:table-cell {more}><text:p>{text}</text:p></table:table-cell>"


NUMBER = 'office:value-type="float"'
PERCENT = 'office:value-type="percentage" office:value="0.12"'
TWICE = 'table:number-columns-repeated="2"'


def test_ods_gives_what_was_shown() -> None:
    note = "<office:annotation><text:p>HIDDEN</text:p></office:annotation>"
    rows = (
        f"<table:table-row>{ods_cell('部门')}{ods_cell('占比')}{ods_cell('额')}</table:table-row>"
        f"<table:table-row>{ods_cell('销售')}{ods_cell('12%', PERCENT)}"
        f"<table:table-cell {NUMBER}>{note}<text:p>1,200</text:p></table:table-cell></table:table-row>"
        f'<table:table-row table:visibility="collapse">{ods_cell("研发")}{ods_cell("3%", NUMBER)}{ods_cell("a<text:s/>b", NUMBER)}</table:table-row>'
        '<table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    hidden = "<style:style style:name='t'><style:table-properties table:display='false'/></style:style>"
    second = f'<table:table table:name="B" table:style-name="t"><table:table-row>{ods_cell("x", TWICE)}</table:table-row></table:table>'
    document = read(ods_of(f'<table:table table:name="A">{rows}</table:table>{second}', hidden), ODS)
    assert [
        (b.heading_path, b.span.of(document.canonical_text)) for b in document.blocks if b.kind != "heading"
    ] == [
        (("A",), "部门 | 占比 | 额\n销售 | 12% | 1,200"),
        (("A", "hidden rows"), "部门 | 占比 | 额\n研发 | 3% | a b"),
        (("B", "hidden sheet"), "x | x"),
    ]


def test_a_repetition_in_ods_is_bounded() -> None:
    row = f'<table:table-row table:number-rows-repeated="9000000">{ods_cell("x")}</table:table-row>'
    with pytest.raises(SourceUnreadable, match="more than 1000000 cells"):
        read(ods_of(f'<table:table table:name="A">{row}</table:table>'), ODS)


def test_xls_is_read() -> None:
    raw = (Path(__file__).parent / "sample.xls").read_bytes()
    document = read(raw, OLD_EXCEL)
    assert material.shown(document) == [
        ("heading", "价格"),
        ("paragraph", "价格表"),
        ("table", "型号 | 价格 | 日期\nA-1 | 12 | 2024-03-01\nB-2 | 1.5 | 2024-03-01 14:30:00"),
        ("heading", "Hidden"),
        ("table", "k | v\nz | 1"),
    ]
    assert document.blocks[-1].heading_path == ("Hidden", "hidden sheet")
