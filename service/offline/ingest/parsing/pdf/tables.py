"""Tables: words between drawn borders, or rows whose pieces stand in columns."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from service.offline.ingest.parsing.pdf.elements import Line, Rule, Table, Word
from service.offline.ingest.parsing.pdf.lines import LEADERS, in_order

_NEAR = 2.5  # points between the ends of borders that meet
_GUTTER = 0.6  # of the size, between columns without borders
_NUMBER = re.compile(r"[-+$€£¥(]*\d[\d.,:/%)]*")
_FAR = 1e6  # points; beyond any page
_LOOSE = 3.5  # of the size, from row to row
_CLOSE = 1.5  # of the size, from line to line within a cell
_WORST = 0.7  # share of rows that must keep to the columns


def ruled(words: Sequence[Word], rules: Sequence[Rule]) -> tuple[list[Table], list[Word]]:
    """The tables with drawn borders, and the words outside them."""
    tables: list[Table] = []
    rest = list(words)
    for group in _groups(rules):
        ys = _places(
            [r.at for r in group if r.level], [e for r in group if not r.level for e in (r.start, r.end)]
        )
        xs = _places(
            [r.at for r in group if not r.level], [e for r in group if r.level for e in (r.start, r.end)]
        )
        if len(ys) < 2 or len(xs) < 3 or (len(ys) == 2 and len(xs) < 4):
            continue
        inside = [w for w in rest if xs[0] - 1 <= _middle(w) <= xs[-1] + 1 and ys[0] <= _height(w) <= ys[-1]]
        rows = list(_ruled_rows(inside, xs, ys, [r for r in group if not r.level]))
        if len([row for row in rows if len(row) > 1]) * 2 < len(rows) or not rows:
            continue
        held = {id(word) for word in inside}
        rest = [word for word in rest if id(word) not in held]
        edges = tuple(round(x) for x in xs)
        tables.append(Table(tuple(rows), xs[0], xs[-1], ys[0], ys[-1], edges))
    return tables, rest


def _groups(rules: Sequence[Rule]) -> Iterator[list[Rule]]:
    """Rules that meet, level ones and upright ones together."""
    open_rules = set(range(len(rules)))
    while open_rules:
        stack = [min(open_rules)]
        open_rules.discard(stack[0])
        group = []
        while stack:
            rule = rules[stack.pop()]
            group.append(rule)
            met = [i for i in sorted(open_rules) if _meet(rule, rules[i])]
            open_rules.difference_update(met)
            stack += met
        if {rule.level for rule in group} == {True, False}:
            yield sorted(group, key=lambda r: (r.level, r.at, r.start))


def _meet(a: Rule, b: Rule) -> bool:
    return (
        a.level != b.level
        and b.start - _NEAR <= a.at <= b.end + _NEAR
        and a.start - _NEAR <= b.at <= a.end + _NEAR
    )


def _places(borders: list[float], ends: list[float]) -> list[float]:
    """Where borders are, with the outermost ends of those across them: a table may have no outer border."""
    places: list[float] = []
    for at in sorted([*borders, min(ends), max(ends)]):
        if not places or at - places[-1] > 2 * _NEAR:
            places.append(at)
    return places


def _ruled_rows(
    inside: Sequence[Word], xs: list[float], ys: list[float], upright: Sequence[Rule]
) -> Iterator[tuple[tuple[Line, ...], ...]]:
    for top, bottom in pairwise(ys):
        own = [word for word in inside if top <= _height(word) < bottom]
        if not own:
            continue
        middle = (top + bottom) / 2
        # Cells that were merged have no border between them in this row.
        inner = [
            x
            for x in xs[1:-1]
            if any(abs(r.at - x) <= 2 * _NEAR and r.start <= middle <= r.end for r in upright)
        ]
        sides = [-_FAR, *inner, _FAR]
        yield tuple(
            tuple(in_order([w for w in own if left <= _middle(w) < right])) for left, right in pairwise(sides)
        )


def _middle(word: Word) -> float:
    return (word.x0 + word.x1) / 2


def _height(word: Word) -> float:
    return word.y - word.style.size * 0.3


Row = Sequence[Line]  # the pieces of one line, left to right


def aligned(rows: Sequence[Row]) -> Iterator[Table | Row]:
    """Runs of at least three rows whose pieces stand in the same columns, as tables; all other rows as they are."""
    at = 0
    while at < len(rows):
        end, gutters = _run(rows, at)
        table = _table(rows[at:end], gutters) if end - at >= 3 else None
        if table is None:
            yield rows[at]
            at += 1
        else:
            yield table
            at = end


def _run(rows: Sequence[Row], start: int) -> tuple[int, list[tuple[float, float]]]:
    """How far from `start` every row leaves the same gaps free, and these gaps."""
    kept: list[tuple[float, float]] = []
    end = start
    for row in rows[start:]:
        if any(LEADERS.search(" ".join(word.text for word in piece.words)) for piece in row):
            break
        if end > start and row[0].y - rows[end - 1][0].y > _LOOSE * row[0].size:
            break
        close = end > start and row[0].y - rows[end - 1][0].y <= _CLOSE * row[0].size
        if len(row) == 1 and not close:
            break  # one piece alone goes on in a cell of the row above, if it is close below
        edges = [-_FAR, *(edge for piece in row for edge in (piece.x0, piece.x1)), _FAR]
        free = list(zip(edges[::2], edges[1::2], strict=True))
        both = (
            free[1:-1]
            if end == start
            else [
                (max(a, c), min(b, d))
                for a, b in kept
                for c, d in free
                if min(b, d) - max(a, c) > _GUTTER * row[0].size
            ]
        )
        if not both or (end > start and len(both) < len(kept)):
            break
        kept = both
        end += 1
    return end, kept


def _table(rows: Sequence[Row], gutters: list[tuple[float, float]]) -> Table | None:
    columns = len(gutters) + 1
    lines: list[list[list[Line]]] = []
    for row in rows:
        placed: list[list[Line]] = [[] for _ in range(columns)]
        for piece in row:
            placed[sum(piece.x0 >= (a + b) / 2 for a, b in gutters)].append(piece)
        lines.append(placed)
    cells = _wrapped(lines, [row[0].y for row in rows])
    if len(cells) < 3:
        return None
    for column in range(columns):
        own = [row[column] for row in cells if row[column]]
        size = rows[0][0].size
        if len(own) < _WORST * len(cells) or not (
            _agree([c[0].x0 for c in own], size) or _agree([max(p.x1 for p in c) for c in own], size)
        ):
            return None
    first, last = rows[0][0], rows[-1][0]
    pieces = [piece for row in rows for piece in row]
    return Table(
        tuple(tuple(tuple(cell) for cell in row) for row in cells),
        min(p.x0 for p in pieces),
        max(p.x1 for p in pieces),
        first.y - first.size,
        last.y,
        tuple(round((a + b) / 2) for a, b in gutters),
    )


def _wrapped(lines: list[list[list[Line]]], heights: list[float]) -> list[list[list[Line]]]:
    """Lines to rows. Where some lines are closer than others, the close ones go on in the row above, unless they are
    rows themselves: many in a group, or with a number of their own; else a line that fills one column only does."""
    steps = [b - a for a, b in pairwise(heights)]
    near = 1.2 * min(steps)
    close = [line for line, step in zip(lines[1:], steps, strict=True) if step <= near]
    groups = len(lines) - len(close)
    rows_too = sum(all(line) and any(map(_is_number, line)) for line in close)
    parted = groups >= 3 and len(lines) <= 6 * groups and rows_too * 3 <= len(close)
    cells = [lines[0]]
    for line, step in zip(lines[1:], steps, strict=True):
        if step <= near if parted else sum(map(bool, line)) == 1:
            cells[-1] = [held + more for held, more in zip(cells[-1], line, strict=True)]
        else:
            cells.append(line)
    return cells


def _is_number(cell: Sequence[Line]) -> bool:
    return (
        bool(cell)
        and _NUMBER.fullmatch("".join(word.text for line in cell for word in line.words)) is not None
    )


def _agree(places: list[float], size: float) -> bool:
    middle = sorted(places)[len(places) // 2]
    return sum(abs(place - middle) <= size * 0.6 for place in places) >= _WORST * len(places)
