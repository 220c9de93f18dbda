"""What the tests of parsing and cutting share."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from service.domain.documents import Block, Chunk, Span
from service.domain.sources import ParsedDocument, SourceItem
from service.offline.ingest.parsing import parse
from service.text.spans import sha256_text

MARKDOWN, HTML, PLAIN = "text/markdown", "text/html", "text/plain"


def parsed(text: str, media_type: str = MARKDOWN) -> ParsedDocument:
    return parse(SourceItem("d.md", text.encode(), media_type, "d.md"))


def shown(document: ParsedDocument, *kinds: str) -> list[tuple[str, str]]:
    """(kind, text) of each block, or of the blocks of some kinds."""
    text = document.canonical_text
    return [(b.kind, b.span.of(text)) for b in document.blocks if not kinds or b.kind in kinds]


def only(document: ParsedDocument, kind: str) -> Block:
    [found] = [b for b in document.blocks if b.kind == kind]
    return found


def check_blocks(text: str, blocks: tuple[Block, ...]) -> None:
    """What must be true of the blocks of any document, whatever its format."""
    for block in blocks:
        assert 0 <= block.span.start < block.span.end <= len(text)
        assert block.span.of(text) == block.span.of(text).strip() or block.kind in ("code", "table")
        for inner in (*block.parts, *((block.head,) if block.head else ())):
            assert block.span.start <= inner.start <= inner.end <= block.span.end
        rows = [*((block.head,) if block.head else ()), *block.parts]
        assert all(a.end <= b.start for a, b in itertools.pairwise(rows))
        if block.caption is not None:
            assert block.caption.end <= block.span.start
        for link in block.links:
            assert block.span.start <= link.span.start < link.span.end <= block.span.end
            assert link.span.of(text).strip() == link.span.of(text) and link.href
        ordered(link.span for link in block.links)
    ordered(block.span for block in blocks)


def ordered(spans: Iterable[Span]) -> None:
    """Siblings stand in text order and never overlap."""
    listed = list(spans)
    assert all(a.end <= b.start for a, b in itertools.pairwise(listed)), listed


def check_chunks(text: str, chunks: Sequence[Chunk]) -> None:
    """What is true of any document's chunks, whatever the parameters without overlap."""
    for number, chunk in enumerate(chunks, 1):
        assert 0 <= chunk.span.start < chunk.span.end <= len(text)
        assert chunk.text == text[chunk.span.start : chunk.span.end]
        assert chunk.text.strip()
        assert chunk.text_sha256 == sha256_text(chunk.text)
        assert (chunk.ordinal, chunk.chunk_id) == (number, f"d@0123456789ab#{number}")
        assert chunk.previous_id == (chunks[number - 2].chunk_id if number > 1 else None)
        assert chunk.next_id == (chunks[number].chunk_id if number < len(chunks) else None)
        assert chunk.section == " > ".join(chunk.heading_path)
