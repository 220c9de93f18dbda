"""The reading order of a page: columns where they are clearly parted, tables in their place, else from the top down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from service.offline.ingest.parsing.pdf.elements import Line, Page, Style, Table, Word
from service.offline.ingest.parsing.pdf.lines import one, pieces, rows
from service.offline.ingest.parsing.pdf.tables import aligned, ruled

Row = list[Line]
Gap = tuple[float, float]

_GUTTER = 0.8  # of the size: the narrowest space between columns
_LINES = 4  # a column has at least that many
_WIDE = 10.0  # of the size: what half of a column's lines reach; less is a table's column
_FILLED = 0.6  # of the column's width, likewise


def arranged(page: Page) -> list[Line | Table]:
    """Lines and tables of a page in reading order; what stands at another angle comes last."""
    tables, words = ruled(page.words, page.rules)
    # A table takes part in the order as a piece that stands for it.
    stand_ins = [_stand_in(table) for table in tables]
    by_piece = dict(zip((id(piece) for piece in stand_ins), tables, strict=True))
    items: list[Line | Table] = []
    for region in _regions(rows([*pieces(words), *stand_ins])):
        items += _read(region, by_piece)
    aside = pieces(page.aside)
    return items + [Line(piece.words, piece.x0, piece.x1, aside=True) for piece in aside]


def _stand_in(table: Table) -> Line:
    style = Style(1.0, False, False)
    return Line((Word("", table.x0, table.x1, table.y, style, -1),))


def _read(region: Sequence[Row], tables: dict[int, Table]) -> Iterator[Line | Table]:
    left = min(piece.x0 for row in region for piece in row)
    right = max(piece.x1 for row in region for piece in row)
    plain: list[Row] = []
    for row in region:
        if any(id(piece) in tables for piece in row):
            yield from _unruled(plain, left, right)
            plain = []
            others = [piece for piece in row if id(piece) not in tables]
            if others:
                yield one(others, left, right)
            yield from (tables[id(piece)] for piece in row if id(piece) in tables)
        else:
            plain.append(row)
    yield from _unruled(plain, left, right)


def _unruled(plain: Sequence[Row], left: float, right: float) -> Iterator[Line | Table]:
    for found in aligned(plain):
        yield found if isinstance(found, Table) else one(found, left, right)


def _regions(listed: Sequence[Row]) -> Iterator[list[Row]]:
    """Parts of the page to be read one after another, each from the top down."""
    if not listed:
        return
    left = min(piece.x0 for row in listed for piece in row)
    right = max(piece.x1 for row in listed for piece in row)
    waiting: list[Row] = []  # rows without columns
    for band, gaps in _bands(listed, left, right):
        columns = _columns(band, gaps)
        if columns:
            if waiting:
                yield waiting
                waiting = []
            yield from columns
        else:
            waiting += band
    if waiting:
        yield waiting


def _bands(listed: Sequence[Row], left: float, right: float) -> Iterator[tuple[list[Row], list[Gap]]]:
    """Runs of rows that leave the same upright gaps free, with those of the gaps that part something."""
    band: list[Row] = []
    gaps: list[Gap] = []
    first_end = last_start = 0.0
    for row in listed:
        free = _free(row, left, right)
        least = _GUTTER * row[0].size
        both = _shared(gaps, free, least)
        if band:
            inner = _inner(gaps, first_end, last_start)
            if not both or (inner and not _shared(inner, free, least)):
                yield band, inner
                band = []
        first_end = min(first_end, row[0].x1) if band else row[0].x1
        last_start = max(last_start, row[-1].x0) if band else row[-1].x0
        gaps = both if band else free
        band.append(row)
    yield band, _inner(gaps, first_end, last_start)


def _shared(gaps: Sequence[Gap], free: Sequence[Gap], least: float) -> list[Gap]:
    return [(max(a, c), min(b, d)) for a, b in gaps for c, d in free if min(b, d) - max(a, c) >= least]


def _inner(gaps: Sequence[Gap], first_end: float, last_start: float) -> list[Gap]:
    """Gaps of a band with something on both sides: the first of its pieces ends before them, the last one starts
    behind them."""
    return [(a, b) for a, b in gaps if first_end <= a + 1 and last_start >= b - 1]


def _free(row: Row, left: float, right: float) -> list[Gap]:
    gaps, reached = [], left
    for piece in row:
        if piece.x0 > reached:
            gaps.append((reached, piece.x0))
        reached = max(reached, piece.x1)
    return [*gaps, (reached, right)] if right > reached else gaps


def _columns(band: Sequence[Row], inner: Sequence[Gap]) -> list[list[Row]]:
    """The band's columns from left to right, or nothing where it has none."""
    everything = [piece for row in band for piece in row]
    if not inner:
        return []
    written = [gap for gap in inner if _written_apart(everything, gap[1])]
    if written:
        columns = _parted(band, written)
        if all(len(column) >= _LINES for column in columns):
            return columns
    columns = _parted(band, inner)
    return columns if all(_is_column(column) for column in columns) else []


def _written_apart(pieces: Sequence[Line], x: float) -> bool:
    """Whether all that is left of a place was written before all that is right of it: no table is written so."""
    before = max(p.words[0].run for p in pieces if p.x0 < x - 1)
    return all(p.words[0].run > before or p.words[0].run < 0 for p in pieces if p.x0 >= x - 1)


def _parted(band: Sequence[Row], gaps: Sequence[Gap]) -> list[list[Row]]:
    edges = [float("-inf"), *((a + b) / 2 for a, b in gaps), float("inf")]
    columns = []
    for start, end in pairwise(edges):
        own = [[p for p in row if start <= p.x0 < end] for row in band]
        columns.append([row for row in own if row])
    return columns


def _is_column(column: Sequence[Row]) -> bool:
    if len(column) < _LINES:
        return False
    left = min(row[0].x0 for row in column)
    width = max(row[-1].x1 for row in column) - left
    usual = median(row[-1].x1 - row[0].x0 for row in column)
    return usual >= _WIDE * median(row[0].size for row in column) and usual >= _FILLED * width
