"""DOCX: the canonical text is what a reader of the final form sees, once and in order."""

from __future__ import annotations

import io
import re
import zipfile
from xml.etree import ElementTree

import docx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.sources import ParsedDocument
from service.errors import SourceUnreadable
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing.docx.counting import counted
from tests.unit.offline.material import check_chunks, only, shown
from tests.unit.offline.office import STRICT_W, WORD, W, cell, docx_of, p, r, read, table, zipped
from tests.unit.offline.test_coverage import archived, chunks_of, coverage

HEADING = '<w:style w:type="paragraph" w:styleId="{}"><w:name w:val="{}"/>{}</w:style>'


def text_of(body: str, **parts: str) -> str:
    return read(docx_of(body, **parts)).canonical_text


def style(name: str) -> str:
    return f'<w:pStyle w:val="{name}"/>'


def saved(document: object) -> bytes:
    buffer = io.BytesIO()
    document.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


# ── headings ────────────────────────────────────────────────────────────────────────────────────────────


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


# ── lists ───────────────────────────────────────────────────────────────────────────────────────────────


def level(at: int, form: str, text: str, more: str = "", start: int = 1) -> str:
    return f'<w:lvl w:ilvl="{at}"><w:start w:val="{start}"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/>{more}</w:lvl>'


NUMBERING = (
    f'<w:abstractNum w:abstractNumId="0">{level(0, "decimal", "%1.")}{level(1, "lowerLetter", "%2)")}</w:abstractNum>'
    f'<w:abstractNum w:abstractNumId="1">{level(0, "chineseCountingThousand", "第%1章", start=9)}'
    f"{level(1, 'decimal', '%1.%2', '<w:isLgl/>')}</w:abstractNum>"
    f'<w:abstractNum w:abstractNumId="2">{level(0, "bullet", "&#xF0B7;")}</w:abstractNum>'
    + "".join(f'<w:num w:numId="{n + 1}"><w:abstractNumId w:val="{n}"/></w:num>' for n in range(3))
    + '<w:num w:numId="9"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride></w:num>'
)


def item(text: str, number: int, at: int = 0) -> str:
    return p(text, props=f'<w:numPr><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>')


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


# ── what a run holds ────────────────────────────────────────────────────────────────────────────────────


def test_signs_inside_a_run() -> None:
    body = p(
        "<w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t><w:noBreakHyphen/><w:t>d</w:t><w:softHyphen/>"
        '<w:sym w:font="Symbol" w:char="F0B3"/><w:sym w:font="Wingdings" w:char="F0FE"/><w:sym w:char="4E2D"/></w:r>'
    )
    assert text_of(body) == "a\tb\nc-d≥☑中"


def test_tracked_changes_are_accepted() -> None:
    moved = r("moved ")
    body = p(
        "keep ", f"<w:ins w:id='1'>{r('new ')}</w:ins>", "<w:del w:id='2'><w:r><w:delText>old </w:delText></w:r></w:del>",
        f"<w:moveFrom w:id='3'>{moved}</w:moveFrom>", "end ", f"<w:moveTo w:id='4'>{moved}</w:moveTo>",
    )  # fmt: skip
    assert text_of(body) == "keep new end moved"


def test_a_deleted_paragraph_mark_joins_two_paragraphs() -> None:
    body = p("one ", props="<w:rPr><w:del w:id='1'/></w:rPr>") + p("two") + p("three")
    assert text_of(body) == "one two\n\nthree"
    assert text_of(p("only", props="<w:rPr><w:del w:id='1'/></w:rPr>")) == "only"


def test_deleted_rows_and_cells_are_gone() -> None:
    gone = f"<w:tr><w:trPr><w:del w:id='1'/></w:trPr>{cell('HIDDEN')}</w:tr>"
    body = table(["a", "b"], gone, ["c", cell("HIDDEN", "<w:cellDel w:id='2'/>"), "d"])
    assert text_of(body) == "a | b\nc | d"


def test_hidden_text_is_left_out() -> None:
    styles = (
        '<w:style w:type="character" w:styleId="h"><w:name w:val="h"/><w:rPr><w:vanish/></w:rPr></w:style>'
        '<w:style w:type="paragraph" w:styleId="ph"><w:name w:val="ph"/><w:rPr><w:vanish/></w:rPr></w:style>'
    )
    body = p(
        "a", r("HIDDEN", "<w:vanish/>"), r("HIDDEN", '<w:rStyle w:val="h"/>'), r("b", '<w:vanish w:val="0"/>')
    ) + p("HIDDEN", r("c", '<w:vanish w:val="false"/>'), props=style("ph"))
    assert text_of(body, styles=styles) == "ab\n\nc"


def box(text: str) -> str:
    return f"<w:txbxContent>{p(text)}</w:txbxContent>"


def test_text_boxes_are_read_once() -> None:
    both = (
        f"<w:r><mc:AlternateContent><mc:Choice Requires='wps'><w:drawing><wps:txbx>{box('in a box')}</wps:txbx></w:drawing></mc:Choice>"
        f"<mc:Fallback><w:pict><v:textbox>{box('in a box')}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent></w:r>"
    )
    old = f"<w:r><w:pict><v:shape><v:textbox>{box('old box')}</v:textbox></v:shape></w:pict></w:r>"
    assert text_of(p("before", both, "after") + p(old)) == "beforeafter\n\nin a box\n\nold box"


def test_links_controls_and_fields_give_what_is_shown() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> REF x </w:instrText></w:r>'
        '<w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        + r("result")
        + '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    body = p(
        f"<w:hyperlink>{r('link ')}</w:hyperlink>", f"<w:sdt><w:sdtContent>{r('control ')}</w:sdtContent></w:sdt>",
        f"<w:fldSimple w:instr='PAGE'>{r('7 ')}</w:fldSimple>", field,
        "<w:r><w:ruby><w:rt><w:r><w:t>han</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>汉</w:t></w:r></w:rubyBase></w:ruby></w:r>",
    )  # fmt: skip
    assert text_of(body) == "link control 7 result汉"


def test_a_field_that_never_ends_swallows_nothing() -> None:
    assert text_of(p('<w:r><w:fldChar w:fldCharType="begin"/></w:r>', "a") + p("b")) == "b"


def test_formulas_stand_on_one_line() -> None:
    def m(tag: str, inside: str) -> str:
        return f"<m:{tag}>{inside}</m:{tag}>"

    t = "<m:r><m:t>{}</m:t></m:r>"
    fraction = m("f", m("num", t.format("a+b")) + m("den", t.format("2")))
    power = m("sSup", m("e", t.format("x")) + m("sup", t.format("2")))
    assert text_of(p("y=", m("oMath", fraction + power))) == "y=(a+b)/2x^2"


def test_the_table_of_contents_and_comments_are_left_out() -> None:
    styles = HEADING.format("toc1", "toc 1", "")
    contents = (
        "<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val='Table of Contents'/></w:docPartObj></w:sdtPr>"
        f"<w:sdtContent>{p('HIDDEN 1')}</w:sdtContent></w:sdt>"
    )
    body = contents + p("HIDDEN 2", props=style("toc1")) + p("a", "<w:commentRangeStart w:id='0'/>", "b")
    assert text_of(body, styles=styles, comments="<w:comment w:id='0'><w:p/></w:comment>") == "ab"


def test_notes_stand_after_the_paragraph_with_their_marks() -> None:
    def reference(kind: str, at: int, more: str = "") -> str:
        return f'<w:r><w:{kind}Reference w:id="{at}"{more}/></w:r>'

    def note(kind: str, at: int, text: str) -> str:
        return f'<w:{kind} w:id="{at}">{p("<w:r><w:footnoteRef/></w:r>", text)}</w:{kind}>'

    body = p(
        "x", reference("footnote", 7), "y", reference("endnote", 2), reference("footnote", 3, ' w:customMarkFollows="1"'), "*"
    ) + table(["h", "i"], ["z", cell(p("w", reference("footnote", 8)))])  # fmt: skip
    document = read(
        docx_of(
            body,
            footnotes='<w:footnote w:type="separator" w:id="-1"><w:p/></w:footnote>'
            + note("footnote", 3, "* own")
            + note("footnote", 7, "first")
            + note("footnote", 8, "second"),
            endnotes=note("endnote", 2, "end"),
        )
    )
    assert shown(document) == [
        ("paragraph", "x[^1]y[^i]*"),
        ("footnote", "[^1]: first"),
        ("footnote", "[^i]: end"),
        ("footnote", "* own"),
        ("table", "h | i\nz | w[^2]"),
        ("footnote", "[^2]: second"),
    ]


# ── tables ──────────────────────────────────────────────────────────────────────────────────────────────

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


# ── other shapes of the same ────────────────────────────────────────────────────────────────────────────


def test_the_strict_form_reads_the_same() -> None:
    parts = {}
    with zipfile.ZipFile(io.BytesIO(docx_of(p("甲") + table(["a", "b"], ["1", "2"])))) as archive:
        for name in archive.namelist():
            parts[name] = (
                archive.read(name)
                .replace(W.encode(), STRICT_W.encode())
                .replace(
                    b"http://schemas.openxmlformats.org/officeDocument/2006/relationships",
                    b"http://purl.oclc.org/ooxml/officeDocument/relationships",
                )
            )
    assert read(zipped(parts)).canonical_text == "甲\n\na | b\n1 | 2"


def test_parts_that_are_missing_or_outside_are_done_without() -> None:
    body = p("a", '<w:r><w:footnoteReference w:id="4"/></w:r>', props=style("gone")) + item("b", 5)
    assert text_of(body) == "a[^1]\n\nb"


def visible(raw: bytes) -> str:
    """All the text runs of the main part, read on their own."""
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        root = ElementTree.fromstring(archive.read("word/document.xml"))
    return "".join(found.text or "" for found in root.iter(f"{{{W}}}t"))


WORDS = st.text(st.characters(categories=["L", "N", "P", "Zs"], exclude_characters="|"), max_size=12)
GRIDS = st.integers(2, 5).flatmap(
    lambda width: st.lists(st.lists(WORDS, min_size=width, max_size=width), min_size=1, max_size=6)
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(WORDS, GRIDS), max_size=5))
def test_every_visible_character_of_a_random_document(content: list[str | list[list[str]]]) -> None:
    made = docx.Document()
    grids = []
    for one in content:
        if isinstance(one, str):
            made.add_paragraph(one)
        else:
            grids.append(one)
            grid = made.add_table(len(one), len(one[0]))
            for at, row in enumerate(one):
                for column, word in enumerate(row):
                    grid.cell(at, column).text = word
            made.add_paragraph("end")
    raw = saved(made)
    document = _read(raw)
    if document is None:
        assert not visible(raw).strip()
        return
    text = document.canonical_text
    assert re.sub(r"[\s|]", "", text) == re.sub(r"[\s|]", "", visible(raw))
    tables = [b for b in document.blocks if b.kind == "table"]
    filled = [grid for grid in grids if any(word.strip() for row in grid for word in row)]
    assert len(tables) == len(filled)
    for found, grid in zip(tables, filled, strict=True):
        rows = found.span.of(text).split("\n")
        kept = [row for row in grid if any(word.strip() for word in row)]
        assert [[" ".join(c.split()) for c in line.split("|")] for line in rows] == [
            [" ".join(word.split()) for word in row] for row in kept
        ]
    check_chunks(text, Chunker().cut("d", "0123456789abcdef", text, document.blocks, ""))
    assert coverage(archived(document, WORD), chunks_of(document)).whole
    assert _read(raw) == document


def _read(raw: bytes) -> ParsedDocument | None:
    try:
        return read(raw)
    except SourceUnreadable:
        return None


PIECES = st.sampled_from([
    "<w:p>", "</w:p>", "<w:r>", "</w:r>", "<w:t>x</w:t>", "<w:tbl>", "</w:tbl>", "<w:tr>", "</w:tr>", "<w:tc>", "</w:tc>",
    "<w:del>", "</w:del>", "<w:ins>", "</w:ins>", '<w:fldChar w:fldCharType="begin"/>', '<w:fldChar w:fldCharType="end"/>',
    "<w:tcPr><w:gridSpan w:val='99'/></w:tcPr>", "<w:tcPr><w:vMerge/></w:tcPr>", "<w:pPr><w:outlineLvl w:val='1'/></w:pPr>",
    "<w:pPr><w:numPr><w:ilvl w:val='8'/><w:numId w:val='1'/></w:numPr></w:pPr>", "<w:sdt>", "</w:sdt>", "<w:sdtContent>",
    "</w:sdtContent>", "<w:footnoteReference w:id='1'/>", "<w:txbxContent>", "</w:txbxContent>", "<w:pict>", "</w:pict>",
])  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=40))
def test_any_order_of_elements_is_read_or_refused(pieces: list[str]) -> None:
    root = ElementTree.Element("x")
    # Closed as they are opened, so that what is no valid document is valid XML at least.
    stack, out = [root], []
    for piece in pieces:
        name = re.fullmatch(r"<(/?)([\w:]+)>", piece)
        if name is None:
            out.append(piece)
        elif not name[1]:
            stack.append(name[2])  # type: ignore[arg-type]
            out.append(piece)
        elif stack[-1] == name[2]:
            stack.pop()
            out.append(piece)
    out += [f"</{name}>" for name in reversed(stack[1:])]
    document = _read(docx_of("".join(out), numbering=NUMBERING))
    if document is not None:
        assert coverage(archived(document, WORD), chunks_of(document)).whole


def test_the_deepest_nesting_is_refused_and_the_next_is_read() -> None:
    def nested(depth: int) -> str:
        return "<w:sdt><w:sdtContent>" * depth + p("x") + "</w:sdtContent></w:sdt>" * depth

    assert text_of(nested(100)) == "x"
    with pytest.raises(SourceUnreadable, match="too deeply"):
        text_of(nested(200))
