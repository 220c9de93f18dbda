"""What is no readable Office file is refused with a sentence, and nothing else is ever raised."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile

import docx
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.errors import SourceUnreadable
from service.offline.ingest.parsing import zipped as checks
from tests.unit.offline.office import EXCEL, ODS, OLD_EXCEL, WORD, docx_of, p, read, xlsx_of, zipped

ALL = [WORD, EXCEL, OLD_EXCEL, ODS]
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(504)
ONE_CELL = "<sheetData><row><c><v>1</v></c></row></sheetData>"


def reason(raw: bytes, media_type: str) -> str:
    with pytest.raises(SourceUnreadable) as refused:
        read(raw, media_type)
    return refused.value.message


@pytest.mark.parametrize("media_type", ALL)
@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (OLE + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (OLE + "WordDocument".encode("utf-16-le"), r"before 2007 \(.doc\); save it as .docx"),
        (b"%PDF-1.7\n", "a PDF, not .*; name it .pdf"),
        (b"\xef\xbb\xbf<html><table>", "HTML, not .*; name it .html"),
        (b"{\\rtf1", "rich text"),
        (b"a,b\n1,2\n", "is its name right"),
        (b"", "is its name right"),
        (b"PK\x03\x04 cut off", "damaged or cut off"),
        (zipped({"a": "b"}), "ZIP archive, but no"),
        (zipped({"xl/workbook.bin": "b"}), "xlsb|ZIP archive"),
    ],
)
def test_what_is_something_else_is_named(raw: bytes, said: str, media_type: str) -> None:
    message = reason(raw, media_type)
    with pytest.raises(AssertionError, match=said):
        raise AssertionError(message)


def test_the_two_are_not_taken_for_each_other() -> None:
    assert "name it .xlsx" in reason(xlsx_of(ONE_CELL), WORD)
    assert "name it .docx" in reason(docx_of(p("a")), EXCEL)
    assert "name it .pptx" in reason(zipped({"ppt/presentation.xml": "<a/>"}), WORD)
    assert "save it as .docx" in reason(zipped({"mimetype": "application/vnd.oasis.opendocument.text"}), WORD)


def test_the_bytes_say_which_spreadsheet_it_is() -> None:
    assert read(xlsx_of(ONE_CELL), OLD_EXCEL) == read(xlsx_of(ONE_CELL), EXCEL)


def test_macros_are_no_reason_to_refuse() -> None:
    def with_macros(raw: bytes) -> bytes:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
        return zipped(parts | {"word/vbaProject.bin": b"\x00", "xl/vbaProject.bin": b"\x00"})

    assert read(with_macros(docx_of(p("a")))).canonical_text == "a"
    assert read(with_macros(xlsx_of(ONE_CELL)), EXCEL).canonical_text == "S1\n\n1"


@pytest.mark.parametrize(
    "declared",
    [
        '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>',
        '<!DOCTYPE x SYSTEM "http://127.0.0.1:9/x.dtd">',
    ],
)
@pytest.mark.parametrize(("raw", "media_type"), [(docx_of(p("a")), WORD), (xlsx_of(ONE_CELL), EXCEL)])
def test_declared_entities_are_refused(raw: bytes, media_type: str, declared: str) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    for name in parts:
        changed = dict(parts) | {name: declared.encode() + bytes(parts[name])}  # type: ignore[arg-type]
        if not name.startswith("word/_rels/"):
            assert "document type or entities" in reason(zipped(changed), media_type)


# ── bombs ───────────────────────────────────────────────────────────────────────────────────────────────


def test_what_unpacks_to_too_much_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = zipped({"word/document.xml": bytes(9 * 1024**2), "xl/workbook.xml": b""})
    for media_type in ALL:
        assert "more than 200 times its size" in reason(bomb, media_type)
    monkeypatch.setattr(checks, "MOST_BYTES", 100)
    assert "unpacks to" in reason(docx_of(p("a")), WORD)
    monkeypatch.setattr(checks, "MOST_ENTRIES", 1)
    assert "files inside" in reason(docx_of(p("a")), WORD)


def test_a_size_that_lies_gives_no_more_than_it_says() -> None:
    raw = bytearray(zipped({"word/document.xml": bytes(1024**2)}))
    at = raw.rindex(b"PK\x01\x02")
    struct.pack_into("<I", raw, at + 24, 10)  # its unpacked size in the directory
    archive = checks.Archive(bytes(raw))
    with pytest.raises(SourceUnreadable, match="damaged"):
        archive.read("word/document.xml")


def test_an_entry_with_a_password_is_refused() -> None:
    raw = bytearray(docx_of(p("a")))
    struct.pack_into("<H", raw, raw.rindex(b"PK\x01\x02") + 8, 1)
    assert "without a password" in reason(bytes(raw), WORD)


def test_other_ways_of_packing_are_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("word/document.xml", "<a/>")
    assert "packed in a way" in reason(buffer.getvalue(), WORD)


# ── whatever comes in ───────────────────────────────────────────────────────────────────────────────────


def saved(made: object) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()


WHOLE = [docx_of(p("a") + p("b")), xlsx_of(ONE_CELL), saved(docx.Document()), saved(openpyxl.Workbook())]


def read_or_refused(raw: bytes) -> None:
    for media_type in ALL:
        with contextlib.suppress(SourceUnreadable):
            read(raw, media_type)


@settings(max_examples=100, deadline=None)
@given(st.sampled_from([b"PK", b"PK\x03\x04", b"PK\x05\x06" + bytes(18), OLE]), st.binary(max_size=200))
def test_any_bytes(start: bytes, rest: bytes) -> None:
    read_or_refused(start + rest)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WHOLE), st.data())
def test_any_damage(raw: bytes, data: st.DataObject) -> None:
    if data.draw(st.booleans()):
        read_or_refused(raw[: data.draw(st.integers(2, len(raw)))])
    changed = bytearray(raw)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    read_or_refused(bytes(changed))


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(WHOLE[:2]), st.data())
def test_any_damage_inside_its_parts(raw: bytes, data: st.DataObject) -> None:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        parts: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    name = data.draw(st.sampled_from(sorted(parts)))
    changed = bytearray(parts[name])  # type: ignore[arg-type]
    at = data.draw(st.integers(0, len(changed) - 1))
    changed[at : at + data.draw(st.integers(0, 6))] = data.draw(
        st.sampled_from([b"", b"9", b"-", b"A", b"\xff", b"/>", b"&#0;"])
    )
    read_or_refused(zipped(parts | {name: bytes(changed)}))
