"""DOCX: links keep the words that carry them and where they lead; bookmarks name their block."""

from __future__ import annotations

from html import escape

import docx
import pytest
from docx.opc.constants import RELATIONSHIP_TYPE
from docx.oxml import parse_xml
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.documents import ArchivedDocument, Link
from service.domain.sources import ParsedDocument
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.links import linked
from tests.unit.offline.docx_material import NUMBERING, saved
from tests.unit.offline.office import W, docx_of, p, r, read

NUMBERED = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>'


def anchored(text: str, anchor: str) -> str:
    return f'<w:hyperlink w:anchor="{anchor}">{r(text)}</w:hyperlink>'


def links_of(document: ParsedDocument) -> list[tuple[str, str]]:
    return [
        (link.span.of(document.canonical_text), link.href)
        for block in document.blocks
        for link in block.links
    ]


def test_links_stand_where_their_words_are() -> None:
    body = (
        p("  see ", anchored(" the \tfirst ", "a"), "and ", anchored("second", "b"))
        + p("Title  of ", anchored("part  one", "c"), props='<w:outlineLvl w:val="0"/>')
        + p("item ", anchored("x", "d"), props=NUMBERED)
        + p("joined ", anchored("to", "e"), " ", props="<w:rPr><w:del w:id='1'/></w:rPr>")
        + p("the ", anchored("next", "f"), anchored(" ", "g"))
        + p(f"<w:del w:id='2'>{anchored('gone', 'h')}</w:del>", "x", f'<w:hyperlink r:id="none">{r("y")}</w:hyperlink>')
    ).replace("<w:hyperlink r:id", f'<w:hyperlink xmlns:r="{W.replace("wordprocessingml/2006/main", "officeDocument/2006/relationships")}" r:id')  # fmt: skip
    document = read(docx_of(body, numbering=NUMBERING))
    assert document.canonical_text.split("\n\n")[2] == "1. item x"
    assert links_of(document) == [
        ("the \tfirst", "#a"), ("second", "#b"), ("part one", "#c"), ("x", "#d"), ("to", "#e"), ("next", "#f"),
    ]  # fmt: skip


def test_addresses_and_files_are_resolved_among_the_documents_of_a_build() -> None:
    made = docx.Document()
    for words, target in (
        ("the policy", "pay%20policy.docx"),
        ("a site", "https://other.example/"),
        ("old", "old.docx"),
    ):
        paragraph = made.add_paragraph("See ")
        found = made.part.relate_to(target, RELATIONSHIP_TYPE.HYPERLINK, is_external=True)
        paragraph._p.append(parse_xml(
            f'<w:hyperlink xmlns:w="{W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" '
            f'r:id="{found}" w:anchor="Rules"><w:r><w:t>{words}</w:t></w:r></w:hyperlink>'
        ))  # fmt: skip
    start = read(saved(made))
    assert links_of(start)[0] == ("the policy", "pay%20policy.docx#Rules")
    bookmark = '<w:bookmarkStart w:id="0" w:name="Rules"/><w:bookmarkEnd w:id="0"/>'
    policy = read(docx_of(p("first") + p(bookmark) + p("second")))
    assert [block.ids for block in policy.blocks] == [(), ("Rules",)]
    documents = []
    for name, one in (("hr/start.docx", start), ("hr/pay policy.docx", policy)):
        archived = ArchivedDocument(
            name, "v", "", one.canonical_text, "", "docx", "", "", "en", "", one.blocks, ""
        )
        documents.append((archived, Chunker().cut(name, "v", one.canonical_text, one.blocks, "")))
    assert [link for chunk in linked(documents)[0] for link in chunk.links] == [
        Link("hr/pay policy.docx", "v", "Rules", "resolved"),
        Link("https://other.example/#Rules", None, "Rules", "outside"),
        Link("old.docx#Rules", None, "Rules", "broken"),
    ]


@pytest.mark.parametrize("props", ["", NUMBERED, '<w:outlineLvl w:val="1"/>'])
def test_every_link_is_of_its_own_words(props: str) -> None:
    words = st.text(" \tab甲.", max_size=6)

    @settings(max_examples=100, deadline=None)
    @given(st.lists(st.tuples(words, st.booleans()), min_size=1, max_size=8))
    def holds(runs: list[tuple[str, bool]]) -> None:
        pieces = [anchored(text, f"n{at}") if is_link else r(text) for at, (text, is_link) in enumerate(runs)]
        document = read(docx_of(p(*pieces, props=props) + p("end"), numbering=NUMBERING))
        expected = [
            (text.split(), f"#n{at}") for at, (text, is_link) in enumerate(runs) if is_link and text.strip()
        ]
        assert [(words.split(), href) for words, href in links_of(document)] == expected

    holds()


def field(code: str, *result: str) -> str:
    """A field as Word writes it: its code may be parted over runs."""
    half = len(code) // 2

    def mark(kind: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>'

    parts = "".join(
        f"<w:r><w:instrText>{escape(part)}</w:instrText></w:r>" for part in (code[:half], code[half:])
    )
    return mark("begin") + parts + mark("separate") + "".join(map(r, result)) + mark("end")


def cell(*inside: str, props: str = "") -> str:
    return f"<w:tc><w:tcPr>{props}</w:tcPr>{''.join(inside)}</w:tc>"


def test_links_in_cells_and_in_tables_within() -> None:
    inner = f"<w:tbl><w:tr>{cell(p('in ', anchored('deep', 'd')))}{cell(p('z'))}</w:tr></w:tbl>"
    rows = (
        cell(p("Name"), props='<w:gridSpan w:val="2"/>'),
        cell(p("see  ", anchored("rule  one", "a")), p(anchored("two", "b"))) + cell(p("x"), inner, p("")),
        cell(p(anchored("both", "c")), props='<w:gridSpan w:val="2"/>'),
    )
    document = read(docx_of("<w:tbl>" + "".join(f"<w:tr>{row}</w:tr>" for row in rows) + "</w:tbl>"))
    assert document.canonical_text == "Name | Name\nsee rule one two | x in deep, z\nboth | both"
    assert links_of(document) == [("rule one", "#a"), ("two", "#b"), ("deep", "#d"), ("both", "#c")]
    places = [link.span.start for block in document.blocks for link in block.links]
    assert places == [document.canonical_text.index(word) for word in ("rule", "two", "deep", "both")]


def test_links_in_notes() -> None:
    mark = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    words = p("after ", anchored("this", "a"), " ", field('HYPERLINK "b.docx"', "that"))
    note = f'<w:footnote w:id="2">{words}</w:footnote>'
    document = read(docx_of(p("Said", mark, "."), footnotes=note))
    assert links_of(document) == [("this", "#a"), ("that", "b.docx")]
    assert document.blocks[-1].kind == "footnote"


@pytest.mark.parametrize(
    ("code", "leads"),
    [
        ('HYPERLINK "https://a.example/x?y=1"', "https://a.example/x?y=1"),
        (r' HYPERLINK  "a b.docx" \l "Part" \o "a tip" \t "_blank" ', "a b.docx#Part"),
        (r'HYPERLINK \l "Part"', "#Part"),
        (r"hyperlink https://a.example/ \h", "https://a.example/"),
        (r'HYPERLINK "..\\old\\rules.docx"', "../old/rules.docx"),
        (r"REF _Ref12 \h \* MERGEFORMAT", "#_Ref12"),
        (r"PAGEREF _Ref12 \h", "#_Ref12"),
        ("REF _Ref12", ""), ('HYPERLINK "javascript:go()"', ""), ("DATE", ""), ("HYPERLINK", ""), ("", ""),
    ],
)  # fmt: skip
def test_where_fields_lead(code: str, leads: str) -> None:
    expected = [("the words", leads)] if leads else []
    told = read(docx_of(p("see ", field(code, "the ", "words"), " here")))
    assert (told.canonical_text, links_of(told)) == ("see the words here", expected)
    simple = read(docx_of(p("see ", f'<w:fldSimple w:instr="{escape(code)}">{r("the words")}</w:fldSimple>')))
    assert links_of(simple) == expected


def test_a_field_over_paragraphs_and_one_that_never_ends() -> None:
    code = field('HYPERLINK \\l "a"', "first")
    end = '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    document = read(
        docx_of(p(code.removesuffix(end)) + p("second", end, "plain") + p(code.removesuffix(end)))
    )
    assert links_of(document) == [("first", "#a"), ("second", "#a"), ("first", "#a")]
