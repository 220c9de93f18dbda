"""What a build does with its documents: cut → relate → analyse → embed → write, in batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from service.domain.documents import RegistryEntry
from service.domain.generations import Generation, Manifest
from service.domain.ports import Embedder, Engine
from service.errors import BuildRefused
from service.offline.generations import indexing
from service.offline.ingest import clusters, links
from service.offline.ingest.chunking import Chunker

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]
_BATCH = 256  # chunks embedded and written together


@dataclass(frozen=True, slots=True)
class Filled:
    """What went into a generation: chunks by document, and figures for the manifest."""

    chunks: int
    chunks_per_document: dict[str, int]
    figures: dict[str, float]


@dataclass(frozen=True, slots=True)
class Filling:
    engine: Engine
    embedder: Embedder
    chunker: Chunker

    @property
    def version(self) -> str:
        """All that decides what a chunk is, and what is known of its place among the others."""
        return "+".join((self.chunker.version, links.VERSION, clusters.VERSION))

    def fill(
        self,
        manifest: Manifest,
        generation: Generation,
        entries: Mapping[str, RegistryEntry],
        progress: Progress,
    ) -> Filled:
        """Raises BuildRefused when there is nothing to write or the engine would not take all of it."""
        started = time.perf_counter()
        cut, figures = _related([self._cut(entry) for entry in entries.values()])
        pairs = [(document, chunk) for document in cut for chunk in document.chunks]
        if not pairs:
            raise BuildRefused("None of the documents has any text to index.")
        known = indexing.known_vectors(self.engine, manifest)
        done = reused = 0
        refused: list[str] = []
        for batch in _batches(pairs):
            texts = [indexing.embedded_text(owner.document.title, chunk) for owner, chunk in batch]
            vectors, again = indexing.embed(texts, self.embedder, known)
            triples = ((owner, chunk, vector) for (owner, chunk), vector in zip(batch, vectors, strict=True))
            report = self.engine.generations.write(
                generation, indexing.index_chunks(generation, self.version, triples)
            )
            refused += [f"{r.chunk_id}: {r.reason}" for r in report.refused]
            done, reused = done + len(batch), reused + again
            progress("build", done, len(pairs))
        if refused:
            raise BuildRefused(
                f"The engine refused {len(refused)} of {len(pairs)} chunks: " + "; ".join(refused[:5])
            )
        seconds = time.perf_counter() - started
        figures |= {"fillSeconds": round(seconds, 3), "vectorsReused": float(reused)}
        counts = {document.document.document_id: len(document.chunks) for document in cut}
        return Filled(len(pairs), counts, figures)

    def _cut(self, entry: RegistryEntry) -> indexing.CutDocument:
        key = (entry.document_id, entry.current_version)
        document = self.engine.archive.get_many([key]).get(key)
        if document is None:
            raise BuildRefused(f"{entry.document_id!r} is registered, but its version is not in the archive.")
        chunks = self.chunker.cut(
            document.document_id,
            document.document_version,
            document.canonical_text,
            document.blocks,
            document.title,
        )
        return indexing.CutDocument(document, entry.access, tuple(chunks))


def _related(cut: list[indexing.CutDocument]) -> tuple[list[indexing.CutDocument], dict[str, float]]:
    """The documents with what only a look at all of them tells: where their chunks point, and what repeats them."""
    chunks = clusters.clustered(links.linked([(one.document, one.chunks) for one in cut]))
    related = [replace(one, chunks=tuple(own)) for one, own in zip(cut, chunks, strict=True)]
    return related, links.tally(chunks) | clusters.tally(chunks)


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
