"""A sample of a generation's chunks, made anew and compared: what no look at one chunk alone can tell.

A vector of another text, terms cut short, a table without its head: each is well formed, and wrong. Chunks without
a vector are all looked at, since few texts have no meaning to embed.
"""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from service.domain.documents import ArchivedDocument, Block, Chunk, IndexedChunk
from service.domain.generations import Manifest
from service.domain.ports import Embedder
from service.offline.generations.checks import ArchiveLookup, CheckResult
from service.offline.generations.indexing import analysed, embed, embedded_text
from service.text.analysis import ANALYZER_VERSION
from service.text.token_vectors import Matrix, decode

NAME = "sample made anew"
_SIZE = 32  # chunks; embedding them takes about a second
_VECTORLESS = 256
_NAMED = 5
# The same model on another machine, or an engine that rounds, leaves more than this; another text far less.
_ALIKE = 0.98

Cut = Callable[[str, str, str, Sequence[Block], str], Sequence[Chunk]]


@dataclass(slots=True)
class Sample:
    """Drawn while the chunks pass by on their way to the other checks. The same at every look at a generation, and
    another in the next."""

    manifest: Manifest
    _drawn: list[tuple[int, str, IndexedChunk]] = field(default_factory=list)
    _vectorless: list[IndexedChunk] = field(default_factory=list)

    def watching(self, chunks: Iterable[IndexedChunk]) -> Iterator[IndexedChunk]:
        for indexed in chunks:
            name = indexed.chunk.chunk_id
            lot = hashlib.sha256(f"{self.manifest.generation} {name}".encode()).digest()
            item = (int.from_bytes(lot[:8]), name, indexed)
            if len(self._drawn) < _SIZE:
                heapq.heappush(self._drawn, item)
            elif item[:2] > self._drawn[0][:2]:
                heapq.heapreplace(self._drawn, item)
            if indexed.vector is None and len(self._vectorless) < _VECTORLESS:
                self._vectorless.append(indexed)
            yield indexed

    def check(self, archive: ArchiveLookup, chunker: tuple[str, Cut], embedder: Embedder) -> CheckResult:
        """Cuts, analyses and embeds the sample again. `chunker` is its version and how it cuts; what another version
        of a part made is not compared with what this one would make."""
        sample = {item[1]: item[2] for item in sorted(self._drawn, key=lambda item: item[1])}
        faults = [fault for indexed in sample.values() for fault in self._faults(indexed, archive, chunker)]
        if self.manifest.processors.embedder == embedder.identity:
            sample |= {c.chunk.chunk_id: c for c in self._vectorless}
            tokens = self.manifest.processors.tokens == embedder.token_identity != ""
            faults += _strange_vectors(list(sample.values()), embedder, tokens=tokens)
        return CheckResult(
            NAME, not faults, f"{len(faults)} faults in {len(sample)} chunks", tuple(faults[:_NAMED])
        )

    def _faults(
        self, indexed: IndexedChunk, archive: ArchiveLookup, chunker: tuple[str, Cut]
    ) -> Iterator[str]:
        built, chunk = self.manifest.processors, indexed.chunk
        document = archive([(chunk.document_id, chunk.document_version)]).get(
            (chunk.document_id, chunk.document_version)
        )
        if document is None:
            yield f"{chunk.chunk_id}: its document is not in the archive"
            return
        if built.chunker == chunker[0]:
            found = _cut_again(document, chunker[1], chunk.chunk_id)
            if found is None:
                yield f"{chunk.chunk_id}: its document is cut into no such chunk"
                return
            # Where it points and what repeats it, only a look at all documents tells.
            chunk = replace(found, links=chunk.links, cluster=chunk.cluster)
        yield from _differences(indexed, document, chunk, terms=built.analyzer == ANALYZER_VERSION)


def _cut_again(document: ArchivedDocument, cut: Cut, chunk_id: str) -> Chunk | None:
    chunks = cut(
        document.document_id,
        document.document_version,
        document.canonical_text,
        document.blocks,
        document.title,
    )
    return next((chunk for chunk in chunks if chunk.chunk_id == chunk_id), None)


def _differences(
    indexed: IndexedChunk, document: ArchivedDocument, chunk: Chunk, *, terms: bool
) -> Iterator[str]:
    if indexed.chunk != chunk:
        fields = [f for f in Chunk.__slots__ if getattr(indexed.chunk, f) != getattr(chunk, f)]
        yield f"{chunk.chunk_id}: {', '.join(fields[:3])} not as its document is cut"
    wrong = [p for p in ("title", "locale") if getattr(indexed, p) != getattr(document, p)]
    if terms:
        made = analysed(document.title, chunk)
        wanted = {"terms": made.body, "heading terms": made.heading, "anchors": made.anchors}
        held = (indexed.body_terms, indexed.heading_terms, indexed.anchors)
        wrong += [what for (what, has), own in zip(wanted.items(), held, strict=True) if has != own]
    if wrong:
        yield f"{chunk.chunk_id}: {', '.join(wrong)} not those of its text"


def _strange_vectors(sample: Sequence[IndexedChunk], embedder: Embedder, *, tokens: bool) -> Iterator[str]:
    made = embed((embedded_text(c.title, c.chunk) for c in sample), embedder, tokens=tokens)
    for indexed in sample:
        name, vectors = indexed.chunk.chunk_id, made[embedded_text(indexed.title, indexed.chunk)]
        if indexed.vector is None or vectors.pooled is None:
            if vectors.pooled is not None:
                yield f"{name}: no vector, though its text has one"
            continue
        if not _alike(np.array([indexed.vector]), np.array([vectors.pooled])):
            yield f"{name}: its vector is not that of its text"
        if vectors.tokens and not _alike(
            decode(indexed.tokens or b"", embedder.dimension), decode(vectors.tokens, embedder.dimension)
        ):
            yield f"{name}: the vectors of its tokens are not those of its text"


def _alike(held: Matrix, made: Matrix) -> bool:
    """By the mean cosine of row with row."""
    if held.shape != made.shape:
        return False
    lengths = np.linalg.norm(held, axis=1) * np.linalg.norm(made, axis=1)
    return float(((held * made).sum(axis=1) / np.maximum(lengths, 1e-12)).mean()) >= _ALIKE
