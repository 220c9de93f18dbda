"""PDF: the canonical text is the pages in reading order; every block knows its page."""

from __future__ import annotations

import pytest

from service.domain.sources import ParsedDocument, SourceItem
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse
from tests.fakes.pdf_writer import PdfPage
from tests.fakes.pdf_writer import pdf as written
from tests.unit.offline.material import check_blocks, only, shown

PDF = "application/pdf"
LEFT, TOP = 72, 760
LONG = "The quick brown fox jumps over the lazy dog and runs on to the end of it"


def read(*pages: PdfPage, **more: object) -> ParsedDocument:
    document = refuse_nothing(written(pages, **more))  # type: ignore[arg-type]
    check_blocks(document.canonical_text, document.blocks)
    check_pages(document, len(pages))
    return document


def refuse_nothing(content: bytes) -> ParsedDocument:
    item = SourceItem("d.pdf", content, PDF, "d.pdf")
    document = parse(item)
    assert parse(item) == document
    return document


def check_pages(document: ParsedDocument, pages: int) -> None:
    """Form feeds stand between pages and nowhere else, and every character is in a block."""
    text = document.canonical_text
    assert text.count("\f") == pages - 1
    for block in document.blocks:
        assert "\f" not in block.span.of(text)
        assert block.page == text.count("\f", 0, block.span.start) + 1
    covered = "".join(block.span.of(text) for block in document.blocks)
    assert "".join(covered.split()) == "".join(text.split())


# Pages


def test_a_quote_from_page_three_says_three() -> None:
    """Page 2 is full of spaces (xberg#636): what is cleaned away must not move the pages."""
    blank = PdfPage().lines(LEFT, TOP, [" " * 60] * 50)
    document = read(
        PdfPage().text(LEFT, TOP, "On page one."), blank, PdfPage().text(LEFT, TOP, "The fee is 30 euros.")
    )
    assert document.canonical_text == "On page one.\n\f\n\fThe fee is 30 euros."
    assert [(b.page, b.span.of(document.canonical_text)) for b in document.blocks] == [
        (1, "On page one."),
        (3, "The fee is 30 euros."),
    ]
    chunks = Chunker().cut("d", "0" * 64, document.canonical_text, document.blocks, "")
    assert [(c.page, c.text) for c in chunks] == [(1, "On page one."), (3, "The fee is 30 euros.")]


def test_blocks_end_at_the_page() -> None:
    document = read(
        PdfPage().text(LEFT, TOP, "a sentence that goes"), PdfPage().text(LEFT, TOP, "on over the page")
    )
    assert document.canonical_text == "a sentence that goes\n\fon over the page"
    assert [b.page for b in document.blocks] == [1, 2]


def test_repeated_heads_and_feet_are_kept_but_are_no_content() -> None:
    pages = [
        PdfPage()
        .text(LEFT, 810, "Travel policy, version 3")
        .lines(LEFT, 700, [f"{LONG} {word}.", f"Second line about {word}."])
        .text(280, 30, f"Page {number} of 4")
        for number, word in enumerate(("trains", "hotels", "meals", "taxis"), 1)
    ]
    document = read(*pages)
    metadata = shown(document, "metadata")
    assert [text for _, text in metadata[:2]] == ["Travel policy, version 3", "Page 1 of 4"]
    assert len(metadata) == 8
    chunks = Chunker().cut("d", "0" * 64, document.canonical_text, document.blocks, "")
    assert not any("Page" in c.text or "version" in c.text for c in chunks)
    assert document.canonical_text.count("Travel policy, version 3") == 4


def test_a_head_on_two_pages_is_content() -> None:
    pages = [
        PdfPage().text(LEFT, 810, "Travel policy").text(LEFT, 700, f"About {word}.") for word in ("a", "b")
    ]
    assert not shown(read(*pages), "metadata")


def test_pages_without_text_among_others() -> None:
    document = read(PdfPage().picture(), PdfPage().text(LEFT, TOP, "Here is some."))
    assert [b.page for b in document.blocks] == [2]
    assert document.warnings == (
        "no text, only pictures (a scan?), on page 1 of 2; recognise it first (OCR)",
    )


def test_every_page_of_pictures_alone_is_named_and_no_other() -> None:
    """A picture beside text, a page of spaces and an empty page are no scans."""
    scan, empty = PdfPage().picture(), PdfPage()
    text = PdfPage().picture().text(LEFT, TOP, "Here is some.")
    spaces = PdfPage().lines(LEFT, TOP, [" " * 60] * 5)
    drawn = PdfPage().rule(10, 10, 90, 90)
    document = read(text, scan, scan, drawn, empty, spaces, scan, text, scan)
    assert document.warnings == (
        "no text, only pictures (a scan?), on pages 2-4, 7, 9 of 9; recognise it first (OCR)",
    )
    assert read(text, empty, spaces).warnings == ()


def test_a_page_set_sideways_is_read_as_it_is_seen() -> None:
    page = PdfPage()
    for place, line in enumerate(("first line of text", "second line of text")):
        page.content.append(f"BT /F1 11 Tf 0 1 -1 0 {200 + 13 * place} 100 Tm ({line}) Tj ET")
    assert read(page).canonical_text == "first line of text second line of text"


# Lines


def test_lines_become_paragraphs() -> None:
    page = PdfPage().lines(LEFT, TOP, [LONG, "and some more."]).lines(LEFT, TOP - 60, [LONG, "end."])
    assert read(page).canonical_text == f"{LONG} and some more.\n\n{LONG} end."


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        ([LONG + " infor-", "mation is kept here."], "information is kept"),
        (["He is well-known to all who read of the things in this book, and well-", "known he stays."], "and well-known he"),
        (["The code of this house is a good one, and whoever lives in it has a code-", "house of the code."], "a code-house of"),
        ([LONG + " COVID-", "related leave."], "COVID-related leave"),
        ([LONG + " Anglo-", "Saxon words."], "Anglo-Saxon words"),
        ([LONG + " from 2019-", "2023 only."], "2019-2023 only"),
    ],
)  # fmt: skip
def test_hyphens_at_line_ends(lines: list[str], joined: str) -> None:
    assert joined in read(PdfPage().lines(LEFT, TOP, lines, size=10)).canonical_text


def test_a_soft_hyphen_at_a_line_end_is_undone() -> None:
    page = PdfPage().lines(
        LEFT, TOP, ["Diese Verordnung tritt im gesam\u00ad", "ten Land in Kraft."], font="any"
    )
    assert "gesamten Land" in read(page).canonical_text


def test_ligatures_are_letters() -> None:
    assert read(PdfPage().text(LEFT, TOP, "of\ufb01ce \ufb02oor")).canonical_text == "office floor"
    assert (
        read(PdfPage().text(LEFT, TOP, "a\ufb03x \ufb00 \ufb04 a\ufb06", font="any")).canonical_text
        == "affix ff ffl ast"
    )


def test_han_lines_are_joined_without_a_space() -> None:
    lines = ["本制度适用于公司全体员工，自发布之日起施行并由人", "力资源部负责解释。"]
    assert read(PdfPage().lines(LEFT, TOP, lines)).canonical_text == "".join(lines)


def test_words_of_another_script_keep_their_space_at_a_line_end() -> None:
    lines = ["请使用系统中的命令提示符来运行下面的命令以及其他", "shell 命令并查看结果。"]
    assert "其他 shell 命令" in read(PdfPage().lines(LEFT, TOP, lines)).canonical_text


# Order


COLUMNS = (
    ["Left one starts the text of", "the column and goes on with", "a third line of words, then", "it has the fourth line and", "ends with the fifth."],
    ["Right one goes on with more", "of what was told on the left", "side of the page, at length,", "and it has its fourth line,", "then ends as well."],
)  # fmt: skip


@pytest.mark.parametrize("by_rows", [False, True], ids=["column after column", "row after row"])
def test_columns_are_read_one_after_another(by_rows: bool) -> None:
    page = PdfPage().text(LEFT, 800, "A heading across both columns of this page here", 18, "bold")
    places = [
        (x, 740 - 13.2 * n, line)
        for x, lines in zip((LEFT, 320), COLUMNS, strict=True)
        for n, line in enumerate(lines)
    ]
    for x, y, line in sorted(places, key=lambda p: (-p[1], p[0])) if by_rows else places:
        page.text(x, y, line)
    page.text(LEFT, 600, "A line below both columns, as wide as the page, and somewhat wider than that.")
    text = read(page).canonical_text
    assert text.index("A heading") < text.index("Left one") < text.index("ends with the fifth")
    assert text.index("ends with the fifth") < text.index("Right one") < text.index("then ends as well")
    assert text.index("then ends as well") < text.index("A line below")


def test_a_sentence_goes_on_in_the_next_column() -> None:
    left = [*COLUMNS[0][:4], "ends not with the fifth"]
    page = PdfPage().lines(LEFT, 740, left).lines(320, 740, ["but goes on here.", *COLUMNS[1]])
    assert "not with the fifth but goes on here" in read(page).canonical_text


# Tables


def test_a_ruled_table() -> None:
    page = PdfPage().text(LEFT, 780, "What is paid for travel is told in the table below.")
    page.grid([72, 200, 320], [740, 720, 690, 670])
    page.text(76, 726, "Item", font="bold").text(204, 726, "Most paid", font="bold")
    page.lines(76, 708, ["Hotel in a", "large town"]).text(204, 700, "120 EUR")
    page.text(76, 676, "Meals").text(204, 676, "40 EUR")
    page.text(LEFT, 640, "Below the table.")
    document = read(page)
    table = only(document, "table")
    text = document.canonical_text
    assert table.span.of(text) == "Item | Most paid\nHotel in a large town | 120 EUR\nMeals | 40 EUR"
    assert table.head is not None and table.head.of(text) == "Item | Most paid"
    assert [row.of(text) for row in table.parts] == ["Hotel in a large town | 120 EUR", "Meals | 40 EUR"]
    assert text.index("told in the table") < table.span.start < text.index("Below the table")


def test_a_table_that_goes_on_over_the_page_keeps_its_head_for_search() -> None:
    pages = []
    for number, rows in enumerate(((("Item", "Most paid"), ("Hotel", "120 EUR")), (("Meals", "40 EUR"),))):
        page = PdfPage().grid([72, 200, 320], [740 - 20 * n for n in range(len(rows) + 1)])
        for place, row in enumerate(rows):
            for x, cell in zip((76, 204), row, strict=True):
                page.text(x, 726 - 20 * place, cell, font="bold" if number + place == 0 else "regular")
        pages.append(page)
    pages[0].grid([72, 200, 320], [740, 720, 700])
    # One row of two cells is no table of its own; with a second one it is.
    pages[1].grid([72, 200, 320], [740, 720, 700]).text(76, 706, "Taxi").text(204, 706, "30 EUR")
    document = read(*pages)
    first, second = (b for b in document.blocks if b.kind == "table")
    assert first.head is not None and second.head is None
    assert second.caption == first.head
    chunks = Chunker().cut("d", "0" * 64, document.canonical_text, document.blocks, "")
    assert chunks[-1].search_prefix == "Item | Most paid" and chunks[-1].page == 2


def test_columns_of_numbers_without_rules_are_a_table() -> None:
    page = PdfPage().text(LEFT, 780, "Figures of the last years, in thousands, are these.")
    for n, row in enumerate((("Year", "Sales", "Staff"), ("2021", "400", "12"), ("2022", "450", "13"), ("2023", "500", "15"))):  # fmt: skip
        for x, cell in zip((72, 180, 280), row, strict=True):
            page.text(x, 740 - 16 * n, cell)
    table = only(document := read(page), "table")
    assert table.head is not None and table.head.of(document.canonical_text) == "Year | Sales | Staff"
    assert [row.of(document.canonical_text) for row in table.parts] == [
        "2021 | 400 | 12",
        "2022 | 450 | 13",
        "2023 | 500 | 15",
    ]


def test_merged_cells_are_one() -> None:
    page = PdfPage()
    for y in (740, 720, 700, 680):
        page.rule(72, y, 320, y)
    for x in (72, 320):
        page.rule(x, 680, x, 740)
    page.rule(200, 680, 200, 720)
    page.text(76, 726, "Everything that is paid for meals")
    page.text(76, 706, "Lunch").text(204, 706, "15").text(76, 686, "Dinner").text(204, 686, "25")
    assert only(document := read(page), "table").span.of(document.canonical_text) == (
        "Everything that is paid for meals\nLunch | 15\nDinner | 25"
    )


# Headings, lists, code, notes


def body(page: PdfPage, y: float) -> PdfPage:
    return page.lines(LEFT, y, [LONG + ".", LONG + ".", LONG + "."], size=10)


def test_headings_by_size_and_number() -> None:
    page = PdfPage().text(LEFT, 800, "Handbook", 24, "bold")
    page.text(LEFT, 760, "1. Leave", 16, "bold").text(LEFT, 730, "1.1 Sick leave", 13, "bold")
    body(page, 700).text(LEFT, 640, "2. Travel", 16, "bold")
    body(page, 610)
    document = read(page)
    found = [(b.level, b.span.of(document.canonical_text)) for b in document.blocks if b.kind == "heading"]
    assert found == [(1, "Handbook"), (2, "1. Leave"), (3, "1.1 Sick leave"), (2, "2. Travel")]
    assert document.blocks[3].heading_path == ("Handbook", "1. Leave", "1.1 Sick leave")
    assert document.blocks[-1].heading_path == ("Handbook", "2. Travel")
    assert document.title == "Handbook"


def test_a_bold_line_is_a_heading_and_a_bold_sentence_is_none() -> None:
    page = PdfPage().text(LEFT, 780, "Who may apply", 10, "bold")
    body(page, 750).text(LEFT, 690, "Nobody may apply twice.", 10, "bold")
    assert [text for _, text in shown(read(body(page, 660)), "heading")] == ["Who may apply"]


def test_bookmarks_are_preferred() -> None:
    page = PdfPage().text(LEFT, 800, "Leave of absence", 10)
    body(page, 770).text(LEFT, 700, "A bold label", 10, "bold")
    document = read(body(page, 670), bookmarks=[("Leave of absence", 0)])
    assert shown(document, "heading") == [("heading", "Leave of absence")]


def test_chinese_chapters_are_headings() -> None:
    page = (
        PdfPage().text(LEFT, 780, "第一章 总则", 11).lines(LEFT, 750, ["第一条 本制度适用于公司全体员工。"])
    )
    assert shown(read(page)) == [
        ("heading", "第一章 总则"),
        ("paragraph", "第一条 本制度适用于公司全体员工。"),
    ]


def test_lists_and_their_depth() -> None:
    page = PdfPage().text(LEFT, 780, "The following are paid:")
    page.text(80, 766, "1.").text(
        100, 766, "hotels, which are booked by the office of travel long before, and"
    )
    page.text(100, 753, "paid by it").text(100, 740, "a)").text(120, 740, "in town").text(80, 727, "2.").text(100, 727, "meals")  # fmt: skip
    document = read(page)
    found = [(b.level, b.span.of(document.canonical_text)) for b in document.blocks if b.kind == "list_item"]
    assert found == [
        (1, "1. hotels, which are booked by the office of travel long before, and paid by it"),
        (2, "a) in town"),
        (1, "2. meals"),
    ]


def test_code_keeps_its_lines_and_indents() -> None:
    page = PdfPage().lines(LEFT, 780, [LONG + ":"])
    page.lines(LEFT, 750, ["def f(x):"], 10, "mono").lines(LEFT + 24, 738, ["return x"], 10, "mono")
    assert shown(read(page), "code") == [("code", "def f(x):\n    return x")]


def test_footnotes() -> None:
    page = body(body(PdfPage(), 780), 500).lines(
        LEFT, 80, ["1 As of the year before, and not", "later than that."], 7
    )
    assert shown(read(page), "footnote") == [
        ("footnote", "1 As of the year before, and not later than that.")
    ]


# Titles


@pytest.mark.parametrize(
    ("given_title", "shown_title"),
    [
        ("Travel policy", "Travel policy"),
        ("差旅制度", "差旅制度"),
        ("Microsoft Word - travel.docx", "Its heading"),
        ("travel_final.pdf", "Its heading"),
        ("untitled", "Its heading"),
        ("", "Its heading"),
    ],
)
def test_title(given_title: str, shown_title: str) -> None:
    page = body(PdfPage().text(LEFT, 790, "Its heading", 18, "bold"), 750)
    assert read(page, title=given_title).title == shown_title
