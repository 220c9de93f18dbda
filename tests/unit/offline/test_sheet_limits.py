"""Spreadsheets: how far a sheet may reach, and how much it may hold."""

from __future__ import annotations

import openpyxl
import pytest

from service.errors import SourceUnreadable
from service.offline.ingest.parsing.sheets import grid
from tests.unit.offline.office import EXCEL, read, xlsx_of


def test_one_cell_in_the_last_corner_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = "<sheetData><row r='1048576'><c r='XFD1048576'><v>7</v></c></row></sheetData>"
    assert read(xlsx_of(inside), EXCEL).canonical_text == "S1\n\n7"


def corner(cells: str, more: str = "") -> bytes:
    return xlsx_of(f"<sheetData>{cells}</sheetData>{more}")


def test_too_many_cells_are_refused_before_they_are_made() -> None:
    both = "<row r='1'><c r='A1'><v>1</v></c></row><row r='100000'><c r='XFD100000'><v>1</v></c></row>"
    with pytest.raises(SourceUnreadable, match="more than 1000000 cells"):
        read(corner(both, "<mergeCells><mergeCell ref='A1:XFD1048576'/></mergeCells>"), EXCEL)
    diagonal = "".join(f"<row><c r='{grid_letters(n)}{n + 1}'><v>1</v></c></row>" for n in range(1500))
    with pytest.raises(SourceUnreadable, match="more than 1000000 cells"):
        read(corner(diagonal), EXCEL)


def grid_letters(number: int) -> str:
    return str(openpyxl.utils.get_column_letter(number + 1))


def test_too_many_sheets_are_refused() -> None:
    one = "<sheetData><row><c><v>1</v></c></row></sheetData>"
    assert read(xlsx_of(*[one] * grid.MOST_SHEETS), EXCEL).canonical_text.count("S") == grid.MOST_SHEETS
    with pytest.raises(SourceUnreadable, match="more than 200 sheets"):
        read(xlsx_of(*[one] * (grid.MOST_SHEETS + 1)), EXCEL)
