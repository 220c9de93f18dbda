"""Chunks follow structure: sections first, sentences only where a block is too long. A chunk is a span.

prose    blocks of one section are joined up to the limit; a longer one is cut into windows of sentences; what
         leans on its neighbour (text/binding.py) is not parted from it while the two fit
table    rows are joined up to the limit; title, unit and head go into the search prefix, never into the span
code, admonition   keep their borders
heading  is no chunk of its own unless its section is empty; it is searched through the heading path
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from service.domain.documents import Block, BlockKind, Chunk, Span
from service.text.binding import bound
from service.text.sentences import sentences
from service.text.spans import sha256_text

_PROSE: frozenset[BlockKind] = frozenset({"paragraph", "list_item", "quote", "footnote"})
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
# A table's title or unit, told in a short line of its own above it.
_ABOVE_TABLE = re.compile(
    r"(?:[\s*_【\[(（]|<[^>]*>)*(?:表\s*\d|续表|table\s+\d|.{0,40}(?:单位|\bunits?)\s*[:：])", re.I
)
_LONGEST_ABOVE = 120  # characters; a longer block is prose that happens to name a table
_REVISION = 2  # raise when the same parameters would cut differently


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk before it has a number."""

    kind: BlockKind
    span: Span
    block: Block
    prefix: str = ""


@dataclass(frozen=True, slots=True)
class Chunker:
    """`limit` is a chunk's size in units of about one token: a Han character counts 1, any other `latin`.

    A sentence, row or code block alone may exceed the limit up to `stretch` times; beyond that it is cut.
    """

    limit: float = 190.0
    latin: float = 0.36
    stretch: float = 2.0
    overlap: int = 0

    @property
    def version(self) -> str:
        parameters = (
            f"limit={self.limit:g},latin={self.latin:g},stretch={self.stretch:g},overlap={self.overlap}"
        )
        return f"structure-{_REVISION}({parameters})"

    def cut(
        self, document_id: str, document_version: str, text: str, blocks: Sequence[Block], title: str
    ) -> list[Chunk]:
        """Chunks in text order, linked to their neighbours. `text[span] == chunk.text` for each."""
        pieces = [piece for piece in self._pieces(text, blocks, title) if piece.span.of(text).strip()]
        stem = f"{document_id}@{document_version[:12]}"
        ids = [f"{stem}#{number}" for number in range(1, len(pieces) + 1)]
        chunks = []
        for place, piece in enumerate(pieces):
            own = piece.span.of(text)
            chunks.append(
                Chunk(
                    chunk_id=ids[place],
                    document_id=document_id,
                    document_version=document_version,
                    ordinal=place + 1,
                    kind=piece.kind,
                    heading_path=piece.block.heading_path,
                    span=piece.span,
                    text=own,
                    text_sha256=sha256_text(own),
                    search_prefix=piece.prefix,
                    section=" > ".join(piece.block.heading_path),
                    page=piece.block.page,
                    previous_id=ids[place - 1] if place else None,
                    next_id=ids[place + 1] if place + 1 < len(ids) else None,
                )
            )
        return chunks

    def _pieces(self, text: str, blocks: Sequence[Block], title: str) -> Iterator[_Piece]:
        run: list[Block] = []
        for place, block in enumerate(blocks):
            if block.kind in _PROSE:
                if run and (block.heading_path, block.page) != (run[-1].heading_path, run[-1].page):
                    yield from self._prose(text, run)
                    run = []
                run.append(block)
                continue
            yield from self._prose(text, run)
            run = []
            if block.kind == "table":
                yield from self._table(text, block, _above_table(text, blocks, place))
            elif block.kind in ("code", "admonition"):
                yield from self._bordered(text, block)
            elif block.kind == "heading" and _empty_section(blocks, place):
                yield _Piece("heading", block.span, block)
        yield from self._prose(text, run)

    def _prose(self, text: str, run: Sequence[Block]) -> Iterator[_Piece]:
        """Blocks of one section and page, joined while there is room; what is bound stays in one group."""
        joined: list[Block] = []
        for group in _bound_blocks(text, run):
            if joined and not self._fits(text, joined[0].span, group[-1].span):
                yield from self._joined(text, joined)
                joined = []
            joined += group
        yield from self._joined(text, joined)

    def _joined(self, text: str, run: Sequence[Block]) -> Iterator[_Piece]:
        if not run:
            return
        span = Span(run[0].span.start, run[-1].span.end)
        kind: BlockKind = run[0].kind if len({b.kind for b in run}) == 1 else "paragraph"
        if self.size(span.of(text)) <= self.limit:
            yield _Piece(kind, span, run[0])
            return
        for window in self._windows(text, span, sentences(span.of(text)), prose=True):
            yield _Piece(kind, window, run[0])

    def _bordered(self, text: str, block: Block) -> Iterator[_Piece]:
        if self.size(block.span.of(text)) <= self.limit * self.stretch:
            yield _Piece(block.kind, block.span, block)
            return
        own = block.span.of(text)
        prose = block.kind == "admonition"
        parts = sentences(own) if prose else _lines(own)
        for window in self._windows(text, block.span, parts, prose=prose):
            yield _Piece(block.kind, window, block)

    def _table(self, text: str, block: Block, above: Sequence[Span]) -> Iterator[_Piece]:
        shown = dict.fromkeys((*above, block.caption, block.head))
        prefix = "\n".join(part.of(text).strip() for part in shown if part is not None)
        if not block.parts:
            yield _Piece("table", block.span, replace(block, caption=None))
            return
        start = block.parts[0].start
        rows = [(row.start - start, row.end - start) for row in block.parts]
        for window in self._windows(text, Span(start, block.parts[-1].end), rows):
            yield _Piece("table", window, block, prefix)

    def _windows(
        self, text: str, span: Span, parts: Sequence[tuple[int, int]], *, prose: bool = False
    ) -> Iterator[Span]:
        """Runs of consecutive parts within the limit; a part too long even alone is cut hard, at white space
        where there is some. `parts` are relative to the span; those of prose are first bound into groups."""
        placed = [
            piece for a, b in parts for piece in self._hard_cut(text, Span(span.start + a, span.start + b))
        ]
        groups = self._bound(text, placed) if prose else placed
        first = fresh = 0
        while fresh < len(groups):
            last = fresh
            while last + 1 < len(groups) and self._fits(text, groups[first], groups[last + 1]):
                last += 1
            yield Span(groups[first].start, groups[last].end)
            # What is repeated must leave room for something new.
            first = fresh = last + 1
            while first and last + 1 < len(groups) and fresh - first < self.overlap:
                if not self._fits(text, groups[first - 1], groups[fresh]):
                    break
                first -= 1

    def _bound(self, text: str, placed: Sequence[Span]) -> list[Span]:
        groups: list[Span] = []
        for place, piece in enumerate(placed):
            if place and _leans(text, placed[place - 1], piece) and self._fits(text, groups[-1], piece):
                groups[-1] = Span(groups[-1].start, piece.end)
            else:
                groups.append(piece)
        return groups

    def _fits(self, text: str, first: Span, last: Span) -> bool:
        return self.size(text[first.start : last.end]) <= self.limit

    def _hard_cut(self, text: str, part: Span) -> Iterator[Span]:
        longest = self.limit * self.stretch
        start = part.start
        while self.size(text[start : part.end]) > longest:
            # Even all-Han text of that many characters is within the size.
            end = min(part.end, start + int(longest))
            space = max(text.rfind(" ", start + 1, end), text.rfind("\n", start + 1, end))
            end = space if space > start + int(longest) // 2 else end
            yield _trimmed(text, start, end)
            start = end
        yield _trimmed(text, start, part.end)

    def size(self, text: str) -> float:
        """About the number of tokens the embedder makes of a text."""
        han = len(_HAN.findall(text))
        return han + self.latin * (len(text) - han)


def _leans(text: str, first: Span, second: Span) -> bool:
    return bound(first.of(text), text[first.end : second.start], second.of(text))


def _bound_blocks(text: str, run: Sequence[Block]) -> Iterator[list[Block]]:
    """Consecutive blocks of which each leans on the one before it."""
    group: list[Block] = []
    for block in run:
        if group and not _leans(text, group[-1].span, block.span):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _above_table(text: str, blocks: Sequence[Block], place: int) -> list[Span]:
    """The title and the unit line right above a table, at most two, in text order."""
    found: list[Span] = []
    for block in reversed(blocks[max(0, place - 2) : place]):
        own = block.span.of(text)
        if block.kind not in _PROSE or len(own) > _LONGEST_ABOVE or not _ABOVE_TABLE.match(own):
            break
        found.append(block.span)
    return found[::-1]


def _empty_section(blocks: Sequence[Block], place: int) -> bool:
    """A heading followed by no block of its section, nor by a deeper heading."""
    follows = next((b for b in blocks[place + 1 :]), None)
    return follows is None or (follows.kind == "heading" and follows.level <= blocks[place].level)


def _lines(text: str) -> list[tuple[int, int]]:
    spans, at = [], 0
    for line in text.split("\n"):
        if line.strip():
            spans.append((at, at + len(line)))
        at += len(line) + 1
    return spans


def _trimmed(text: str, start: int, end: int) -> Span:
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return Span(start + lead, start + max(lead, len(piece.rstrip())))
