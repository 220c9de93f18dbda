"""From a cut chunk to an indexed one: analysed terms, anchors, and a vector, reused where the text is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.domain.documents import ArchivedDocument, Chunk, IndexedChunk
from service.domain.generations import Generation, Manifest
from service.domain.ports import Embedder, Engine
from service.domain.rights import Access
from service.text.analysis import ANALYZER_VERSION, analyse
from service.text.anchors import find_anchors

_HEADINGS_EMBEDDED = 2  # innermost headings that go into the embedded text; more would drown the chunk itself

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class CutDocument:
    """One document's chunks with the rights and metadata they are indexed under."""

    document: ArchivedDocument
    access: Access
    chunks: tuple[Chunk, ...]


def embedded_text(title: str, chunk: Chunk) -> str:
    """What is embedded of a chunk: title and innermost headings, a table's head, and its own text."""
    above = dict.fromkeys((title, *chunk.heading_path[-_HEADINGS_EMBEDDED:]))
    return "\n".join(
        part for part in (" > ".join(filter(None, above)), chunk.search_prefix, chunk.text) if part
    )


def text_key(text: str) -> str:
    """Under which a vector is reused; the embedder's identity is the caller's to match."""
    return hashlib.sha256(text.encode()).hexdigest()


def known_vectors(engine: Engine, manifest: Manifest) -> dict[str, Vector]:
    """Vectors of the newest earlier generation with the same embedder, by `text_key`."""
    there = set(engine.generations.names(manifest.corpus)) - {manifest.generation}
    earlier = [
        generation
        for m in engine.builds.scan(manifest.corpus)
        if m.generation in there
        and m.processors.embedder == manifest.processors.embedder
        and (generation := Generation.parse(m.generation)) is not None
    ]
    if not earlier:
        return {}
    return {
        text_key(embedded_text(c.title, c.chunk)): c.vector
        for c in engine.generations.scan(earlier[-1], vectors=True)
        if c.vector is not None
    }


def embed(
    texts: Sequence[str], embedder: Embedder, known: Mapping[str, Vector]
) -> tuple[list[Vector | None], int]:
    """Vectors in the given order and how many were reused; None where a text has no meaning to embed."""
    keys = [text_key(text) for text in texts]
    fresh = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
    computed: dict[str, Vector] = {}
    if fresh:
        for key, row in zip(fresh, embedder.embed_passages(list(fresh.values())), strict=True):
            computed[key] = tuple(map(float, row))
    vectors = [computed.get(key) or known.get(key) for key in keys]
    reused = sum(key in known for key in keys)
    return [vector if vector is not None and any(vector) else None for vector in vectors], reused


def index_chunks(
    generation: Generation, chunker_version: str, cut: Iterable[tuple[CutDocument, Chunk, Vector | None]]
) -> Iterable[IndexedChunk]:
    """Chunks as the engine stores them."""
    for owner, chunk, vector in cut:
        headings = "\n".join(dict.fromkeys((owner.document.title, *chunk.heading_path)))
        body = "\n".join(part for part in (chunk.search_prefix, chunk.text) if part)
        anchors = dict.fromkeys(anchor.canonical for anchor in find_anchors(f"{headings}\n{body}"))
        yield IndexedChunk(
            chunk=chunk,
            corpus=generation.corpus,
            corpus_version=generation.corpus_version,
            generation=generation.name,
            title=owner.document.title,
            locale=owner.document.locale,
            canonical_url=owner.document.canonical_url,
            chunker_version=chunker_version,
            analyzer_version=ANALYZER_VERSION,
            access=owner.access,
            body_terms=tuple(analyse(body)),
            heading_terms=tuple(analyse(headings)),
            anchors=tuple(anchors),
            vector=vector,
        )
