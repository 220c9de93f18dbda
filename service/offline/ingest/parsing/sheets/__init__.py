"""XLSX, XLSM, XLS and ODS: a heading a sheet, and under it the tables with their titles, heads and rows.

What is hidden is read too, and told at the end of the heading path: "hidden sheet", "hidden rows", "hidden columns C".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from service.domain.documents import Block
from service.errors import SourceUnreadable
from service.offline.ingest.parsing.officexml import core_title, tree
from service.offline.ingest.parsing.sheets import grid, ods, tabling, xls, xlsx
from service.offline.ingest.parsing.writing import Writer
from service.offline.ingest.parsing.zipped import Archive, is_encrypted_office, is_ole, is_zip, refused

_UNNAMED = re.compile(r"(?:sheet|工作表|feuil|tabelle|hoja|s)\s*\d*", re.I)
_WANTED = "a spreadsheet (.xlsx, .xls, .ods)"


def read(raw: bytes) -> tuple[str, tuple[Block, ...], str]:
    """(canonical text, blocks, title): the title in its properties, else the first sheet's name. Which of the formats
    it is, the bytes say."""
    writer, budget = Writer(), grid.Budget()
    for count, sheet in enumerate(_sheets(raw, grid.Budget()), 1):
        if count > grid.MOST_SHEETS:
            raise SourceUnreadable(f"it has more than {grid.MOST_SHEETS} sheets; split it")
        tabling.write(sheet, writer, budget)
    title = core_title(Archive(raw)) if is_zip(raw) else ""
    return writer.text, tuple(writer.blocks), title or _name_of_first(writer)


def _name_of_first(writer: Writer) -> str:
    name = writer.blocks[0].span.of(writer.text) if writer.blocks else ""
    return "" if _UNNAMED.fullmatch(name) else name


def _sheets(raw: bytes, budget: grid.Budget) -> Iterable[grid.Sheet]:
    """The sheets one after another: only one has to be in memory. `budget` is of cells that hold something."""
    if is_zip(raw):
        return _zipped(Archive(raw), budget)
    if is_ole(raw) and not is_encrypted_office(raw) and "WordDocument".encode("utf-16-le") not in raw:
        return xls.read(raw, budget)
    raise refused(raw, _WANTED)


def _zipped(archive: Archive, budget: grid.Budget) -> Iterator[grid.Sheet]:
    part = xlsx.main_part(archive)
    root = tree(archive.read(part)) if part else None
    if root is not None and xlsx.is_workbook(root):
        workbook = xlsx.Workbook(archive, part, root)
        for name, sheet_part, hidden in workbook.sheets:
            yield workbook.sheet(name, sheet_part, hidden, budget)
    elif archive.read("mimetype")[:64].startswith(b"application/vnd.oasis.opendocument.spreadsheet"):
        if b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise SourceUnreadable("it is encrypted; save it without a password")
        yield from ods.read(archive.read("content.xml"), budget)
    elif "xl/workbook.bin" in archive.names:
        raise SourceUnreadable("it is a binary workbook (.xlsb); save it as .xlsx")
    elif "word/document.xml" in archive.names:
        raise SourceUnreadable("it is a Word document; name it .docx")
    else:
        raise SourceUnreadable(f"it is a ZIP archive, but not {_WANTED}; is its name right?")
