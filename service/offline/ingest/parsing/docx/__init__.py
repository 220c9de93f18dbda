"""DOCX: the final form of the text, laid out block by block; the canonical text is that layout.

Left out: headers and footers, comments, hidden and deleted text, the table of contents, macros, pictures and charts.
A document has no pages until it is printed, so a block has none either.
"""

from __future__ import annotations

from service.domain.documents import Block
from service.errors import SourceUnreadable
from service.offline.ingest.parsing.docx.body import Body
from service.offline.ingest.parsing.docx.numbering import Numbering
from service.offline.ingest.parsing.docx.styles import Styles
from service.offline.ingest.parsing.officexml import (
    Element,
    children,
    core_title,
    outside,
    related,
    relations,
    tree,
)
from service.offline.ingest.parsing.zipped import Archive, is_zip, refused

_WANTED = "a Word document (.docx)"


def read(raw: bytes) -> tuple[str, tuple[Block, ...], str]:
    """(canonical text, blocks, title). Raises SourceUnreadable for what is no Word document."""
    if not is_zip(raw):
        raise refused(raw, _WANTED)
    archive = Archive(raw)
    main = related(archive, "", "officeDocument")
    document = tree(archive.read(main)) if main else None
    body = document.find("w:body") if document is not None else None
    if body is None:
        raise _other(archive)
    parts = dict(reversed(relations(archive, main).values()))

    def part(kind: str) -> Element | None:
        return tree(archive.read(parts[kind])) if kind in parts else None

    notes = {
        (kind, note.get("w:id", "")): note
        for kind in ("footnote", "endnote")
        for note in children(part(f"{kind}s"), f"w:{kind}")
        if note.get("w:type", "normal") == "normal"
    }
    targets = {"": outside(archive, main)}
    targets |= {
        kind: outside(archive, parts[f"{kind}s"]) for kind in ("footnote", "endnote") if f"{kind}s" in parts
    }
    reading = Body(Styles(part("styles")), Numbering(part("numbering")), notes, targets)
    reading.read(body)
    return reading.writer.text, tuple(reading.writer.blocks), core_title(archive) or reading.title


def _other(archive: Archive) -> SourceUnreadable:
    if "xl/workbook.xml" in archive.names:
        return SourceUnreadable("it is an Excel workbook; name it .xlsx")
    if "ppt/presentation.xml" in archive.names:
        return SourceUnreadable("it is a PowerPoint presentation; name it .pptx")
    if archive.read("mimetype")[:64].startswith(b"application/vnd.oasis.opendocument.text"):
        return SourceUnreadable("it is an OpenDocument text; save it as .docx")
    return SourceUnreadable(f"it is a ZIP archive, but not {_WANTED}; is its name right?")
