"""DOCX in other shapes: the strict form, parts that are missing, any order of elements."""

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
from tests.unit.offline.docx_material import NUMBERING, item, saved, style, text_of
from tests.unit.offline.material import check_chunks
from tests.unit.offline.office import STRICT_W, WORD, W, docx_of, p, read, table, zipped
from tests.unit.offline.test_coverage import archived, chunks_of, coverage


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
