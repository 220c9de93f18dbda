"""Writes a canonical text block by block, for formats whose files are no text themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from service.domain.documents import Block, BlockKind, Hyperlink, Span
from service.errors import SourceUnreadable
from service.offline.ingest.parsing.linking import moved

MOST_TEXT = 32_000_000  # characters of one document; a library of books


class Writer:
    """Blocks parted by an empty line, with the headings above each; a table has one line a row."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self._parts: list[str] = []
        self._length = 0
        self._path: list[tuple[int, str]] = []

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def shown(self, back: int) -> str:
        """The text of the block `back` places before the end."""
        return self._parts[-2 * back + 1] if back <= len(self.blocks) else ""

    def heading(self, level: int, text: str, links: Sequence[Hyperlink] = (), **more: Any) -> None:
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        if self.add("heading", text, links=links, level=level, **more):
            self._path.append((level, " ".join(text.split())))

    def add(
        self, kind: BlockKind, text: str, *, mark: str = "", links: Sequence[Hyperlink] = (), **more: Any
    ) -> Span | None:
        """`mark` stands last in the block's heading path and nowhere in the text; `links` are placed in the text."""
        lead, text = len(text) - len(text.lstrip()), text.strip()
        if not text:
            return None
        span = self._block(kind, text, mark, **more)
        if links:
            self.blocks[-1] = replace(self.blocks[-1], links=moved(links, span.start - lead))
        return span

    def table(
        self,
        rows: Sequence[str],
        heads: int = 0,
        *,
        caption: Span | None = None,
        mark: str = "",
        links: Sequence[Hyperlink] = (),
    ) -> None:
        """Rows as lines, `links` are placed in these. The first `heads` are the head; without a row beneath, there is
        none."""
        if not rows:
            return
        start = self._length + (2 if self.blocks else 0)
        spans = []
        for row in rows:
            spans.append(Span(start, start + len(row)))
            start += len(row) + 1
        head = Span(spans[0].start, spans[heads - 1].end) if 0 < heads < len(rows) else None
        parts = tuple(spans[heads:] if head else spans)
        span = self._block("table", "\n".join(rows), mark, head=head, parts=parts, caption=caption)
        if links:
            self.blocks[-1] = replace(self.blocks[-1], links=moved(links, span.start))

    def _block(self, kind: BlockKind, text: str, mark: str, **more: Any) -> Span:
        if self._length + len(text) > MOST_TEXT:
            raise SourceUnreadable(f"it holds more than {MOST_TEXT} characters; split it")
        gap = "\n\n" if self.blocks else ""
        self._parts += (gap, text)
        span = Span(self._length + len(gap), self._length + len(gap) + len(text))
        self._length = span.end
        path = (*(title for _, title in self._path), *((mark,) if mark else ()))
        self.blocks.append(Block(kind, span, path, **more))
        return span
