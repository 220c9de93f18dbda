"""Twin worlds: a live generation copied to another engine, with some documents replaced or left out.

A shuffled document keeps its id, its rights, its spans, and in every chunk exactly the same bag of tokens: whatever
an inverted index counts stays the same, and nothing it says is left. So two twins can only answer differently where
something of a hidden document's content comes through.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from service.domain.documents import ArchivedDocument, IndexedChunk, RegistryEntry, Span
from service.domain.generations import Generation, live_alias, version_alias
from service.domain.ports import Engine, IndexSettings
from service.text.spans import sha256_text

# Han characters one by one, other words whole; what stands between them keeps its place.
_WORD = re.compile(r"[\u3400-\u9fff]|(?:(?![\u3400-\u9fff])\w)+")


@dataclass(frozen=True, slots=True)
class Document:
    """Everything the stores hold of one document in one generation."""

    archived: ArchivedDocument
    entry: RegistryEntry
    chunks: tuple[IndexedChunk, ...]


def read_world(engine: Engine, generation: Generation) -> dict[str, Document]:
    """The documents of a generation, by id."""
    chunks: dict[str, list[IndexedChunk]] = {}
    for indexed in engine.generations.scan(generation, vectors=True):
        chunks.setdefault(indexed.chunk.document_id, []).append(indexed)
    entries = {entry.document_id: entry for entry in engine.registry.scan(generation.corpus)}
    keys = [(name, own[0].chunk.document_version) for name, own in chunks.items()]
    archived = engine.archive.get_many(keys)
    return {
        name: Document(archived[name, version], entries[name], tuple(chunks[name])) for name, version in keys
    }


def copy_world(
    source: Engine,
    target: Engine,
    generation: Generation,
    world: Mapping[str, Document],
    change: Callable[[Document], Document | None],
) -> None:
    """Makes the generation anew on another engine, live, each document as `change` gives it; None leaves it out."""
    manifest = source.builds.get(generation.name)
    profile = source.registry.corpus_profile(generation.corpus)
    assert manifest is not None and profile is not None, "only a built generation has a twin"
    settings = IndexSettings(manifest.dimension, vector_index=manifest.vector_index)
    twin = replace(generation, prefix=target.prefix)
    target.registry.write_corpus_profile(generation.corpus, profile)
    target.generations.create(twin, settings)
    counts: dict[str, int] = {}
    kept: list[IndexedChunk] = []
    for name, document in world.items():
        changed = change(document)
        if changed is None:
            continue
        target.archive.put(changed.archived)
        target.registry.write(replace(changed.entry, token=None))
        counts[name] = len(changed.chunks)
        kept += [replace(chunk, generation=twin.name) for chunk in changed.chunks]
    report = target.generations.write(twin, kept)
    assert not report.refused, report.refused[:3]
    target.generations.seal(twin, settings)
    target.builds.write(
        replace(
            manifest,
            generation=twin.name,
            documents={name: manifest.documents[name] for name in counts},
            chunks=len(kept),
            chunks_per_document=counts,
            token=None,
        )
    )
    names = (
        live_alias(target.prefix, generation.corpus),
        version_alias(target.prefix, generation.corpus, generation.corpus_version),
    )
    target.generations.switch(dict.fromkeys(names, twin.name), [])


def shuffled(document: Document, seed: int) -> Document:
    """The document with the words of each chunk in another order, its tokens counted as before, and vectors that
    point anywhere."""
    # One order for one document, whoever asks for it.
    own = hashlib.sha256(f"{seed}:{document.entry.document_id}".encode()).digest()
    chance = random.Random(own)
    directions = np.random.default_rng(list(own))
    text = list(document.archived.canonical_text)
    for indexed in document.chunks:
        span = indexed.chunk.span
        text[span.start : span.end] = _shuffled_words("".join(text[span.start : span.end]), chance)
    canonical = "".join(text)
    title = _shuffled_words(document.archived.title, chance)
    archived = replace(
        document.archived, canonical_text=canonical, canonical_sha256=sha256_text(canonical), title=title
    )
    chunks = tuple(_reworded(c, canonical, title, chance, directions) for c in document.chunks)
    return replace(document, archived=archived, chunks=chunks)


def _reworded(
    indexed: IndexedChunk, canonical: str, title: str, chance: random.Random, directions: np.random.Generator
) -> IndexedChunk:
    span: Span = indexed.chunk.span
    words = span.of(canonical)
    vector = None
    if indexed.vector is not None:
        random_vector = directions.standard_normal(len(indexed.vector))
        vector = tuple(float(x) for x in random_vector / np.linalg.norm(random_vector))
    return replace(
        indexed,
        chunk=replace(
            indexed.chunk,
            text=words,
            text_sha256=sha256_text(words),
            search_prefix=_shuffled_words(indexed.chunk.search_prefix, chance),
            heading_path=tuple(_shuffled_words(part, chance) for part in indexed.chunk.heading_path),
        ),
        title=title,
        body_terms=_reordered(indexed.body_terms, chance),
        heading_terms=_reordered(indexed.heading_terms, chance),
        anchors=tuple(f"other-{number}" for number, _ in enumerate(indexed.anchors)),
        vector=vector,
    )


def _reordered(terms: tuple[str, ...], chance: random.Random) -> tuple[str, ...]:
    return tuple(chance.sample(terms, len(terms)))


def _shuffled_words(text: str, chance: random.Random) -> str:
    """The same words and the same length in another order."""
    words = [match.group() for match in _WORD.finditer(text)]
    chance.shuffle(words)
    order = iter(words)
    return _WORD.sub(lambda _: next(order), text)
