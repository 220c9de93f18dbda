"""XLS, the format of before 2007. Its number formats are not read: 12% reads 0.12 here, which nothing can tell."""

from __future__ import annotations

import io
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from service.errors import SourceUnreadable
from service.offline.ingest.parsing.sheets.formats import general
from service.offline.ingest.parsing.sheets.grid import MOST_SHEETS, Budget, Cell, Sheet


def read(raw: bytes, budget: Budget) -> Iterator[Sheet]:
    from python_calamine import (
        CalamineError,
        CalamineWorkbook,
        PasswordError,
        SheetTypeEnum,
        SheetVisibleEnum,
    )

    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(raw))
        known = workbook.sheets_metadata[: MOST_SHEETS + 1]
        for place, told in enumerate(known):
            if told.typ is SheetTypeEnum.WorkSheet:
                found = workbook.get_sheet_by_index(place)
                rows = found.to_python(skip_empty_area=False)
                sheet = Sheet(told.name, hidden=told.visible is not SheetVisibleEnum.Visible)
                for number, row in enumerate(rows):
                    filled = {column: cell for column, value in enumerate(row) if (cell := _cell(value))}
                    if filled:
                        budget.take(len(filled))
                        sheet.rows[number] = filled
                sheet.merged = [(*first, *last) for first, last in found.merged_cell_ranges or ()]
                yield sheet
    except PasswordError:
        raise SourceUnreadable("it is encrypted; save it without a password") from None
    except (CalamineError, OSError, ValueError, OverflowError):
        raise SourceUnreadable(
            "it is damaged, or no Excel workbook of before 2007; save it as .xlsx"
        ) from None


def _cell(value: Any) -> Cell | None:
    if isinstance(value, bool):
        return Cell("TRUE" if value else "FALSE")
    if isinstance(value, int | float):
        return Cell(general(value), number=True)
    if isinstance(value, datetime):
        plain = value.time() == time(0)
        return Cell(value.date().isoformat() if plain else value.isoformat(" "), number=True)
    if isinstance(value, date | time):
        return Cell(value.isoformat(), number=True)
    if isinstance(value, timedelta):
        seconds = round(value.total_seconds())
        return Cell(f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}", number=True)
    text = " ".join(str(value).split())
    return Cell(text) if text else None
