"""Parsing: one reader a format, all behind the same block model.

Takes: a source item. Returns: canonical text with blocks, the document's own metadata.
Called by: `offline/story.py`.
Never does: fetch anything, execute anything, or change a text for the sake of search.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from service.domain.documents import Block
from service.domain.sources import Front, ParsedDocument, SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import docx, html, markdown, pdf, plain, sheets
from service.offline.ingest.parsing.decoding import Decoded, decode
from service.text.language import language_of
from service.text.wellformed import storable


@dataclass(frozen=True, slots=True)
class Reader:
    """A format's reader. `form` rises when the text or the blocks it makes of the same bytes may change: the
    archive keeps what it has of a documentVersion, so another reading is another version."""

    name: str
    form: int
    read: Callable[[SourceItem], Read]
    # What the document says of itself, read without its body; None where the format has no such place.
    front: Callable[[SourceItem], Mapping[str, Any]] | None = None

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.form}"


@dataclass(frozen=True, slots=True)
class Read:
    """What a reader makes of decoded text."""

    canonical_text: str
    blocks: tuple[Block, ...]
    title: str = ""
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    encoding: str = ""  # of a format that is text: what it was read in, and how sure that is
    confidence: float = 1.0
    warnings: tuple[str, ...] = ()


def _decoded(item: SourceItem) -> Decoded:
    return Decoded(item.text, "utf-8", 1.0) if item.text is not None else decode(item.raw)


def _read_markdown(item: SourceItem) -> Read:
    found = _decoded(item)
    blocks, title, front_matter = markdown.read(found.text)
    return Read(found.text, blocks, title, front_matter, found.encoding, found.confidence)


def _front_of_markdown(item: SourceItem) -> Mapping[str, Any]:
    return markdown.front_matter(_decoded(item).text)


def _read_html(item: SourceItem) -> Read:
    found = _decoded(item)
    canonical, blocks, title = html.read(found.text)
    return Read(canonical, blocks, title, encoding=found.encoding, confidence=found.confidence)


def _read_pdf(item: SourceItem) -> Read:
    canonical, blocks, title, warnings = pdf.read(item.raw)
    return Read(canonical, blocks, title, warnings=warnings)


def _read_docx(item: SourceItem) -> Read:
    canonical, blocks, title = docx.read(item.raw)
    return Read(canonical, blocks, title)


def _read_sheets(item: SourceItem) -> Read:
    canonical, blocks, title = sheets.read(item.raw)
    return Read(canonical, blocks, title)


def _read_plain(item: SourceItem) -> Read:
    found = _decoded(item)
    return Read(found.text, plain.read(found.text), encoding=found.encoding, confidence=found.confidence)


READERS = {
    "text/markdown": Reader("markdown", 2, _read_markdown, _front_of_markdown),
    "text/html": Reader("html", 4, _read_html),
    "text/plain": Reader("plain", 1, _read_plain),
    "application/pdf": Reader("pdf", 2, _read_pdf),
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": Reader("docx", 3, _read_docx),
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": Reader("sheets", 1, _read_sheets),
    "application/vnd.ms-excel": Reader("sheets", 1, _read_sheets),
    "application/vnd.oasis.opendocument.spreadsheet": Reader("sheets", 1, _read_sheets),
    "application/x-attest-document": Reader("json", 1, _read_plain),
}


LONGEST_ID = 1024  # characters; both engines take that many bytes four times over


def parser_versions() -> dict[str, str]:
    """Media type → reader identity: part of every corpusVersion."""
    return {media_type: reader.identity for media_type, reader in READERS.items()}


def document_version(raw: bytes, form: int) -> str:
    """sha256 of the raw bytes; a reader that was changed appends its form, so that one version always names
    exactly one canonical text with its blocks."""
    digest = hashlib.sha256(raw).hexdigest()
    return digest if form == 1 else f"{digest}.{form}"


def look(item: SourceItem) -> Front:
    """Identity and front matter, without reading the body: enough to tell whether anything changed.

    Raises SourceUnreadable, as `parse` of the same item would.
    """
    reader = _reader(item)
    own = reader.front(item) if reader.front is not None else {}
    return Front(_id(item, own), document_version(item.raw, reader.form), own)


def parse(item: SourceItem) -> ParsedDocument:
    """Raises SourceUnreadable with a sentence when the item cannot be read or holds no text."""
    reader = _reader(item)
    read = reader.read(item)
    if not read.canonical_text.strip():
        raise SourceUnreadable("it holds no text")
    own = read.front_matter
    searched = any(block.kind != "metadata" for block in read.blocks)
    bare = () if searched else ("nothing of it is searched: it has front matter or comments only",)
    return ParsedDocument(
        document_id=_id(item, own),
        version=document_version(item.raw, reader.form),
        raw_sha256=hashlib.sha256(item.raw).hexdigest(),
        canonical_text=read.canonical_text,
        blocks=read.blocks,
        title=item.title or _word(own.get("title")) or read.title,
        locale=item.locale or _word(own.get("locale")) or _language_of_prose(read),
        parser_version=reader.identity,
        front_matter=own,
        encoding=read.encoding,
        confidence=read.confidence,
        warnings=(*read.warnings, *bare),
    )


def _reader(item: SourceItem) -> Reader:
    reader = READERS.get(item.media_type)
    if reader is None:
        raise SourceUnreadable(f"the format {item.media_type} is not read")
    return reader


def _id(item: SourceItem, own: Mapping[str, Any]) -> str:
    own_id = own.get("id")
    named = unicodedata.normalize("NFC", own_id).strip() if isinstance(own_id, str) else ""
    if len(named or item.document_id) > LONGEST_ID:
        raise SourceUnreadable(f"its id is longer than {LONGEST_ID} characters")
    return named or item.document_id


def _word(value: object) -> str:
    """A front matter value that is to be shown as it stands: text, a number or a date. Anything else says nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float | date):
        return ""
    text = str(value)
    return text if storable(text) else ""


def _language_of_prose(read: Read) -> str:
    """Code, logs and tables of names look English in every language; a document is in that of its sentences."""
    text = read.canonical_text
    found = language_of(b.span.of(text) for b in read.blocks if b.kind not in ("code", "table"))
    return found if found != "other" else language_of([text])
