"""PDF: links keep the words that carry them and where they lead; a page can be linked to."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.documents import ArchivedDocument, Link
from service.domain.sources import ParsedDocument
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.links import linked
from tests.fakes.pdf_writer import PdfPage
from tests.unit.offline.test_pdf import PDF, read

EM = 12  # points; the width of a Han character, all others of the test font are as wide


def links_of(document: ParsedDocument) -> list[tuple[str, str]]:
    return [
        (link.span.of(document.canonical_text), link.href)
        for block in document.blocks
        for link in block.links
    ]


def test_links_to_addresses_files_and_pages() -> None:
    first = PdfPage()
    first.text(72, 760, "Read the guide of the site before you begin with it.", font="any", size=EM)
    first.link(72 + 9 * EM, 756, 72 + 14 * EM, 772, "https://site.example/guide")
    first.text(72, 700, "详见备份手册的说明和附录。", size=EM)
    first.link(72 + 2 * EM, 696, 72 + 6 * EM, 712, "backup.pdf").link(72 + 10 * EM, 696, 72 + 12 * EM, 712, 1)
    first.text(72, 640, "Nothing here is said of that.").link(72, 300, 500, 320, "javascript:alert(1)")
    document = read(first, PdfPage().text(72, 760, "附录的正文。", size=EM))
    assert links_of(document) == [
        ("guide", "https://site.example/guide"),
        ("备份手册", "backup.pdf"),
        ("附录", "#page=2"),
    ]


def test_a_link_goes_on_over_the_line_and_a_cell_has_its_own() -> None:
    page = PdfPage()
    page.lines(72, 760, ["See the annual exam-", "ple report of it"], EM, "any")
    page.link(72 + 8 * EM, 757, 72 + 20 * EM, 770, "https://a.example/")
    page.link(72, 742, 72 + 10 * EM, 756, "https://a.example/")
    xs, ys = (72, 172, 272), (650, 630, 610)
    page.grid(xs, ys)
    for row, (left, right) in enumerate([("Name", "Where"), ("Pay", "pay rules")]):
        page.text(76, 636 - 20 * row, left, 10, "mono").text(176, 636 - 20 * row, right, 10, "mono")
    page.link(176, 612, 194, 626, "pay.pdf")
    document = read(page)
    assert "annual example report" in document.canonical_text
    assert links_of(document) == [("annual example report", "https://a.example/"), ("pay", "pay.pdf")]


def test_they_are_resolved_among_the_documents_of_a_build() -> None:
    manual = read(PdfPage().text(72, 760, "One thing."), PdfPage().text(72, 760, "Another thing."))
    start = read(
        PdfPage().text(72, 760, "alpha beta gamma", size=EM, font="any")
        .link(72, 756, 72 + 5 * EM, 772, "manual.pdf#page=2")
        .link(72 + 6 * EM, 756, 72 + 10 * EM, 772, "manual.pdf#page=9")
        .link(72 + 11 * EM, 756, 72 + 16 * EM, 772, 0)
    )  # fmt: skip
    documents = []
    for name, one in (("a/start.pdf", start), ("a/manual.pdf", manual)):
        archived = ArchivedDocument(
            name, "v", "", one.canonical_text, "", PDF, "", "", "en", "", one.blocks, ""
        )
        documents.append((archived, Chunker().cut(name, "v", one.canonical_text, one.blocks, "")))
    assert [link for chunk in linked(documents)[0] for link in chunk.links] == [
        Link("a/manual.pdf", "v", "page=2", "resolved"),
        Link("a/manual.pdf", "v", "page=9", "stale"),
        Link("a/start.pdf", "v", "page=1", "resolved"),
    ]


@settings(max_examples=40, deadline=None)
@given(st.text("甲乙丙丁", min_size=2, max_size=30), st.data())
def test_a_link_has_the_characters_it_covers(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    page = PdfPage().text(72, 760, text, size=EM)
    page.link(72 + start * EM + 1, 757, 72 + end * EM - 1, 771, "https://x.example/")
    assert links_of(read(page)) == [(text[start:end], "https://x.example/")]
