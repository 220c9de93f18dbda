"""What the tests of spreadsheets share: workbooks of rows, and what was read of them."""

from __future__ import annotations

import io
from typing import Any

import openpyxl

from service.domain.sources import ParsedDocument
from tests.unit.offline.office import EXCEL, read

Rows = list[list[Any]]


def book(*sheets: Rows, **names: Rows) -> openpyxl.Workbook:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in [*((f"S{at}", rows) for at, rows in enumerate(sheets, 1)), *names.items()]:
        sheet = made.create_sheet(name)
        for at, row in enumerate(rows, 1):
            for column, value in enumerate(row, 1):
                sheet.cell(at, column, value)
    return made


def saved(made: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)
    return buffer.getvalue()


def document_of(made: openpyxl.Workbook | Rows) -> ParsedDocument:
    return read(saved(made if isinstance(made, openpyxl.Workbook) else book(made)), EXCEL)


def tables(document: ParsedDocument) -> list[tuple[str | None, list[str]]]:
    """(head, rows) of each."""
    text = document.canonical_text
    return [
        (b.head.of(text) if b.head else None, [part.of(text) for part in b.parts])
        for b in document.blocks
        if b.kind == "table"
    ]
