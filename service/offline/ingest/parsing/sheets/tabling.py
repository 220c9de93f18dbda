"""A sheet as tables: regions between empty rows and columns, with title, unit, head, rows and notes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

from service.domain.documents import Span
from service.offline.ingest.parsing.sheets.grid import Budget, Cell, Sheet, bands, letters
from service.offline.ingest.parsing.writing import Writer

_WIDEST = 40  # columns; a wider table is told in slices, each with its first column
_SLICE = 20
_LONGEST_HEAD = 60  # characters of a column's name
_LONGEST_CAPTION = 200
_REPEATED = 200  # characters; a longer merged text stands in its first cell only
_NOTE = re.compile(
    r"[(（\[*※]*\s*(?:注|备注|说明|数据来源|资料来源|来源|note|notes|source|remark)s?\s*\d*\s*[:：.]", re.I
)
_YEAR = re.compile(r"(?:19|20)\d\d年?(?:-\d\d){0,2}")  # or a month, or a day, of the heads of a time series


@dataclass(frozen=True, slots=True)
class _Region:
    top: int
    left: int
    bottom: int  # included
    right: int


def write(sheet: Sheet, writer: Writer, budget: Budget) -> None:
    """The sheet's name as a heading, then its tables and lines. What is hidden is told in the heading path."""
    rows = {number: row for number, row in sheet.rows.items() if row}
    if not rows:
        return
    writer.heading(1, sheet.name)
    _Sheet(sheet, rows, writer, budget).write()


class _Sheet:
    def __init__(
        self, sheet: Sheet, rows: dict[int, dict[int, Cell]], writer: Writer, budget: Budget
    ) -> None:
        self._rows, self._writer, self._budget, self._sheet = rows, writer, budget, sheet
        self._across: dict[int, list[tuple[int, int, int]]] = {}  # top row → (left, right, bottom)
        self._spread()

    def write(self) -> None:
        caption: Span | None = None
        for region in self._regions():
            titles = self._titles(region)
            if titles:
                span = self._lines(region.top, region.top + titles - 1, region)
                caption = span if span and span.end - span.start <= _LONGEST_CAPTION else None
            body = replace(region, top=region.top + titles)
            if body.top > body.bottom:
                continue  # a title by itself belongs to the table after the gap
            notes = self._notes(body)
            for part in self._beside(replace(body, bottom=body.bottom - notes)):
                self._table(part, caption)
            if notes:
                self._lines(body.bottom - notes + 1, body.bottom, body)
            caption = None

    def _regions(self) -> Iterator[_Region]:
        """Between empty rows. A row of sums set off by one of them belongs to the table above."""
        held: _Region | None = None
        for top, bottom in bands(sorted(self._rows)):
            columns = {column for row in range(top, bottom + 1) for column in self._row(row)}
            region = _Region(top, min(columns), bottom, max(columns))
            if held is not None and self._continues(held, region):
                held = replace(held, bottom=bottom)
                continue
            if held is not None:
                yield held
            held = region
        if held is not None:
            yield held

    def _continues(self, above: _Region, below: _Region) -> bool:
        body = replace(above, top=above.top + self._titles(above))
        return (
            below.top == above.bottom + 2
            and above.left <= below.left
            and below.right <= above.right
            and len(self._row(below.top)) > 1
            and self._heads(body) > 0
            and self._titles(below) == self._heads(below) == 0
        )

    def _spread(self) -> None:
        """Repeats a merged value over its area, as far as the sheet is filled."""
        bottom = max(self._rows)
        right = max(column for row in self._rows.values() for column in row)
        for top, left, low, far in self._sheet.merged:
            cell = self._row(top).get(left)
            if cell is None:
                continue
            low, far = min(low, bottom), min(far, right)
            self._across.setdefault(top, []).append((left, far, low))
            if len(cell.text) <= _REPEATED:
                self._budget.take((low - top + 1) * (far - left + 1))
                for row in range(top, low + 1):
                    line = self._rows.setdefault(row, {})
                    for column in range(left, far + 1):
                        line.setdefault(column, cell)

    def _row(self, number: int) -> dict[int, Cell]:
        return self._rows.get(number, {})

    def _cells(self, row: int, region: _Region) -> list[Cell]:
        return [cell for column, cell in self._row(row).items() if region.left <= column <= region.right]

    def _titles(self, region: _Region) -> int:
        """Rows at the top that hold one text only, above rows that hold more."""
        rows = range(region.top, region.bottom + 1)
        if region.left == region.right:
            return len(rows) if all(self._is_line(row, region) for row in rows) else 0
        return sum(1 for _ in takewhile(lambda row: self._is_line(row, region), rows))

    def _is_line(self, row: int, region: _Region) -> bool:
        """Whether a row holds one text, be it merged over several columns."""
        cells = self._cells(row, region)
        return bool(cells) and not cells[0].number and all(cell is cells[0] for cell in cells)

    def _notes(self, region: _Region) -> int:
        """Rows at the bottom that say "注：…" or "Source: …" and nothing else."""
        rows = range(region.bottom, region.top, -1)
        return sum(
            1
            for _ in takewhile(
                lambda row: self._is_line(row, region) and _NOTE.match(self._cells(row, region)[0].text), rows
            )
        )

    def _lines(self, top: int, bottom: int, region: _Region) -> Span | None:
        """Rows of one text each, as one paragraph."""
        rows = range(top, bottom + 1)
        cells = groupby((cell for row in rows for cell in self._cells(row, region)), key=id)
        lines = [next(same).text for _, same in cells]
        away = any(row in self._sheet.hidden_rows for row in rows)
        return self._writer.add("paragraph", "\n".join(lines), mark=self._mark("hidden rows" if away else ""))

    def _beside(self, region: _Region) -> Iterator[_Region]:
        """Tables that stand side by side, parted by an empty column. A column by itself is no table: it is the first
        of the one after the gap, or its last."""
        rows = range(region.top, region.bottom + 1)
        filled = sorted({c for row in rows for c in self._row(row) if region.left <= c <= region.right})
        parts = list(bands(filled))
        if any(left == right for left, right in parts):
            parts = [(region.left, region.right)]
        for left, right in parts:
            own = [row for row in rows if any(left <= column <= right for column in self._row(row))]
            yield _Region(own[0], left, own[-1], right)

    def _table(self, region: _Region, caption: Span | None) -> None:
        width = region.right - region.left + 1
        self._budget.take(width * (region.bottom - region.top + 1))
        heads = self._heads(region)
        rows = range(region.top, region.bottom + 1)
        # A column that every row merges with the one before it is only wide.
        columns = [region.left] + [
            column
            for column in range(region.left + 1, region.right + 1)
            if any(self._row(row).get(column) is not self._row(row).get(column - 1) for row in rows)
        ]
        for some in _slices(columns):
            hidden = [letters(column) for column in some if column in self._sheet.hidden_columns]
            mark = f"hidden columns {', '.join(hidden)}" if hidden else ""
            head = [line for line, _ in groupby(self._line(row, some) for row in rows[:heads])]
            body = [
                (row in self._sheet.hidden_rows, line)
                for row in rows[heads:]
                if (line := self._line(row, some)).strip(" |")
            ]
            shown = [line for is_hidden, line in body if not is_hidden]
            away = [line for is_hidden, line in body if is_hidden]
            if shown or not away:
                self._writer.table([*head, *shown], len(head), caption=caption, mark=self._mark(mark))
            if away:
                self._writer.table(
                    [*head, *away], len(head), caption=caption, mark=self._mark("hidden rows", mark)
                )

    def _mark(self, *more: str) -> str:
        return ", ".join(one for one in ("hidden sheet" if self._sheet.hidden else "", *more) if one)

    def _line(self, row: int, columns: Sequence[int]) -> str:
        cells = self._row(row)
        return " | ".join(cells[column].text if column in cells else "" for column in columns)

    def _heads(self, region: _Region) -> int:
        """How many rows are the head: names (or years) above a column of numbers, or names that differ."""
        width = region.right - region.left + 1
        if region.top == region.bottom:
            return 0
        first = [self._row(region.top).get(column) for column in range(region.left, region.right + 1)]
        named = [cell for cell in first if cell is not None]
        if not all(map(_names, first)) or len(named) < min(2, width) or (first[0] and first[0].number):
            return 0
        heads = 1
        while heads <= region.bottom - region.top - 1 and self._goes_on(region, region.top + heads - 1):
            heads += 1
        if heads > 1 or region.top in self._sheet.head_rows or self._has_numbers(region, heads):
            return heads
        # Where all is text, a head names each column once; two columns of text may as well be a form.
        return heads if width > 2 and len({cell.text for cell in named}) == width else 0

    def _has_numbers(self, region: _Region, heads: int) -> bool:
        """Whether a column holds numbers alone, under a name that is none."""
        for column in range(region.left, region.right + 1):
            cells = [self._row(row).get(column) for row in range(region.top + heads, region.bottom + 1)]
            filled = [cell for cell in cells if cell is not None]
            if filled and all(cell.number for cell in filled):
                return True
        return False

    def _goes_on(self, region: _Region, row: int) -> bool:
        """Whether a row of the head has another beneath: groups of columns are merged across."""
        merged = [one for one in self._across.get(row, ()) if region.left <= one[0] <= region.right]
        grouped = any(right > left and bottom == row for left, right, bottom in merged)
        tall = any(bottom > row for _, _, bottom in merged)
        below = [self._row(row + 1).get(column) for column in range(region.left, region.right + 1)]
        return (grouped or tall) and all(_names(cell) for cell in below)


def _names(cell: Cell | None) -> bool:
    """Whether a cell may name a column: a short text, a year, nothing."""
    if cell is None:
        return True
    return len(cell.text) <= _LONGEST_HEAD and (not cell.number or _YEAR.fullmatch(cell.text) is not None)


def _slices(columns: Sequence[int]) -> Iterator[Sequence[int]]:
    if len(columns) <= _WIDEST:
        yield columns
        return
    for at in range(1, len(columns), _SLICE - 1):
        yield [columns[0], *columns[at : at + _SLICE - 1]]
