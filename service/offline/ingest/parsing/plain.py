"""Plain text: paragraphs between blank lines, pages between form feeds. The canonical text is the text itself."""

from __future__ import annotations

import re

from service.domain.documents import Block, Span

_PARAGRAPH = re.compile(r"[^\s](?:[^\n\f]|\n(?![ \t]*\n)(?!\f))*")


def read(text: str) -> tuple[Block, ...]:
    """A block per paragraph; `page` counts form feeds from 1, and is None in a text without any."""
    paged = "\f" in text
    return tuple(
        Block(
            "paragraph",
            Span(found.start(), found.start() + len(found.group().rstrip())),
            page=text.count("\f", 0, found.start()) + 1 if paged else None,
        )
        for found in _PARAGRAPH.finditer(text)
    )
