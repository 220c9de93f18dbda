"""PDF: what is refused says why, and bytes of any kind are read or refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import SourceUnreadable
from service.offline.ingest.parsing import pdf
from tests.fakes.pdf_writer import LOCKED, PdfPage
from tests.fakes.pdf_writer import pdf as written
from tests.unit.offline.material import check_blocks
from tests.unit.offline.test_pdf import LEFT, TOP, body


def refusal(content: bytes) -> str:
    with pytest.raises(SourceUnreadable) as refused:
        pdf.read(content)
    assert "\n" not in refused.value.message and len(refused.value.message) < 200
    return refused.value.message


def test_refusals_say_why() -> None:
    page = PdfPage().text(LEFT, TOP, "Some text.")
    whole = written([page])
    assert "password" in refusal(written([page], encrypt=LOCKED))
    assert "end is missing" in refusal(whole[: len(whole) // 2])
    assert "scan" in refusal(written([PdfPage().picture(), PdfPage().picture()]))
    assert "damaged" in refusal(written([]))
    assert "damaged" in refusal(b"%PDF-1.7\n%%EOF\n")
    assert "no PDF" in refusal(b"")
    assert "no PDF" in refusal(b"PK\x03\x04 a word document")


def test_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    content = written([PdfPage().text(LEFT, TOP, "Some text.")] * 3)
    for name, most, told in (("MOST_PAGES", 2, "3 pages"), ("MOST_CHARACTERS", 20, "more than 20 characters"), ("LARGEST", 100, "bytes")):  # fmt: skip
        with monkeypatch.context() as patched:
            patched.setattr(pdf.opening, name, most)
            assert told in refusal(content)


def _read_or_refused(content: bytes) -> None:
    try:
        text, blocks, _, _ = pdf.read(content)
    except SourceUnreadable:
        return
    check_blocks(text, blocks)


@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_read_or_refused(rest: bytes, ended: bool) -> None:
    _read_or_refused(b"%PDF-1.7\n" + rest + (b"\nstartxref\n9\n%%EOF" if ended else b""))


WHOLE = written([body(PdfPage().text(LEFT, 790, "A heading", 18, "bold").grid([72, 90, 120], [300, 280, 260]), 750)], bookmarks=[("A", 0)])  # fmt: skip


@given(st.lists(st.tuples(st.integers(9, len(WHOLE) - 1), st.binary(min_size=1, max_size=6)), max_size=8))
def test_a_file_with_wrong_bytes_is_read_or_refused(changes: list[tuple[int, bytes]]) -> None:
    damaged = bytearray(WHOLE)
    for place, wrong in changes:
        damaged[place : place + len(wrong)] = wrong
    _read_or_refused(bytes(damaged))
