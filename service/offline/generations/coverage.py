"""What of a document is in its chunks, what is left out on purpose, and what was lost.

Left out by kind: headings (searched through the heading path), the head row of a table (in its rows' search
prefix), metadata, and markup between the blocks. White space and signs alone say nothing and are not counted.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.documents import ArchivedDocument, Block, Chunk, Span

_MARKUP = re.compile(
    r"<!--.*?(?:-->|\Z)|<[^>]*>"  # a comment, a tag
    r"|^[\s>*+\-\d.)]*\[[^\]\n]*\]:[^\n]*(?:\n[ \t>]*[\"'(][^\n]*[\"')][ \t]*$)?"  # a link's definition
    r"|^[\s>*+\-\d.)]*(?:`{3,}|~{3,})[^\n`]*$",  # a fence without anything in it
    re.S | re.M,
)
_MARKDOWN = "text/markdown"


@dataclass(frozen=True, slots=True)
class Coverage:
    """Characters (letters and digits) of one document by where they went; `lost` holds what went nowhere."""

    covered: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    lost: tuple[Span, ...] = ()

    @property
    def whole(self) -> bool:
        return not self.lost


def coverage(document: ArchivedDocument, chunks: Sequence[Chunk]) -> Coverage:
    """Every letter and digit of the canonical text: in a chunk, in a named exclusion, or lost."""
    text = document.canonical_text
    places = bytearray(len(text))  # 1 where something accounts for the character
    for chunk in chunks:
        places[chunk.span.start : chunk.span.end] = b"\x01" * (chunk.span.end - chunk.span.start)
    covered = sum(1 for at, char in enumerate(text) if places[at] and char.isalnum())
    excluded: Counter[str] = Counter()
    for kind, span in _exclusions(document, chunks):
        left = sum(1 for at in range(span.start, span.end) if not places[at] and text[at].isalnum())
        if left:
            excluded[kind] += left
            places[span.start : span.end] = b"\x01" * (span.end - span.start)
    return Coverage(covered, dict(excluded), tuple(_lost(text, places)))


def _exclusions(document: ArchivedDocument, chunks: Sequence[Chunk]) -> Iterator[tuple[str, Span]]:
    text, blocks = document.canonical_text, document.blocks
    ordered = sorted(chunks, key=lambda chunk: chunk.span.start)
    starts = [chunk.span.start for chunk in ordered]
    for place, block in enumerate(blocks):
        if block.kind == "heading" and _in_a_path(text, blocks, place, ordered, starts):
            yield "heading", block.span
        elif block.kind == "metadata":
            yield ("front matter" if place == 0 else "metadata"), block.span
        elif block.kind == "table" and block.head is not None:
            within = ordered[bisect_left(starts, block.span.start) : bisect_left(starts, block.span.end)]
            head = block.head.of(text).strip()
            if any(head in chunk.search_prefix for chunk in within):
                yield "table head", block.head
    if document.media_type == _MARKDOWN:
        at = 0
        for block in blocks:
            yield from _markup(text, at, block.span.start)
            at = max(at, block.span.end)
        yield from _markup(text, at, len(text))


def _in_a_path(
    text: str, blocks: Sequence[Block], place: int, ordered: Sequence[Chunk], starts: Sequence[int]
) -> bool:
    """Whether a chunk of the heading's own section has its title in the heading path."""
    block, depth = blocks[place], len(blocks[place].heading_path)
    after = bisect_left(starts, block.span.end)
    if after == len(ordered) or len(ordered[after].heading_path) <= depth:
        return False
    title = "".join(ordered[after].heading_path[depth].split())
    return ordered[after].heading_path[:depth] == block.heading_path and title in "".join(
        block.span.of(text).split()
    )


def _markup(text: str, start: int, end: int) -> Iterator[tuple[str, Span]]:
    for found in _MARKUP.finditer(text[start:end]):
        yield "markup", Span(start + found.start(), start + found.end())


def _lost(text: str, places: bytearray) -> Iterator[Span]:
    """Runs of unaccounted characters that hold a letter or a digit."""
    at = places.find(0)
    while at >= 0:
        end = places.find(1, at)
        end = len(text) if end < 0 else end
        if any(map(str.isalnum, text[at:end])):
            yield Span(at, end)
        at = places.find(0, end)
