"""Spreadsheets of LibreOffice and of Excel before 2007."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.errors import SourceUnreadable
from tests.unit.offline import material
from tests.unit.offline.office import ODS, OLD_EXCEL, read, zipped


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
