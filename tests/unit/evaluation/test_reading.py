"""Whole trees of documents are read, cut and checked; what is wrong is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.evaluation.reading import Reading, read_trees
from service.offline.ingest.parsing import pdf
from tests.fakes.pdf_writer import PdfPage
from tests.fakes.pdf_writer import pdf as written

SAID = [
    "The library opens at nine in the morning.",
    "The parking fee is 30 euros for a day.",
    "Ask the desk.",
]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    pages = [PdfPage().text(72, 760, one) for one in SAID]
    files = {
        "a.html": b"<h1>A</h1><p>See <a href='b.html#s'>B</a>, <a href='b.html#t'>T</a>, <a href='c.html'>C</a>.</p>",
        "b.html": b"<h1 id=s>B</h1><p>text</p>",
        "d.md": b"# D\n\n[A](a.html) [out](https://example.org/)\n",
        "e.pdf": written(pages),
        "f.txt": b"",
    }
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path


def told_of(tree: Path) -> Reading:
    return read_trees([tree], lambda *_: None)


def test_a_tree_is_told_in_full(tree: Path) -> None:
    told = told_of(tree)
    assert (told.read, told.refused) == (4, [("f.txt", "it is empty")])
    assert told.links == {"linksResolved": 2, "linksStale": 1, "linksBroken": 1, "linksOutside": 1}
    assert set(told.overhead) == {"text/html", "text/markdown", "application/pdf"}
    assert (told.covered_share, told.lost, told.broken_spans) == (1.0, 0, [])
    # The third is too short to tell of a page.
    assert (told.placed, told.displaced) == (2, [])


def test_a_sentence_on_another_page_is_named(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = pdf.bare((tree / "e.pdf").read_bytes())
    assert [page.strip() for page in pages] == SAID
    monkeypatch.setattr(pdf, "bare", lambda _: [pages[0], pages[2], pages[1]])
    told = told_of(tree)
    assert (told.placed, told.displaced) == (1, [("e.pdf", 2, SAID[1])])
