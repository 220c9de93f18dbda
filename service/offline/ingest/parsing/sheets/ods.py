"""ODS: cells hold their text as it was shown, so nothing is computed. Repeated rows and cells are written once in the
file and may stand for the whole sheet; the empty ones are passed over."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from service.errors import SourceUnreadable
from service.offline.ingest.parsing.officexml import scan
from service.offline.ingest.parsing.sheets.grid import Budget, Cell, Sheet

_NUMBERS = {"float", "percentage", "currency", "date", "time"}
_HIDDEN = {"collapse", "filter"}
_MOST = 10_000_000  # rows or columns that a repetition may stand for


class Reading:
    """`sheets` are there when the content part was scanned."""

    def __init__(self, budget: Budget) -> None:
        self.sheets: list[Sheet] = []
        self._budget = budget
        self._row = self._rows = self._column = self._columns = self._hiding = 0
        self._kind = ""
        self._area = (1, 1)
        self._cells: dict[int, Cell] = {}
        self._text: list[str] | None = None
        self._outside = 0  # depth within notes and tables inside cells, whose text is not the cell's
        self._style_hidden: dict[str, bool] = {}
        self._style = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "style:style":
            self._style = attributes.get("style:name", "")
        elif tag == "style:table-properties" and attributes.get("table:display") == "false":
            self._style_hidden[self._style] = True
        elif self._outside or tag == "office:annotation" or (tag == "table:table" and self._text is not None):
            self._outside += 1
        elif tag == "table:table":
            hidden = self._style_hidden.get(attributes.get("table:style-name", ""), False)
            self.sheets.append(Sheet(attributes.get("table:name", ""), hidden=hidden))
            self._row = self._hiding = 0
        elif not self.sheets:
            return
        elif tag == "table:table-column":
            count = _count(attributes, "table:number-columns-repeated")
            if attributes.get("table:visibility") in _HIDDEN:
                self.sheets[-1].hidden_columns.update(range(self._hiding, min(self._hiding + count, 16_384)))
            self._hiding += count
        elif tag == "table:table-row":
            self._rows = _count(attributes, "table:number-rows-repeated")
            self._column, self._cells = 0, {}
            if attributes.get("table:visibility") in _HIDDEN:
                self.sheets[-1].hidden_rows.update(range(self._row, min(self._row + self._rows, 1_048_576)))
        elif tag in ("table:table-cell", "table:covered-table-cell"):
            self._columns = _count(attributes, "table:number-columns-repeated")
            self._area = (
                _count(attributes, "table:number-rows-spanned"),
                _count(attributes, "table:number-columns-spanned"),
            )
            self._kind = attributes.get("office:value-type", "")
            self._text = []
        elif self._text is not None and tag in ("text:p", "text:line-break", "text:s", "text:tab"):
            self._text.append(" ")

    def data(self, text: str) -> None:
        if self._text is not None and not self._outside:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if self._outside:
            self._outside -= 1
        elif tag in ("table:table-cell", "table:covered-table-cell") and self._text is not None:
            self._cell(" ".join("".join(self._text).split()))
            self._text = None
        elif tag == "table:table-row" and self.sheets:
            for row in self._filled_rows():
                self.sheets[-1].rows[row] = {column: Cell(*cell) for column, cell in self._cells.items()}
            self._row += self._rows

    def _cell(self, text: str) -> None:
        if text:
            self._budget.take(self._columns)
            number = self._kind in _NUMBERS
            self._cells.update((self._column + at, Cell(text, number)) for at in range(self._columns))
            down, across = self._area
            if down > 1 or across > 1:
                self.sheets[-1].merged.append(
                    (self._row, self._column, self._row + down - 1, self._column + across - 1)
                )
        self._column += self._columns
        if self._column > _MOST or self._row > _MOST:
            raise SourceUnreadable("a sheet in it has more rows or columns than any program can show")

    def _filled_rows(self) -> Iterator[int]:
        if self._cells:
            self._budget.take(len(self._cells) * (self._rows - 1))
            yield from range(self._row, self._row + self._rows)


def read(content: bytes, budget: Budget) -> list[Sheet]:
    reading = Reading(budget)
    scan(content, reading.start, reading.end, reading.data)
    return reading.sheets


def _count(attributes: Mapping[str, str], name: str) -> int:
    text = attributes.get(name, "1")
    return max(1, min(int(text), _MOST)) if text.isascii() and text.isdecimal() and len(text) < 9 else 1
