"""PDF, read with PDFium.

Takes: a file's bytes. Returns: canonical text in reading order, blocks with pages, the title, what was not read.
Called by: `parsing/__init__.py`.
Never does: recognise text in pictures, run scripts, open attachments, or follow links.
"""

from __future__ import annotations

from collections.abc import Sequence

from service.domain.documents import Block
from service.offline.ingest.parsing.pdf.elements import Page
from service.offline.ingest.parsing.pdf.headings import depth, unmarked
from service.offline.ingest.parsing.pdf.layout import arranged
from service.offline.ingest.parsing.pdf.opening import bare, opened
from service.offline.ingest.parsing.pdf.structure import structured

__all__ = ["bare", "read"]


def read(content: bytes) -> tuple[str, tuple[Block, ...], str, tuple[str, ...]]:
    """(canonical text, blocks, title, warnings). Raises SourceUnreadable with a sentence."""
    pages, outline, named = opened(content)
    text, blocks = structured([arranged(page) for page in pages], outline)
    return text, blocks, named or _first_heading(text, blocks), _warnings(pages)


def _warnings(pages: Sequence[Page]) -> tuple[str, ...]:
    scanned = [number for number, page in enumerate(pages, 1) if page.scanned]
    if not scanned:
        return ()
    which = f"page{'s' if len(scanned) > 1 else ''} {_ranges(scanned)} of {len(pages)}"
    return (f"no text, only pictures (a scan?), on {which}; recognise it first (OCR)",)


def _ranges(numbers: Sequence[int]) -> str:
    """1-3, 7: as pages are written."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _first_heading(text: str, blocks: tuple[Block, ...]) -> str:
    """That with which the document opens, else the first of the highest level; with those of its kind right below
    it, since titles are often set in two lines."""
    shown = [block for block in blocks if block.kind != "metadata"]
    found = [place for place, block in enumerate(shown) if block.kind == "heading"]
    if not found:
        return ""
    top = min(shown[place].level for place in found)
    opens = found[0] == 0 and not depth(shown[0].span.of(text))
    start = 0 if opens else next(place for place in found if shown[place].level == top)
    first = shown[start]
    title = [unmarked(first.span.of(text))]
    for block in shown[start + 1 : start + 3]:
        own = block.span.of(text)
        if (block.kind, block.level, block.page) != ("heading", first.level, first.page) or depth(own):
            break
        title.append(unmarked(own))
    return " ".join(title)
