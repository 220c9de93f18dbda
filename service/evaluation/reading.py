"""How whole trees of documents are read: what is refused, what is covered, what comes back, and how fast."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from service.domain.documents import Chunk
from service.domain.sources import ParsedDocument, SourceFault, SourceItem
from service.errors import AttestError
from service.offline.generations.coverage import coverage
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import html, markdown, parse
from service.offline.ingest.parsing.decoding import decode
from service.offline.ingest.sources import read_sources
from service.offline.intake import archived
from service.profiles.corpus import CorpusProfile
from service.text.spans import sha256_text

# What the library behind a reader does on its own: the least that reading can cost.
BARE: dict[str, Callable[[str], object]] = {"text/markdown": markdown.bare, "text/html": html.bare}
_PLAIN = CorpusProfile(name="read")  # what a corpus says of itself changes nothing that is measured here
_NAMED = 20  # offenders that are told by name


@dataclass(slots=True)
class Reading:
    """Sums over all documents. Seconds of reading, of the bare library on the same texts, and of cutting."""

    read: int = 0
    refused: list[tuple[str, str]] = field(default_factory=list)
    formats: Counter[str] = field(default_factory=Counter)
    blocks: Counter[str] = field(default_factory=Counter)
    chunks: int = 0
    raw_bytes: int = 0
    parse_seconds: float = 0.0
    bare_seconds: float = 0.0
    comparable_seconds: float = 0.0  # of reading the documents that have a bare library
    cut_seconds: float = 0.0
    covered: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    losses: list[tuple[str, str]] = field(default_factory=list)
    spans: int = 0
    broken_spans: list[str] = field(default_factory=list)

    @property
    def megabytes_a_second(self) -> float:
        return self.raw_bytes / 1e6 / self.parse_seconds if self.parse_seconds else 0.0

    @property
    def overhead(self) -> float | None:
        """Reading against the bare library, in one run; None where no document has one."""
        return self.comparable_seconds / self.bare_seconds if self.bare_seconds else None

    @property
    def covered_share(self) -> float:
        """Of all letters and digits, those in a chunk or in a named exclusion."""
        known = self.covered + sum(self.excluded.values())
        return known / (known + self.lost) if known + self.lost else 1.0


def read_trees(paths: Sequence[Path], progress: Callable[[str, int, int], None]) -> Reading:
    """Reads and cuts every document below the paths, in this process, and checks what came of it."""
    told, chunker = Reading(), Chunker()
    for count, item in enumerate(read_sources(paths), 1):
        progress("read", count, 0)
        if isinstance(item, SourceFault):
            told.refused.append((item.origin, item.reason))
            continue
        try:
            _read(item, chunker, told)
        except AttestError as error:
            told.refused.append((item.origin, error.message))
    return told


def _read(item: SourceItem, chunker: Chunker, told: Reading) -> None:
    began = time.perf_counter()
    parsed = parse(item)
    seconds = time.perf_counter() - began
    told.parse_seconds += seconds
    told.read += 1
    told.raw_bytes += len(item.raw)
    told.formats[item.media_type] += 1
    told.blocks.update(block.kind for block in parsed.blocks)
    if (bare := BARE.get(item.media_type)) is not None:
        text = decode(item.raw).text
        began = time.perf_counter()
        bare(text)
        told.bare_seconds += time.perf_counter() - began
        told.comparable_seconds += seconds
    began = time.perf_counter()
    chunks = chunker.cut(
        parsed.document_id, parsed.version, parsed.canonical_text, parsed.blocks, parsed.title
    )
    told.cut_seconds += time.perf_counter() - began
    told.chunks += len(chunks)
    _check(item, parsed, chunks, told)


def _check(item: SourceItem, parsed: ParsedDocument, chunks: Iterable[Chunk], told: Reading) -> None:
    chunks = list(chunks)
    for chunk in chunks:
        told.spans += 1
        text = chunk.span.of(parsed.canonical_text)
        if text != chunk.text or sha256_text(text) != chunk.text_sha256:
            told.broken_spans.append(chunk.chunk_id)
    found = coverage(archived(parsed, item, _PLAIN), chunks)
    told.covered += found.covered
    told.excluded.update(found.excluded)
    for span in found.lost:
        lost = span.of(parsed.canonical_text)
        told.lost += sum(map(str.isalnum, lost))
        if len(told.losses) < _NAMED:
            told.losses.append((parsed.document_id, lost[:80]))
