"""Opening a PDF: what cannot be read is refused with a sentence; what can is given page by page."""

from __future__ import annotations

import ctypes
import logging
import re
import unicodedata
from collections import defaultdict
from threading import Lock
from typing import Any

from service.errors import SourceUnreadable
from service.offline.ingest.parsing.pdf.elements import Page
from service.offline.ingest.parsing.pdf.headings import Outline
from service.offline.ingest.parsing.pdf.page import read_page

LARGEST = 50 * 1024 * 1024  # bytes
MOST_PAGES = 5_000
MOST_CHARACTERS = 20_000_000
_MOST_BOOKMARKS = 20_000
_DEEPEST = 15  # levels of bookmarks
_PASSWORD, _SECURITY = 4, 5  # PDFium's errors
_LOCK = Lock()  # PDFium must not be entered by two threads
_NO_TITLE = re.compile(
    r"microsoft (?:word|powerpoint|excel)\b|untitled|无标题|未命名|document\d*$|slide \d|powerpoint|print\b"
    r"|.*\.(?:docx?|dotx?|pptx?|xlsx?|pdf|odt|rtf|tex|dvi|indd|html?|txt|md|wpd|pages)$|[\w]:\\|/|https?:",
    re.I,
)


def opened(content: bytes) -> tuple[list[Page], Outline, str]:
    """Pages, bookmarks, and the title in its information where it has a sensible one."""
    if len(content) > LARGEST:
        raise SourceUnreadable(f"{len(content)} bytes; at most {LARGEST} of a PDF are read")
    if b"%PDF-" not in content[:1024]:
        raise SourceUnreadable("it is no PDF, whatever its name says")
    tail = content.rstrip(b"\0 \r\n\t")[-2048:]
    if b"startxref" not in tail and b"%%EOF" not in tail:
        raise SourceUnreadable("the PDF is damaged: its end is missing")
    import pypdfium2
    import pypdfium2.raw as raw

    logging.getLogger("pypdfium2").setLevel(logging.ERROR)
    with _LOCK:
        try:
            document = pypdfium2.PdfDocument(content)
        except pypdfium2.PdfiumError as error:
            raise SourceUnreadable(_refusal(error.err_code, b"/Encrypt" in content)) from None
        try:
            pages = _pages(raw, document)
            outline = _outline(raw, document.raw)
            return pages, outline, _title(document)
        finally:
            document.close()


def bare(content: bytes) -> list[str]:
    """The text of each page as the library gives it on its own: the measure of our overhead, and of our pages."""
    import pypdfium2

    with _LOCK, pypdfium2.PdfDocument(content) as document:
        return [page.get_textpage().get_text_range() for page in document]


def _refusal(code: int | None, encrypted: bool) -> str:
    # PDFium may still have the code of an earlier document.
    if encrypted and code == _PASSWORD:
        return "the PDF is encrypted and needs a password; save it without one"
    if encrypted and code == _SECURITY:
        return "the PDF is encrypted in a way that is not read; save it without protection"
    return "the PDF is damaged and cannot be opened"


def _pages(raw: Any, document: Any) -> list[Page]:
    count = len(document)
    if not count:
        raise SourceUnreadable("the PDF is damaged: it has no pages")
    if count > MOST_PAGES:
        raise SourceUnreadable(f"{count} pages; at most {MOST_PAGES} of a PDF are read")
    pages: list[Page] = []
    characters = 0
    for number in range(count):
        handle = raw.FPDF_LoadPage(document.raw, number)
        if not handle:
            raise SourceUnreadable(f"the PDF is damaged: its page {number + 1} cannot be read")
        try:
            page = read_page(raw, document.raw, handle)
        finally:
            raw.FPDF_ClosePage(handle)
        characters += page.characters
        if characters > MOST_CHARACTERS:
            raise SourceUnreadable(f"it has more than {MOST_CHARACTERS} characters")
        pages.append(page)
    if not any(page.words or page.aside for page in pages):
        raise SourceUnreadable(
            "it has no text, only pictures of pages (a scan); recognise its text first (OCR)"
        )
    return pages


def _outline(raw: Any, document: Any) -> Outline:
    found: defaultdict[int, list[tuple[int, str]]] = defaultdict(list)
    seen: set[int] = set()
    stack = [(raw.FPDFBookmark_GetFirstChild(document, None), 1)]
    while stack and len(seen) < _MOST_BOOKMARKS:
        mark, level = stack.pop()
        key = ctypes.cast(mark, ctypes.c_void_p).value
        if not key or key in seen:
            continue
        seen.add(key)
        stack.append((raw.FPDFBookmark_GetNextSibling(document, mark), level))
        if level < _DEEPEST:
            stack.append((raw.FPDFBookmark_GetFirstChild(document, mark), level + 1))
        target = raw.FPDFBookmark_GetDest(document, mark)
        page = raw.FPDFDest_GetDestPageIndex(document, target) if target else -1
        if page >= 0:
            found[page].append((level, _bookmark_title(raw, mark)))
    return Outline(dict(found))


def _bookmark_title(raw: Any, mark: Any) -> str:
    size = min(raw.FPDFBookmark_GetTitle(mark, None, 0), 4096)
    buffer = ctypes.create_string_buffer(size + 2)
    raw.FPDFBookmark_GetTitle(mark, buffer, size)
    return buffer.raw[: max(0, size - 2)].decode("utf-16-le", "replace")


def _title(document: Any) -> str:
    given = document.get_metadata_value("Title")
    shown = "".join(c for c in unicodedata.normalize("NFC", given) if unicodedata.category(c)[0] != "C")
    title = " ".join(shown.split())
    sensible = 2 < len(title) <= 300 and any(c.isalpha() for c in title)
    return title if sensible and not _NO_TITLE.match(title) else ""
