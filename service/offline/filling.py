"""What a build does with its documents: cut → relate → take over, or analyse and embed → write, in batches."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from service.domain.documents import IndexedChunk, RegistryEntry
from service.domain.generations import Generation, Manifest
from service.domain.ports import Embedder, Engine
from service.errors import BuildRefused
from service.offline.generations import indexing, reuse
from service.offline.ingest import clusters, links
from service.offline.ingest.chunking import Chunker

Item = TypeVar("Item")
Progress = Callable[[str, int, int], None]
_BATCH = 256  # chunks embedded and written together
_READ = 50  # documents read together


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
        cut, figures = _related(
            [one for some in _batches(entries.values(), _READ) for one in self._cut(some)]
        )
        pairs = [(document, chunk) for document in cut for chunk in document.chunks]
        if not pairs:
            raise BuildRefused("None of the documents has any text to index.")
        done = vectors = terms = 0
        refused: list[str] = []
        for batch in _batches(reuse.lent(self.engine, manifest, pairs), _BATCH):
            report = self.engine.generations.write(generation, self._indexed(manifest, generation, batch))
            refused += [f"{r.chunk_id}: {r.reason}" for r in report.refused]
            done += len(batch)
            vectors += sum(one.vectors is not None for one in batch)
            terms += sum(one.terms is not None for one in batch)
            progress("build", done, len(pairs))
        if refused:
            raise BuildRefused(
                f"The engine refused {len(refused)} of {len(pairs)} chunks: " + "; ".join(refused[:5])
            )
        seconds = time.perf_counter() - started
        figures |= {
            "fillSeconds": round(seconds, 3),
            "vectorsReused": float(vectors),
            "termsReused": float(terms),
        }
        counts = {document.document.document_id: len(document.chunks) for document in cut}
        return Filled(len(pairs), counts, figures)

    def _indexed(
        self, manifest: Manifest, generation: Generation, batch: Sequence[reuse.Lent]
    ) -> Iterator[IndexedChunk]:
        """The batch as the engine stores it; what no earlier generation has is analysed and embedded here."""
        texts = {
            one.chunk.chunk_id: indexing.embedded_text(one.owner.document.title, one.chunk)
            for one in batch
            if one.vectors is None
        }
        made = indexing.embed(texts.values(), self.embedder, tokens=bool(manifest.processors.tokens))
        for one in batch:
            terms = one.terms or indexing.analysed(one.owner.document.title, one.chunk)
            vectors = one.vectors or made[texts[one.chunk.chunk_id]]
            yield indexing.indexed(generation, self.version, one.owner, one.chunk, terms, vectors)

    def _cut(self, entries: Sequence[RegistryEntry]) -> Iterator[indexing.CutDocument]:
        archived = self.engine.archive.get_many([(e.document_id, e.current_version) for e in entries])
        for entry in entries:
            document = archived.get((entry.document_id, entry.current_version))
            if document is None:
                raise BuildRefused(
                    f"{entry.document_id!r} is registered, but its version is not in the archive: bring the archive "
                    f"back from a snapshot, read a changed source with `attest ingest`, or take the document out with "
                    f"`attest access delete {entry.corpus} {entry.document_id}`."
                )
            chunks = self.chunker.cut(
                document.document_id,
                document.document_version,
                document.canonical_text,
                document.blocks,
                document.title,
            )
            yield indexing.CutDocument(document, entry.access, tuple(chunks))


def _related(cut: list[indexing.CutDocument]) -> tuple[list[indexing.CutDocument], dict[str, float]]:
    """The documents with what only a look at all of them tells: where their chunks point, and what repeats them."""
    chunks = clusters.clustered(links.linked([(one.document, one.chunks) for one in cut]))
    related = [replace(one, chunks=tuple(own)) for one, own in zip(cut, chunks, strict=True)]
    return related, links.tally(chunks) | clusters.tally(chunks)


def _batches(items: Iterable[Item], most: int) -> Iterator[list[Item]]:
    pending = iter(items)
    while batch := list(itertools.islice(pending, most)):
        yield batch
