"""A sheet as it was found, before anything is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from service.errors import SourceUnreadable

MOST_CELLS = 1_000_000  # of a workbook, those between its filled cells included
MOST_SHEETS = 200


class Cell(NamedTuple):
    text: str
    number: bool = False


@dataclass(slots=True)
class Sheet:
    """Filled cells by row and column from 0; merged areas as (row, column, row, column), ends included."""

    name: str
    rows: dict[int, dict[int, Cell]] = field(default_factory=dict)
    merged: list[tuple[int, int, int, int]] = field(default_factory=list)
    hidden: bool = False
    head_rows: set[int] = field(
        default_factory=set
    )  # said to be a head: frozen, filtered, or of a table object
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)


class Budget:
    """Cells read so far of one workbook."""

    def __init__(self) -> None:
        self.left = MOST_CELLS

    def take(self, cells: int) -> None:
        self.left -= cells
        if self.left < 0:
            raise SourceUnreadable(f"it has more than {MOST_CELLS} cells; split it")


def bands(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Runs of consecutive numbers as (first, last)."""
    start = last = numbers[0]
    for number in numbers[1:]:
        if number != last + 1:
            yield start, last
            start = number
        last = number
    yield start, last


def letters(column: int) -> str:
    """0 is A, 26 is AA."""
    text = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        text = chr(ord("A") + rest) + text
    return text
