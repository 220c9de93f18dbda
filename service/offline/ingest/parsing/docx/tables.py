"""Word tables as rows of equal width: a merged value stands in every cell it covers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from service.domain.documents import Hyperlink
from service.offline.ingest.parsing.docx.runs import GONE, chosen
from service.offline.ingest.parsing.docx.styles import on, value
from service.offline.ingest.parsing.linking import moved
from service.offline.ingest.parsing.officexml import Element, within

_WIDEST = 63  # columns that Word allows
Cell = tuple[str, tuple[Hyperlink, ...]]  # its text on one line, and the links in that
_EMPTY: Cell = ("", ())
_REPEATED = 200  # characters; a longer merged text stands in its first cell only
_THROUGH = {"w:sdt", "w:sdtContent", "w:customXml", "w:ins", "w:moveTo", "w:smartTag"}


@dataclass(frozen=True, slots=True)
class Table:
    """`rows` hold one cell a column; the first `heads` of them are the head."""

    rows: tuple[tuple[Cell, ...], ...]
    heads: int

    @property
    def lines(self) -> list[str]:
        return [" | ".join(text for text, _ in row) for row in self.rows]

    @property
    def links(self) -> tuple[Hyperlink, ...]:
        """Where they stand in the lines, one below the other."""
        found: list[Hyperlink] = []
        at = 0
        for row in self.rows:
            for place, (text, own) in enumerate(row):
                at += len(" | ") if place else 0
                found += moved(own, at)
                at += len(text)
            at += len("\n")
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Row:
    cells: tuple[Cell, ...]
    said_head: bool
    own: int  # cells as drawn, before merged ones are spread
    begins: frozenset[int]  # the columns where they begin
    starts: frozenset[int]  # columns where a cell begins that goes on below
    goes_on: frozenset[int]


def lone_cell(table: Element) -> Element | None:
    """The cell of a table that has only one: a frame around text, not a table."""
    rows = list(_rows(table))
    cells = list(_cells(rows[0])) if len(rows) == 1 else []
    return cells[0] if len(cells) == 1 else None


def read_table(table: Element, cell_of: Callable[[Element], Cell]) -> Table:
    """`cell_of` is called once for each cell, in document order."""
    above: dict[int, Cell] = {}
    rows = [_row(row, above, cell_of) for row in _rows(table)]
    # A column where no cell begins in any row is only a wide one's second half.
    columns = sorted(frozenset[int]().union(*(row.begins for row in rows)))
    heads = _heads(table, rows, len(columns))
    kept = [
        (tuple(row.cells[column] if column < len(row.cells) else _EMPTY for column in columns), place < heads)
        for place, row in enumerate(rows)
        if any(text for text, _ in row.cells)
    ]
    return Table(tuple(cells for cells, _ in kept), sum(is_head for _, is_head in kept))


def _rows(table: Element) -> Iterator[Element]:
    for child in table:
        if child.tag == "w:tr":
            properties = child.find("w:trPr")
            if properties is None or properties.find("w:del") is None:
                yield child
        elif child.tag in _THROUGH:
            yield from _rows(child)
        elif child.tag == "mc:AlternateContent":
            for branch in chosen(child):
                yield from _rows(branch)


def _cells(row: Element) -> Iterator[Element]:
    for child in row:
        if child.tag == "w:tc":
            if within(child, "w:tcPr", "w:cellDel") is None:
                yield child
        elif child.tag in _THROUGH and child.tag not in GONE:
            yield from _cells(child)


def _row(row: Element, above: dict[int, Cell], cell_of: Callable[[Element], Cell]) -> _Row:
    properties = row.find("w:trPr")
    cells = [_EMPTY] * _count(value(properties, "w:gridBefore"), 0)
    begins = {0}
    starts, goes_on, own = set(), set(), 0
    for cell in _cells(row):
        own += 1
        settings = cell.find("w:tcPr")
        column, own_cell = len(cells), cell_of(cell)
        begins.add(column)
        across = _count(value(settings, "w:gridSpan"), 1) or 1
        down = settings.find("w:vMerge") if settings is not None else None
        if down is not None and down.get("w:val", "continue") != "restart":
            goes_on.add(column)
            own_cell = own_cell if own_cell[0] else above.get(column, _EMPTY)
        elif value(settings, "w:hMerge") == "continue" and cells:
            own_cell = own_cell if own_cell[0] else _repeated(cells[-1])
        elif down is not None:
            starts.add(column)
        above[column] = _repeated(own_cell) if down is not None else _EMPTY
        cells += [own_cell] + [_repeated(own_cell)] * min(across - 1, max(0, _WIDEST - len(cells)))
    cells += [_EMPTY] * _count(value(properties, "w:gridAfter"), 0)
    return _Row(
        tuple(cells),
        bool(on(properties, "w:tblHeader")),
        own,
        frozenset(begins),
        frozenset(starts),
        frozenset(goes_on),
    )


def _heads(table: Element, rows: Sequence[_Row], width: int) -> int:
    said = sum(1 for _ in takewhile(lambda row: row.said_head, rows))
    if said:
        return said
    if not _first_row_is_head(table):
        return 0
    titles = sum(1 for _ in takewhile(lambda row: row.own == 1 and width > 1, rows))
    if titles >= len(rows):
        return 0
    first = rows[titles]
    # Groups of columns above, single columns merged downwards beside them: the head ends where those end.
    grouped = first.starts and first.own < width
    below = takewhile(lambda row: row.goes_on & first.starts, rows[titles + 1 :]) if grouped else ()
    return titles + 1 + sum(1 for _ in below)


def _first_row_is_head(table: Element) -> bool:
    """Unless the table's look says that its first row is like any other."""
    look = within(table, "w:tblPr", "w:tblLook")
    if look is None:
        return True
    if (said := look.get("w:firstRow")) is not None:
        return said.lower() not in ("0", "false", "off")
    try:
        return bool(int(look.get("w:val", "0020"), 16) & 0x20)
    except ValueError:
        return True


def _count(text: str | None, otherwise: int) -> int:
    return min(int(text[:3]), _WIDEST) if text and text.isascii() and text.isdecimal() else otherwise


def _repeated(cell: Cell) -> Cell:
    """A merged value where it stands again: its links are told once."""
    return (cell[0], ()) if len(cell[0]) <= _REPEATED else _EMPTY
