"""DOCX: tables keep their rows, columns and heads."""

from __future__ import annotations

from tests.unit.offline.docx_material import HEADING, style, text_of
from tests.unit.offline.material import only, shown
from tests.unit.offline.office import cell, docx_of, p, read, table

ACROSS, DOWN, ON = '<w:gridSpan w:val="2"/>', '<w:vMerge w:val="restart"/>', "<w:vMerge/>"


def test_merged_cells_stand_in_every_place_and_rows_keep_their_columns() -> None:
    body = table(
        [cell("产品", DOWN), cell("价格", ACROSS)], [cell("", ON), "国内", "国外"],
        [cell("A", DOWN), "1", "2"], [cell("", ON), "3", "4"],
        f"<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr>{cell('5')}</w:tr>",
    )  # fmt: skip
    document = read(docx_of(body))
    found, text = only(document, "table"), document.canonical_text
    assert found.head is not None
    assert found.head.of(text) == "产品 | 价格 | 价格\n产品 | 国内 | 国外"
    assert [part.of(text) for part in found.parts] == ["A | 1 | 2", "A | 3 | 4", " | 5 | "]


def test_columns_that_no_cell_begins_in_count_once() -> None:
    assert text_of(table([cell("a", ACROSS), "b"], [cell("1", ACROSS), "2"])) == "a | b\n1 | 2"


def test_head_rows_are_those_said_to_be() -> None:
    head = "<w:tr><w:trPr><w:tblHeader/></w:trPr>{}</w:tr>"
    body = table(head.format(cell("a") + cell("b")), head.format(cell("c") + cell("d")), ["1", "2"])
    document = read(docx_of(body))
    assert only(document, "table").head == only(document, "table").parts[0].__class__(0, 11)
    plain = read(docx_of(table(["a", "b"], ["1", "2"], props='<w:tblLook w:firstRow="0"/>')))
    assert only(plain, "table").head is None and len(only(plain, "table").parts) == 2
    assert only(read(docx_of(table(["a", "b"]))), "table").head is None


def test_captions_and_units_above_a_table() -> None:
    rows = table(["a", "b"], ["1", "2"])

    def caption(*above: str, styles: str = "") -> str | None:
        document = read(docx_of("".join(above) + rows, styles=styles))
        span = only(document, "table").caption
        return span.of(document.canonical_text) if span else None

    assert caption(p("Table 2. Sales")) == "Table 2. Sales"
    assert caption(p("表1 收入"), p("单位：万元")) == "表1 收入"
    assert caption(p("文字。"), p("单位：万元")) == "单位：万元"
    assert caption(p("文字。")) is None
    assert caption(p("As follows:")) == "As follows:"
    styled = HEADING.format("c", "caption", "")
    assert caption(p("Sales by year", props=style("c")), styles=styled) == "Sales by year"


def test_a_table_in_a_cell_is_told_in_its_cell() -> None:
    inner = table(["b", "c"], ["d", "e"])
    assert text_of(table(["x", "y"], ["1", cell(p("a") + inner + p("f"))])) == "x | y\n1 | a b, c; d, e f"


def test_a_table_of_one_cell_is_a_frame() -> None:
    document = read(docx_of(table([cell(p("one") + p("two") + table(["a", "b"], ["1", "2"]))])))
    assert shown(document) == [("paragraph", "one"), ("paragraph", "two"), ("table", "a | b\n1 | 2")]


def test_a_merged_cell_does_not_multiply_a_long_text() -> None:
    long = "x" * 1000
    rows = [[cell(long, DOWN), "a"], *([cell("", ON), "b"] for _ in range(50))]
    assert text_of(table(*rows)).count(long) == 1
