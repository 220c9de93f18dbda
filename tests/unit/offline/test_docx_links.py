"""DOCX: links keep the words that carry them and where they lead; bookmarks name their block."""

from __future__ import annotations

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
