"""The level and upright lines drawn on a page: what the borders of tables are made of."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from itertools import takewhile
from typing import Any

from service.offline.ingest.parsing.pdf.elements import Rule, turned

_PATH, _FORM = 2, 5  # kinds of page objects
_LINE_TO, _MOVE_TO = 0, 2  # kinds of path segments
_MOST_OBJECTS = 20_000  # more is a drawing, and no table's border is looked for in it
_MOST_RULES = 800
_DEEPEST = 4  # forms within forms
_THIN = 3.0  # points; a filled rectangle no wider than that is a line
_NEAR = 2.0  # points; lines no further apart touch

Matrix = tuple[float, float, float, float, float, float]
_SAME: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


def rules(raw: Any, page: Any, angle: int) -> tuple[Rule, ...]:
    """Collinear pieces are one rule. None where the page has more than a table would need."""
    found: list[Rule] = []
    for number, path in enumerate(_paths(raw, page, _SAME, 0)):
        if number >= _MOST_OBJECTS or len(found) > 10 * _MOST_RULES:
            return ()
        found += _lines_of(raw, *path, angle)
    merged = _merged(found)
    return merged if len(merged) <= _MOST_RULES else ()


def _paths(raw: Any, container: Any, outer: Matrix, depth: int) -> Iterator[tuple[Any, Matrix]]:
    if depth == 0:
        count, get = raw.FPDFPage_CountObjects(container), raw.FPDFPage_GetObject
    else:
        count, get = raw.FPDFFormObj_CountObjects(container), raw.FPDFFormObj_GetObject
    for index in range(min(count, _MOST_OBJECTS)):
        item = get(container, index)
        kind = raw.FPDFPageObj_GetType(item)
        if kind not in (_PATH, _FORM):
            continue
        own = raw.FS_MATRIX()
        raw.FPDFPageObj_GetMatrix(item, own)
        matrix = _combined((own.a, own.b, own.c, own.d, own.e, own.f), outer)
        if kind == _PATH:
            yield item, matrix
        elif depth < _DEEPEST:
            yield from _paths(raw, item, matrix, depth + 1)


def _combined(first: Matrix, then: Matrix) -> Matrix:
    a, b, c, d, e, f = first
    g, h, i, j, k, m = then
    return (a * g + b * i, a * h + b * j, c * g + d * i, c * h + d * j, e * g + f * i + k, e * h + f * j + m)


def _lines_of(raw: Any, path: Any, matrix: Matrix, angle: int) -> Iterator[Rule]:
    filled, stroked = ctypes.c_int(), ctypes.c_int()
    raw.FPDFPath_GetDrawMode(path, filled, stroked)
    count = raw.FPDFPath_CountSegments(path)
    if not (filled.value or stroked.value) or count > 400:
        return
    a, b, c, d, e, f = matrix
    x, y = ctypes.c_float(), ctypes.c_float()
    points: list[tuple[float, float]] = []
    start = 0
    lines: list[tuple[tuple[float, float], tuple[float, float]]] = []
    for index in range(count):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        at = turned(a * x.value + c * y.value + e, b * x.value + d * y.value + f, angle)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == _MOVE_TO:
            start = len(points)
        elif kind == _LINE_TO:
            lines.append((points[-1], at) if points else (at, at))
        points.append(at)
        if raw.FPDFPathSegment_GetClose(segment):
            lines.append((at, points[start]))
    if stroked.value:
        for first, last in lines:
            yield from _rule(first, last, 0.5)
    elif points and len(points) <= 6:
        across, down = [p[0] for p in points], [p[1] for p in points]
        yield from _rule((min(across), min(down)), (max(across), max(down)), _THIN)


def _rule(first: tuple[float, float], last: tuple[float, float], thin: float) -> Iterator[Rule]:
    wide, high = abs(first[0] - last[0]), abs(first[1] - last[1])
    if high <= thin and wide > high:
        yield Rule(True, (first[1] + last[1]) / 2, min(first[0], last[0]), max(first[0], last[0]))
    elif wide <= thin and high > wide:
        yield Rule(False, (first[0] + last[0]) / 2, min(first[1], last[1]), max(first[1], last[1]))


def _merged(found: list[Rule]) -> tuple[Rule, ...]:
    merged: list[Rule] = []
    for level in (True, False):
        own = sorted((r for r in found if r.level == level), key=lambda r: (r.at, r.start, r.end))
        while own:
            first = own[0].at
            near = list(takewhile(lambda r: r.at - first <= 1.5, own))  # noqa: B023
            own = own[len(near) :]
            for rule in sorted(near, key=lambda r: (r.start, r.end)):
                last = merged[-1] if merged else None
                if (
                    last is not None
                    and last.level == level
                    and abs(last.at - rule.at) <= 1.5
                    and rule.start - last.end <= _NEAR
                ):
                    merged[-1] = Rule(level, last.at, last.start, max(last.end, rule.end))
                else:
                    merged.append(rule)
    return tuple(rule for rule in merged if rule.end - rule.start > _THIN)
