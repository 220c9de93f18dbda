"""Plain text: paragraphs between blank lines, pages between form feeds."""

from __future__ import annotations

from service.offline.ingest.parsing import plain
from tests.unit.offline.material import PLAIN, parsed, shown


def pages(text: str) -> list[tuple[str, int | None]]:
    return [(block.span.of(text), block.page) for block in plain.read(text)]


def test_paragraphs_end_at_blank_lines() -> None:
    source = "\n\n  first\n  line\n \t \nsecond\n\n\n\nthird  \n"
    document = parsed(source, PLAIN)
    assert document.canonical_text == source
    assert shown(document) == [
        ("paragraph", "first\n  line"),
        ("paragraph", "second"),
        ("paragraph", "third"),
    ]


def test_pages_are_counted_from_one_where_there_are_form_feeds() -> None:
    assert pages("a\fb\n\nc\f\fd\f") == [("a", 1), ("b", 2), ("c", 2), ("d", 4)]
    assert pages("a\n\fb") == [("a", 1), ("b", 2)]
    assert pages("a\n\nb") == [("a", None), ("b", None)]


def test_a_paragraph_never_runs_over_a_page() -> None:
    assert pages("one\ftwo") == [("one", 1), ("two", 2)]


def test_markup_means_nothing() -> None:
    assert shown(parsed("# a\n\n<b>x</b>\n", PLAIN)) == [("paragraph", "# a"), ("paragraph", "<b>x</b>")]


def test_nothing_gives_nothing() -> None:
    assert plain.read("") == plain.read(" \n\f\n ") == ()
