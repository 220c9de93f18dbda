"""What a page is made of before it is text: words with their place, lines of words, tables of lines.

Places are points, x to the right and y down, as the page's own text is read (a page set sideways is turned).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from service.domain.documents import Hyperlink


@dataclass(frozen=True, slots=True)
class Style:
    size: float
    bold: bool
    mono: bool


@dataclass(frozen=True, slots=True)
class Word:
    """`y` is the baseline; `run` numbers the line in which PDFium has the word; `links` are what parts of its text lead
    to."""

    text: str
    x0: float
    x1: float
    y: float
    style: Style
    run: int
    links: tuple[Hyperlink, ...] = ()


@dataclass(frozen=True, slots=True)
class Rule:
    """A drawn line, level or upright: at `at`, from `start` to `end` along the other axis."""

    level: bool
    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Page:
    """`aside` are words that stand at another angle than the page's text: watermarks, labels of axes. `scanned`: it
    shows something, and nothing of that is text."""

    words: tuple[Word, ...]
    aside: tuple[Word, ...]
    rules: tuple[Rule, ...]
    characters: int
    scanned: bool


@dataclass(frozen=True)
class Line:
    """`left` and `right` are the edges of the column it stands in. What is asked often is worked out once, so it has
    no slots."""

    words: tuple[Word, ...]
    left: float = 0.0
    right: float = 0.0
    aside: bool = False

    @cached_property
    def x0(self) -> float:
        return min(word.x0 for word in self.words)

    @cached_property
    def x1(self) -> float:
        return max(word.x1 for word in self.words)

    @cached_property
    def y(self) -> float:
        return _most(self.words, lambda word: round(word.y, 1))

    @cached_property
    def size(self) -> float:
        return _most(self.words, lambda word: word.style.size)

    @cached_property
    def bold(self) -> bool:
        named = [word for word in self.words if any(c.isalnum() for c in word.text)]
        return bool(named) and all(word.style.bold for word in named)

    @cached_property
    def mono(self) -> bool:
        """A line of code: its first word and most of its characters have a fixed width."""
        fixed = sum(len(word.text) for word in self.words if word.style.mono)
        return self.words[0].style.mono and fixed * 5 >= 3 * sum(len(word.text) for word in self.words)


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells, a cell is its lines. `edges` are the borders of its columns, to know it on the next page."""

    rows: tuple[tuple[tuple[Line, ...], ...], ...]
    x0: float
    x1: float
    y: float
    bottom: float
    edges: tuple[int, ...]

    @property
    def headed(self) -> bool:
        """Whether the first row is the head: it alone is bold, or it has words where the others have numbers."""
        first, others = self.rows[0], self.rows[1:]
        if not others or not all(first):
            return False
        if _bold(first) and not all(_bold(row) for row in others):
            return True
        if len(others) < 2 or any(len(row) != len(first) for row in others) or any(_digits(c) for c in first):
            return False
        return any(
            sum(_digits(row[column]) for row in others) * 5 >= 4 * len(others) for column in range(len(first))
        )


def _bold(row: Sequence[Sequence[Line]]) -> bool:
    return all(line.bold for cell in row for line in cell)


def _digits(cell: Sequence[Line]) -> bool:
    return any(c.isdigit() for line in cell for word in line.words for c in word.text)


def turned(x: float, y: float, angle: int) -> tuple[float, float]:
    """A place in the page's own space (y up), as it is when the text at that angle is level (y down)."""
    match angle:
        case 90:
            return y, x
        case 180:
            return -x, y
        case 270:
            return -y, -x
    return x, -y


def _most(words: Sequence[Word], value: Callable[[Word], float]) -> float:
    counts: Counter[float] = Counter()
    for word in words:
        counts[value(word)] += len(word.text)
    return max(counts.items(), key=lambda found: (found[1], found[0]))[0]
