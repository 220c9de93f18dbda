"""DOCX: the headings and lists of the final form, numbered as they are shown."""

from __future__ import annotations

import docx
import pytest

from service.offline.ingest.parsing.docx.counting import counted
from tests.unit.offline.docx_material import HEADING, NUMBERING, item, saved, style
from tests.unit.offline.material import only, shown
from tests.unit.offline.office import docx_of, p, read


def test_a_document_of_python_docx() -> None:
    made = docx.Document()
    made.add_heading("手册", 0)
    made.add_heading("第一章 总则", 1)
    made.add_paragraph("Text one.")
    made.add_heading("范围", 2)
    made.add_paragraph("first", style="List Number")
    made.add_paragraph("second", style="List Number")
    made.add_paragraph("point", style="List Bullet")
    made.add_paragraph("表 1 价格")
    grid = made.add_table(2, 2)
    for at, word in enumerate(["型号", "价格", "A-1", "12"]):
        grid.cell(at // 2, at % 2).text = word
    document = read(saved(made))
    assert shown(document) == [
        ("heading", "手册"),
        ("heading", "第一章 总则"),
        ("paragraph", "Text one."),
        ("heading", "范围"),
        ("list_item", "1. first"),
        ("list_item", "2. second"),
        ("list_item", "• point"),
        ("paragraph", "表 1 价格"),
        ("table", "型号 | 价格\nA-1 | 12"),
    ]
    found = only(document, "table")
    assert found.heading_path == ("第一章 总则", "范围")
    assert found.caption is not None and found.caption.of(document.canonical_text) == "表 1 价格"
    assert document.title == "手册"


def test_headings_by_outline_by_renamed_and_by_derived_styles() -> None:
    styles = (
        HEADING.format("1", "heading 1", '<w:pPr><w:outlineLvl w:val="0"/></w:pPr>')
        + HEADING.format("mine", "章标题", '<w:basedOn w:val="1"/>')
        + HEADING.format("zwei", "标题 2", "")
        + HEADING.format("loop", "x", '<w:basedOn w:val="loop"/>')
    )
    document = read(
        docx_of(
            p("A", props=style("mine"))
            + p("B", props=style("zwei"))
            + p("C", props='<w:outlineLvl w:val="2"/>')
            + p("body", props=style("mine") + '<w:outlineLvl w:val="9"/>')
            + p("loop", props=style("loop")),
            styles=styles,
        )
    )
    assert [(b.kind, b.level) for b in document.blocks[:3]] == [
        ("heading", 1),
        ("heading", 2),
        ("heading", 3),
    ]
    assert [b.heading_path for b in document.blocks[3:]] == [("A", "B", "C")] * 2
    assert document.blocks[3].kind == "paragraph"


@pytest.mark.parametrize(
    ("said", "title"),
    [("Guide 2", "Guide 2"), ("Microsoft Word - x.doc", "Own"), ("文档1", "Own"), ("", "Own")],
)
def test_the_title_is_that_of_the_properties_if_it_is_one(said: str, title: str) -> None:
    made = docx.Document()
    made.core_properties.title = said
    made.add_heading("Own", 1)
    assert read(saved(made)).title == title


def test_numbers_are_counted_as_they_are_shown() -> None:
    body = (
        item("a", 1) + item("b", 1, 1) + item("c", 1, 1) + item("", 1) + item("d", 1) + item("e", 1, 1)
        + item("f", 9) + item("g", 9) + item("h", 3) + item("i", 0)
    )  # fmt: skip
    document = read(docx_of(body, numbering=NUMBERING))
    assert [text for _, text in shown(document)] == [
        "1. a", "a) b", "b) c", "3. d", "a) e", "5. f", "6. g", "• h", "i"
    ]  # fmt: skip
    assert [b.level for b in document.blocks] == [1, 2, 2, 1, 2, 1, 1, 1, 0]


def test_headings_are_numbered_too() -> None:
    heading = '<w:outlineLvl w:val="{}"/><w:numPr><w:ilvl w:val="{}"/><w:numId w:val="2"/></w:numPr>'
    document = read(
        docx_of(
            p("附则", props=heading.format(0, 0)) + p("x", props=heading.format(1, 1)) + p("text"),
            numbering=NUMBERING,
        )
    )
    assert document.blocks[-1].heading_path == ("第九章 附则", "9.1 x")


@pytest.mark.parametrize(
    ("number", "form", "told"),
    [
        (4, "lowerRoman", "iv"), (1994, "upperRoman", "MCMXCIV"), (28, "lowerLetter", "bb"), (12, "chineseCounting", "十二"),
        (110, "chineseCountingThousand", "一百一十"), (1001, "chineseCountingThousand", "一千零一"), (20, "japaneseCounting", "二十"),
        (105, "ideographDigital", "一〇五"), (12, "chineseLegalSimplified", "壹拾贰"), (3, "decimalEnclosedCircle", "③"),
        (21, "decimalEnclosedCircle", "21"), (2, "ideographTraditional", "乙"), (7, "decimalZero", "07"), (22, "ordinal", "22nd"),
        (13, "ordinal", "13th"), (5, "unheardOf", "5"), (0, "lowerRoman", "0"), (5, "none", ""), (12, "decimalFullWidth", "１２"),
    ],
)  # fmt: skip
def test_numbers_in_every_form(number: int, form: str, told: str) -> None:
    assert counted(number, form) == told
