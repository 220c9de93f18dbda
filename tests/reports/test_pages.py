"""A quote says the page it stands on, whatever was cleaned away before it (xberg#636)."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.sources import SourceItem
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse
from tests.fakes.pdf_writer import PdfPage, pdf
from tests.reports.conftest import Ask
from tests.unit.offline.material import check_blocks, check_chunks

LEFT, TOP = 72, 760
SPACES = [" " * 60] * 50
# What a page holds beside its sentence: nothing that reading may count.
KINDS = ["text", "spaces", "empty", "picture", "ligatures", "odd spaces", "hyphens", "running", "twice"]


def page_of(kind: str, number: int) -> PdfPage:
    page, said = PdfPage(), f"The fee of part {number} is {number + 30} euros."
    match kind:
        case "spaces":
            return page.lines(LEFT, TOP, SPACES)
        case "empty":
            return page
        case "picture":
            return page.picture()
        case "ligatures":
            page.text(LEFT, TOP - 200, "\ufb01ve o\ufb01ces, \ufb02oor two")
        case "odd spaces":
            page.lines(LEFT, TOP - 200, SPACES[:20]).text(LEFT, TOP - 30, "a\u3000\u00a0b\u200b")
        case "hyphens":
            page.lines(LEFT, TOP - 200, ["It is main-", "tained by the depart-", "ment of works."])
        case "running":
            page.text(LEFT, 820, "Schedule of fees").text(280, 20, f"{number + 1}")
        case "twice":
            page.text(LEFT, TOP - 100, said)
    return page.text(LEFT, TOP, said)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(KINDS), min_size=1, max_size=9))
def test_pages_fit_the_text_after_cleaning(kinds: list[str]) -> None:
    silent = {"spaces", "empty", "picture"}
    content = pdf([page_of(kind, number) for number, kind in enumerate(kinds)])
    if set(kinds) <= silent:
        return  # refused, see test_pdf.py
    document = parse(SourceItem("d.pdf", content, "application/pdf", "d.pdf"))
    text = document.canonical_text
    check_blocks(text, document.blocks)
    pages = text.split("\f")
    assert len(pages) == len(kinds)
    chunks = Chunker().cut("d", "0123456789abcdef", text, document.blocks, "")
    check_chunks(text, chunks)
    for number, kind in enumerate(kinds):
        said = f"The fee of part {number} is {number + 30} euros."
        assert pages[number].count(said) == (0 if kind in silent else 2 if kind == "twice" else 1)
    for chunk in chunks:
        assert chunk.page is not None and 1 <= chunk.page <= len(kinds)
        assert chunk.text in pages[chunk.page - 1]
        assert "\f" not in text[chunk.span.start : chunk.span.end]


def test_an_answer_says_the_page(asking: Callable[[dict[str, str | bytes]], Ask]) -> None:
    """Three pages, the second full of spaces."""
    content = pdf(
        [
            PdfPage().text(LEFT, TOP, "The library opens at nine."),
            PdfPage().lines(LEFT, TOP, SPACES),
            PdfPage().text(LEFT, TOP, "The parking fee is 30 euros."),
        ]
    )
    answer = asking({"fees.pdf": content})("How much is the parking fee?")
    citations = [citation for claim in answer.claims for citation in claim.citations]
    assert [(c.page, c.quote) for c in citations] == [(3, "The parking fee is 30 euros.")], answer.reason
