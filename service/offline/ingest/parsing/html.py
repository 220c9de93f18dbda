"""HTML: the readable text of the main content, laid out block by block; the canonical text is that layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from justhtml import JustHTML

from service.domain.documents import Block, BlockKind, Hyperlink, Span
from service.offline.ingest.parsing.linking import Piece, lines_of, moved, on_base, one_line
from service.offline.ingest.parsing.markup import (
    all_ids_of,
    base_of,
    first,
    ids_of,
    link_of,
    own_rows,
    pieces,
    text_of,
)

_SKIPPED = {
    "script",
    "style",
    "noscript",
    "template",
    "head",
    "nav",
    "svg",
    "iframe",
    "object",
    "form",
    "button",
}
_SKIPPED_OUTSIDE_MAIN = {"header", "footer", "aside"}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS: dict[str, BlockKind] = {
    "p": "paragraph", "li": "list_item", "dt": "list_item", "dd": "list_item", "blockquote": "quote",
    "figcaption": "paragraph", "caption": "paragraph", "summary": "paragraph", "address": "paragraph",
}  # fmt: skip
_CONTAINERS = {
    "html", "body", "main", "article", "section", "div", "ul", "ol", "dl", "details", "figure", "table", "tbody",
    "thead", "tfoot", "tr", "header", "footer", "aside", "center", "hr",
}  # fmt: skip
_SPACE = re.compile(r"\s+")
_DEEPEST = 400  # nested elements; far beyond any page, far below what would exhaust the stack


def read(source: str) -> tuple[str, tuple[Block, ...], str]:
    """(canonical text, blocks, title). Scripts, styles and navigation are left out; entities are decoded."""
    document = JustHTML(source, sanitize=False).root
    main = first(document, "main") or first(document, "article") or first(document, "body") or document
    layout = _Layout(inside_main=main.name in ("main", "article"))
    layout.walk(main, 0)
    layout.finish()
    based = [_on_base(block, base_of(document)) for block in layout.blocks]
    title = first(document, "title")
    named = _SPACE.sub(" ", text_of(title)).strip() if title is not None else ""
    return "".join(layout.parts), tuple(based), layout.title or named


def bare(source: str) -> object:
    """What the library does on its own, the measure of our overhead."""
    return JustHTML(source, sanitize=False)


def _on_base(block: Block, base: str) -> Block:
    if not base or not block.links:
        return block
    return replace(block, links=tuple(Hyperlink(link.span, on_base(base, link.href)) for link in block.links))


class _Layout:
    """Writes the canonical text block by block and notes each block's span."""

    def __init__(self, *, inside_main: bool) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self.title = ""
        self._length = 0
        self._skipped = _SKIPPED if inside_main else _SKIPPED | _SKIPPED_OUTSIDE_MAIN
        self._path: list[tuple[int, str]] = []
        self._inline: list[Piece] = []
        self._href = ""  # of the link that is open
        self._ids: list[str] = []  # of the block to come
        self._kind: BlockKind = "paragraph"

    def walk(self, node: Any, depth: int) -> None:
        name = node.name
        if name == "#text":
            self._inline.append((node.data or "", self._href))
        elif name in self._skipped or name.startswith(("#comment", "!")):
            return
        elif name == "br":
            self._inline.append(("\n", self._href))
        elif depth > _DEEPEST:
            self._inline += pieces(node, self._href)
        elif name in _HEADINGS:
            self._begin(all_ids_of(node))
            self._heading(_HEADINGS[name], *one_line(pieces(node, self._href)))
        elif name == "table":
            self._begin(all_ids_of(node))
            self._table(node)
        elif name == "pre":
            self._begin(all_ids_of(node))
            self._emit("code", *lines_of(pieces(node, self._href)))
        elif name in _BLOCKS or name in _CONTAINERS:
            self._begin(ids_of(node))
            outer = self._kind
            # A paragraph of a list item or a quote is still list item or quote.
            if name != "p" or outer not in ("list_item", "quote"):
                self._kind = _BLOCKS.get(name, outer)
            for child in node.children or ():
                self.walk(child, depth + 1)
            self.flush()
            self._kind = outer
        else:
            self._ids += ids_of(node)
            around = self._href
            self._href = link_of(node) or around
            for child in node.children or ():
                self.walk(child, depth + 1)
            self._href = around

    def flush(self) -> None:
        """Ends the running inline text as a block of the kind at hand."""
        text, links = one_line(self._inline)
        self._inline.clear()
        self._emit(self._kind, text, links)

    def finish(self) -> None:
        self.flush()
        if self.blocks and self._ids:  # below the last words
            self.blocks[-1] = replace(self.blocks[-1], ids=(*self.blocks[-1].ids, *self._ids))

    def _begin(self, ids: Iterator[str]) -> None:
        """Ends the running text; what comes has these ids."""
        self.flush()
        self._ids += ids

    def _emit(
        self, kind: BlockKind, text: str, links: tuple[Hyperlink, ...] = (), **more: Any
    ) -> Span | None:
        if not text.strip():
            return None
        if self.parts:
            self._write("\n\n")
        span = Span(self._length, self._length + len(text))
        self._write(text)
        self._add(Block(kind, span, links=moved(links, span.start), **more))
        return span

    def _add(self, block: Block) -> None:
        path = tuple(title for _, title in self._path)
        self.blocks.append(replace(block, heading_path=path, ids=tuple(dict.fromkeys(self._ids))))
        self._ids.clear()

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _heading(self, level: int, title: str, links: tuple[Hyperlink, ...]) -> None:
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._emit("heading", title, links, level=level)
        if title:
            self.title = self.title or (title if level == 1 else "")
            self._path.append((level, title))

    def _table(self, node: Any) -> None:
        """One line a row, cells parted by " | "; the first row is the head where it is made of <th>."""
        caption_node = next((n for n in node.children or () if n.name == "caption"), None)
        caption = (
            self._emit("paragraph", *one_line(pieces(caption_node))) if caption_node is not None else None
        )
        rows = [row for row in own_rows(node) if any(text.strip(" |") for text, _ in row[1])]
        if not rows:
            return
        if self.parts:
            self._write("\n\n")
        start = self._length
        spans: list[Span] = []
        links: list[Hyperlink] = []
        for _, cells in rows:
            if spans:
                self._write("\n")
            row_start = self._length
            for place, (text, own) in enumerate(cells):
                if place:
                    self._write(" | ")
                links += moved(own, self._length)
                self._write(text)
            spans.append(Span(row_start, self._length))
        head = spans[0] if rows[0][0] and len(spans) > 1 else None
        self._add(
            Block(
                "table",
                Span(start, self._length),
                head=head,
                parts=tuple(spans[1:] if head else spans),
                caption=caption,
                links=tuple(links),
            )
        )
