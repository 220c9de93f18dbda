"""Lines and tables of all pages to canonical text and blocks. Blocks end at the page; a form feed parts pages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from service.domain.documents import Block, BlockKind, Hyperlink, Span
from service.offline.ingest.parsing.linking import moved
from service.offline.ingest.parsing.pdf.elements import Line, Table
from service.offline.ingest.parsing.pdf.headings import (
    Headings,
    Look,
    Outline,
    depth,
    headings,
    look,
    unmarked,
)
from service.offline.ingest.parsing.pdf.joining import Joiner, code_text, line_text, placed_links
from service.offline.ingest.parsing.pdf.lines import LEADERS, MARKER
from service.offline.ingest.parsing.pdf.paragraphs import Measure, measured
from service.offline.ingest.parsing.pdf.running import running

_NOTE = re.compile(r"(?:\d{1,3}|[*†‡§]|\[\d{1,3}\])\s*\S|[①-⑳]")
_NOTE_SIZE = 0.92  # of the body's size
_NOTE_ZONE = 0.55  # of the page's lines; notes stand below that

Items = Sequence[Line | Table]


def structured(pages: Sequence[Items], outline: Outline) -> tuple[str, tuple[Block, ...]]:
    repeated = running(pages)
    plain = [
        [(i, line_text(i)) for i in items if isinstance(i, Line) and id(i) not in repeated] for items in pages
    ]
    cells = [cell for items in pages for i in items if isinstance(i, Table) for row in i.rows for cell in row]
    joiner = Joiner([line for page in plain for line, _ in page] + [line for cell in cells for line in cell])
    writer = _Writer(
        headings(plain, outline), measured([[line for line, _ in page] for page in plain]), joiner
    )
    for number, items in enumerate(pages):
        writer.page(number, items, repeated)
    return "".join(writer.parts), tuple(writer.blocks)


class _Writer:
    """Writes the canonical text block by block and notes each block's span."""

    def __init__(self, heads: Headings, measure: Measure, joiner: Joiner) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self._heads, self._measure, self._joiner = heads, measure, joiner
        self._length = 0
        self._fresh = True  # nothing on this page yet
        self._number = 0
        self._path: list[tuple[int, str]] = []
        self._numbered: dict[Look, int] = {}  # level of each style's latest numbered heading
        self._indents: list[float] = []  # of the open list, outermost first
        self._table: tuple[Table, Span | None] | None = None  # the last one, with its head

    def page(self, number: int, items: Items, repeated: set[int]) -> None:
        if number:
            self._write("\n\f")
        self._number, self._fresh, self._indents = number, True, []
        lines = [i.y for i in items if isinstance(i, Line)]
        notes_from = min(lines) + _NOTE_ZONE * (max(lines) - min(lines)) if lines else 0.0
        waiting: list[Line] = []
        kind: BlockKind = "paragraph"
        for item in items:
            if isinstance(item, Table):
                self._flush(kind, waiting)
                self._write_table(item)
                continue
            own = self._kind(item, repeated, notes_from)
            if waiting and not self._continues(kind, waiting, own, item):
                self._flush(kind, waiting)
            if not waiting:
                kind = own
            waiting.append(item)
        self._flush(kind, waiting)

    def _kind(self, line: Line, repeated: set[int], notes_from: float) -> BlockKind:
        if id(line) in repeated:
            return "metadata"
        if line.mono:
            return "code"
        text = line_text(line)
        if LEADERS.search(text):
            return "list_item"
        if self._heads.candidate(self._number, line, text):
            return "heading"
        if line.y >= notes_from and line.size <= _NOTE_SIZE * self._heads.body and _NOTE.match(text):
            return "footnote"
        return "list_item" if _marked(line) else "paragraph"

    def _continues(self, kind: BlockKind, waiting: Sequence[Line], own: BlockKind, line: Line) -> bool:
        """Whether a line goes on with the block that is open."""
        last = waiting[-1]
        if kind == "code":
            return own == "code" and self._measure.follows(last, line, 2.2)
        if kind == "metadata" or own in ("metadata", "code") or line.aside or last.aside:
            return False
        if kind == "heading":
            return (
                own == "heading"
                and look(last) == look(line)
                and self._measure.follows(last, line)
                and not depth(line_text(line))
                and len(waiting) < 3
                and not self._measure.broken(last, line)
            )
        if (
            own != "paragraph"
            or abs(last.size - line.size) > 0.1 * last.size
            or LEADERS.search(line_text(last))
        ):
            return False
        if self._measure.turned_over(last, line):
            return True
        if not self._measure.follows(last, line):
            return False
        if kind in ("list_item", "footnote") and line.x0 < waiting[0].x0 - 2:
            return False
        if kind == "list_item" and line.x0 < waiting[0].x0 + 2 and len(waiting) == 1:
            # Without a hanging indent an item goes on only where its line was full.
            return not self._measure.broken(last, line)
        indented = line.x0 > waiting[-1].x0 + 0.8 * line.size and len(waiting) > 1
        return not indented and not self._measure.broken(last, line)

    def _flush(self, kind: BlockKind, waiting: list[Line]) -> None:
        if not waiting:
            return
        lines = list(waiting)
        waiting.clear()
        text = code_text(lines) if kind == "code" else self._joiner.text(lines)
        if not text.strip():
            return
        more: dict[str, Any] = {}
        if kind == "heading":
            style = look(lines[0])
            level = self._heads.level(self._number, lines[0], text, self._numbered.get(style, 0))
            if depth(text):
                self._numbered[style] = level
            while self._path and self._path[-1][0] >= level:
                self._path.pop()
            more["level"] = level
        elif kind == "list_item":
            while self._indents and self._indents[-1] >= lines[0].x0 - 2:
                self._indents.pop()
            self._indents.append(lines[0].x0)
            more["level"] = len(self._indents)
        if kind not in ("list_item", "metadata"):
            self._indents = []
        if kind != "metadata":
            self._table = None
        self._emit(kind, text, placed_links(text, lines), **more)
        if kind == "heading":
            self._path.append((more["level"], unmarked(text)))

    def _emit(self, kind: BlockKind, text: str, links: tuple[Hyperlink, ...], **more: Any) -> None:
        span = self._placed(text)
        path = tuple(title for _, title in self._path)
        placed = moved(links, span.start)
        self.blocks.append(Block(kind, span, path, page=self._number + 1, links=placed, **more))

    def _placed(self, text: str) -> Span:
        if not self._fresh:
            self._write("\n\n")
        self._fresh = False
        start = self._length
        self._write(text)
        return Span(start, self._length)

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _write_table(self, table: Table) -> None:
        """One line a row, cells parted by " | ". A table that goes on from the page before has that one's head
        as its caption."""
        rows = [[self._joiner.text(cell) for cell in row] for row in table.rows]
        lines = [" | ".join(row) for row in rows]
        span = self._placed("\n".join(lines))
        at, spans = span.start, []
        for line in lines:
            spans.append(Span(at, at + len(line)))
            at += len(line) + 1
        links: list[Hyperlink] = []
        place = span.start
        for row, cells in zip(rows, table.rows, strict=True):
            for text, cell in zip(row, cells, strict=True):
                links += moved(placed_links(text, cell), place)
                place += len(text) + len(" | ")
            place += len("\n") - len(" | ")
        before = self._table if self._table and self._table[0].edges == table.edges else None
        head = spans[0] if table.headed else None
        caption = before[1] if before and head is None else None
        self.blocks.append(
            Block(
                "table",
                span,
                tuple(title for _, title in self._path),
                parts=tuple(spans[1:] if head else spans),
                head=head,
                caption=caption,
                page=self._number + 1,
                links=tuple(links),
            )
        )
        self._table = (table, head or caption)
        self._indents = []


def _marked(line: Line) -> bool:
    return len(line.words) > 1 and MARKER.fullmatch(line.words[0].text) is not None
