"""HTML: the readable text of the main content, laid out block by block; the canonical text is that layout."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from justhtml import JustHTML

from service.domain.documents import Block, BlockKind, Span

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
    main = _first(document, "main") or _first(document, "article") or _first(document, "body") or document
    layout = _Layout(inside_main=main.name in ("main", "article"))
    layout.walk(main, 0)
    layout.flush()
    title = _first(document, "title")
    named = _SPACE.sub(" ", _text(title)).strip() if title is not None else ""
    return "".join(layout.parts), tuple(layout.blocks), layout.title or named


def bare(source: str) -> object:
    """What the library does on its own, the measure of our overhead."""
    return JustHTML(source, sanitize=False)


def _first(node: Any, name: str) -> Any:
    return next((found for found in _descendants(node) if found.name == name), None)


def _descendants(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children or ()))


def _text(node: Any) -> str:
    return "".join(found.data or "" for found in _descendants(node) if found.name == "#text")


class _Layout:
    """Writes the canonical text block by block and notes each block's span."""

    def __init__(self, *, inside_main: bool) -> None:
        self.parts: list[str] = []
        self.blocks: list[Block] = []
        self.title = ""
        self._length = 0
        self._skipped = _SKIPPED if inside_main else _SKIPPED | _SKIPPED_OUTSIDE_MAIN
        self._path: list[tuple[int, str]] = []
        self._inline: list[str] = []
        self._kind: BlockKind = "paragraph"

    def walk(self, node: Any, depth: int) -> None:
        name = node.name
        if name == "#text":
            self._inline.append(node.data or "")
        elif name in self._skipped or name.startswith(("#comment", "!")):
            return
        elif name == "br":
            self._inline.append("\n")
        elif depth > _DEEPEST:
            self._inline.append(_text(node))
        elif name in _HEADINGS:
            self.flush()
            self._heading(_HEADINGS[name], _SPACE.sub(" ", _text(node)).strip())
        elif name == "table":
            self.flush()
            self._table(node)
        elif name == "pre":
            self.flush()
            self._emit("code", _text(node).strip("\n"))
        elif name in _BLOCKS or name in _CONTAINERS:
            self.flush()
            outer = self._kind
            # A paragraph of a list item or a quote is still list item or quote.
            if name != "p" or outer not in ("list_item", "quote"):
                self._kind = _BLOCKS.get(name, outer)
            for child in node.children or ():
                self.walk(child, depth + 1)
            self.flush()
            self._kind = outer
        else:
            for child in node.children or ():
                self.walk(child, depth + 1)

    def flush(self) -> None:
        """Ends the running inline text as a block of the kind at hand."""
        text = " ".join("".join(self._inline).split())
        self._inline.clear()
        self._emit(self._kind, text)

    def _emit(self, kind: BlockKind, text: str, **more: Any) -> Span | None:
        if not text.strip():
            return None
        if self.parts:
            self._write("\n\n")
        span = Span(self._length, self._length + len(text))
        self._write(text)
        self.blocks.append(Block(kind, span, tuple(title for _, title in self._path), **more))
        return span

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self._length += len(text)

    def _heading(self, level: int, title: str) -> None:
        while self._path and self._path[-1][0] >= level:
            self._path.pop()
        self._emit("heading", title, level=level)
        if title:
            self.title = self.title or (title if level == 1 else "")
            self._path.append((level, title))

    def _table(self, node: Any) -> None:
        """One line a row, cells parted by " | "; the first row is the head where it is made of <th>."""
        caption_node = next((n for n in node.children or () if n.name == "caption"), None)
        caption = (
            self._emit("paragraph", " ".join(_text(caption_node).split()))
            if caption_node is not None
            else None
        )
        rows = [row for row in _own_rows(node) if any(cell.strip(" |") for cell in row[1])]
        if not rows:
            return
        lines = [" | ".join(cells) for _, cells in rows]
        if self.parts:
            self._write("\n\n")
        start = self._length
        spans: list[Span] = []
        for line in lines:
            if spans:
                self._write("\n")
            spans.append(Span(self._length, self._length + len(line)))
            self._write(line)
        head = spans[0] if rows[0][0] and len(spans) > 1 else None
        self.blocks.append(
            Block(
                "table",
                Span(start, self._length),
                tuple(title for _, title in self._path),
                head=head,
                parts=tuple(spans[1:] if head else spans),
                caption=caption,
            )
        )


def _own_rows(table: Any) -> Iterator[tuple[bool, list[str]]]:
    """(all cells are heads, cell texts) of each row; a nested table's text stays in its cell."""
    stack = list(reversed(table.children or ()))
    while stack:
        node = stack.pop()
        if node.name == "tr":
            cells = [cell for cell in node.children or () if cell.name in ("td", "th")]
            yield all(c.name == "th" for c in cells), [_cell(c) for c in cells]
        elif node.name in ("thead", "tbody", "tfoot"):
            stack.extend(reversed(node.children or ()))


def _cell(cell: Any) -> str:
    text = " ".join(_text(cell).split())
    span = (cell.attrs or {}).get("colspan", "1")
    # A merged cell counts for each column it covers, so that columns stay in line with the head.
    extra = min(int(span), 50) - 1 if re.fullmatch("[0-9]{1,4}", str(span)) else 0
    return " | ".join([text] + [text] * max(0, extra))
