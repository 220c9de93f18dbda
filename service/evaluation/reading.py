"""How whole trees of documents are read: what is refused, what is covered, what comes back, and how fast."""

from __future__ import annotations

import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from service.domain.documents import ArchivedDocument, Chunk
from service.domain.sources import SourceFault, SourceItem
from service.errors import AttestError
from service.offline.generations.coverage import coverage
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.links import linked, tally
from service.offline.ingest.parsing import html, markdown, parse, pdf
from service.offline.ingest.parsing.decoding import decode
from service.offline.ingest.sources import read_sources
from service.offline.intake import archived
from service.profiles.corpus import CorpusProfile
from service.text.sentences import sentences
from service.text.spans import sha256_text

# What the library behind a reader does on its own: the least that reading can cost.
BARE: dict[str, Callable[[str], object]] = {"text/markdown": markdown.bare, "text/html": html.bare}
_PDF = "application/pdf"
_PLAIN = CorpusProfile(name="read")  # what a corpus says of itself changes nothing that is measured here
_NAMED = 20  # offenders that are told by name
_TELLING = 12  # letters and digits; a shorter sentence may stand on any page


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
    bare_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # by format
    comparable_seconds: dict[str, float] = field(default_factory=lambda: defaultdict(float))  # of the same
    links: dict[str, float] = field(default_factory=dict)  # by state
    cut_seconds: float = 0.0
    covered: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    losses: list[tuple[str, str]] = field(default_factory=list)
    spans: int = 0
    broken_spans: list[str] = field(default_factory=list)
    placed: int = 0  # sentences of PDFs that the library finds on the same page
    displaced: list[tuple[str, int, str]] = field(default_factory=list)  # document, page, the others

    @property
    def megabytes_a_second(self) -> float:
        return self.raw_bytes / 1e6 / self.parse_seconds if self.parse_seconds else 0.0

    @property
    def overhead(self) -> dict[str, float]:
        """Reading against the bare library, in one run, for each format that has one."""
        return {
            kind: self.comparable_seconds[kind] / bare for kind, bare in self.bare_seconds.items() if bare
        }

    @property
    def covered_share(self) -> float:
        """Of all letters and digits, those in a chunk or in a named exclusion."""
        known = self.covered + sum(self.excluded.values())
        return known / (known + self.lost) if known + self.lost else 1.0


def read_trees(paths: Sequence[Path], progress: Callable[[str, int, int], None]) -> Reading:
    """Reads and cuts every document below the paths, in this process, and checks what came of it."""
    told, chunker = Reading(), Chunker()
    kept: list[tuple[ArchivedDocument, list[Chunk]]] = []
    for count, item in enumerate(read_sources(paths), 1):
        progress("read", count, 0)
        if isinstance(item, SourceFault):
            told.refused.append((item.origin, item.reason))
            continue
        try:
            kept.append(_read(item, chunker, told))
        except AttestError as error:
            told.refused.append((item.origin, error.message))
    told.links = tally(linked(kept))
    return told


def _read(item: SourceItem, chunker: Chunker, told: Reading) -> tuple[ArchivedDocument, list[Chunk]]:
    began = time.perf_counter()
    parsed = parse(item)
    seconds = time.perf_counter() - began
    told.parse_seconds += seconds
    told.read += 1
    told.raw_bytes += len(item.raw)
    told.formats[item.media_type] += 1
    told.blocks.update(block.kind for block in parsed.blocks)
    pages = _beside(item, seconds, told)
    began = time.perf_counter()
    chunks = chunker.cut(
        parsed.document_id, parsed.version, parsed.canonical_text, parsed.blocks, parsed.title
    )
    told.cut_seconds += time.perf_counter() - began
    told.chunks += len(chunks)
    document = archived(parsed, item, _PLAIN)
    _check(document, chunks, told)
    if pages:
        _check_pages(parsed.document_id, chunks, [_letters(page) for page in pages], told)
    return document, chunks


def _beside(item: SourceItem, seconds: float, told: Reading) -> list[str]:
    """Reads the same with the bare library, if there is one; the text of the pages of a PDF."""
    pages: list[str] = []
    if item.media_type == _PDF:
        began = time.perf_counter()
        pages = pdf.bare(item.raw)
    elif (bare := BARE.get(item.media_type)) is not None:
        text = decode(item.raw).text
        began = time.perf_counter()
        bare(text)
    else:
        return pages
    told.bare_seconds[item.media_type] += time.perf_counter() - began
    told.comparable_seconds[item.media_type] += seconds
    return pages


def _check_pages(document_id: str, chunks: Iterable[Chunk], pages: Sequence[str], told: Reading) -> None:
    """Whether each sentence is on the page that its chunk names: whole, or by its words, since a table or a column may
    be told in another order."""
    for chunk in chunks:
        assert chunk.page is not None
        page = pages[chunk.page - 1]
        for start, end in sentences(chunk.text):
            said = chunk.text[start:end]
            if len(_letters(said)) < _TELLING:
                continue
            if _letters(said) in page or all(_letters(word) in page for word in said.split()):
                told.placed += 1
            else:
                told.displaced.append((document_id, chunk.page, said[:80]))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))


def _check(document: ArchivedDocument, chunks: Sequence[Chunk], told: Reading) -> None:
    for chunk in chunks:
        told.spans += 1
        text = chunk.span.of(document.canonical_text)
        if text != chunk.text or sha256_text(text) != chunk.text_sha256:
            told.broken_spans.append(chunk.chunk_id)
    found = coverage(document, chunks)
    told.covered += found.covered
    told.excluded.update(found.excluded)
    for span in found.lost:
        lost = span.of(document.canonical_text)
        told.lost += sum(map(str.isalnum, lost))
        if len(told.losses) < _NAMED:
            told.losses.append((document.document_id, lost[:80]))
