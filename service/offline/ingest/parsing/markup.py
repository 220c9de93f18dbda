"""What is asked of the tree of an HTML page: texts, links, ids, the rows of a table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from service.domain.documents import Hyperlink
from service.offline.ingest.parsing.linking import Piece, href_of, one_line

Cell = tuple[str, tuple[Hyperlink, ...]]


def first(node: Any, name: str) -> Any:
    return next((found for found in descendants(node) if found.name == name), None)


def descendants(node: Any) -> Iterator[Any]:
    stack = [node]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(current.children or ()))


def text_of(node: Any) -> str:
    return "".join(found.data or "" for found in descendants(node) if found.name == "#text")


def pieces(node: Any, href: str = "") -> Iterator[Piece]:
    """The text below a node with its links; `href` is that of the link it stands in."""
    stack = [(node, href)]
    while stack:
        current, around = stack.pop()
        if current.name == "#text":
            yield current.data or "", around
        own = link_of(current) or around
        stack.extend((child, own) for child in reversed(current.children or ()))


def link_of(node: Any) -> str:
    return href_of((node.attrs or {}).get("href")) if node.name == "a" else ""


def base_of(document: Any) -> str:
    """What the page says its links start from; "" where it says nothing."""
    bases = (node for node in descendants(document) if node.name == "base")
    return next((base for node in bases if (base := href_of((node.attrs or {}).get("href")))), "")


def ids_of(node: Any) -> Iterator[str]:
    attributes = getattr(node, "attrs", None) or {}
    for name in ("id", "name") if node.name == "a" else ("id",):
        if isinstance(given := attributes.get(name), str) and given.strip():
            yield given.strip()


def all_ids_of(node: Any) -> Iterator[str]:
    return (given for found in descendants(node) for given in ids_of(found))


def own_rows(table: Any) -> Iterator[tuple[bool, list[Cell]]]:
    """(all cells are heads, cells) of each row; a nested table's text stays in its cell."""
    stack = list(reversed(table.children or ()))
    while stack:
        node = stack.pop()
        if node.name == "tr":
            cells = [cell for cell in node.children or () if cell.name in ("td", "th")]
            yield all(c.name == "th" for c in cells), [_cell(c) for c in cells]
        elif node.name in ("thead", "tbody", "tfoot"):
            stack.extend(reversed(node.children or ()))


def _cell(cell: Any) -> Cell:
    text, links = one_line(pieces(cell))
    span = (cell.attrs or {}).get("colspan", "1")
    # A merged cell counts for each column it covers, so that columns stay in line with the head.
    extra = min(int(span), 50) - 1 if re.fullmatch("[0-9]{1,4}", str(span)) else 0
    return " | ".join([text] + [text] * max(0, extra)), links
