"""Plain text: paragraphs between blank lines, pages between form feeds. The canonical text is the text itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.domain.documents import Block, Span

_PARAGRAPH = re.compile(r"[^\s](?:[^\n\f]|\n(?![ \t]*\n)(?!\f))*")


def read(text: str) -> tuple[Block, ...]:
    """A block per paragraph; `page` counts form feeds from 1, and is None in a text without any."""
    paged = "\f" in text
    return tuple(
        Block("paragraph", span, page=page if paged else None) for span, page in _paragraphs_with_page(text)
    )


def _paragraphs_with_page(text: str) -> Iterator[tuple[Span, int]]:
    page, counted = 1, 0
    for found in _PARAGRAPH.finditer(text):
        page, counted = page + text.count("\f", counted, found.start()), found.start()
        yield Span(found.start(), found.start() + len(found.group().rstrip())), page
