"""What a build takes over from earlier generations: terms, anchors and vectors of texts that are there already.

The text decides, not the name: a chunk of a renamed document, or of a passage that moved, finds its own again. Where a
chunk stands and what it points at are always made anew. What an earlier generation holds is read as a stream and never
kept, so a build takes no more memory for it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from service.domain.documents import Chunk, IndexedChunk
from service.domain.generations import Generation, Manifest
from service.domain.ports import Engine
from service.errors import GenerationGone, Unavailable
from service.offline.generations.checks import is_unit, whole_tokens
from service.offline.generations.indexing import CutDocument, Terms, Vectors, embedded_text
from service.text.analysis import ANALYZER_VERSION


@dataclass(frozen=True, slots=True)
class Lent:
    """A chunk to be indexed, with what an earlier generation has of it; None where that is still to be made. Where the
    corpus keeps token vectors, `vectors` are there only with those of the tokens: one pass of the model makes both."""

    owner: CutDocument
    chunk: Chunk
    terms: Terms | None = None
    vectors: Vectors | None = None


Pair = tuple[CutDocument, Chunk]


@dataclass(frozen=True, slots=True)
class _Lender:
    """`versions` are those of the documents it holds; `vectors` whether they are of today's embedder, with those of the
    tokens where such are wanted; `partial` that it was never finished: it has one copy, which may have gone with its
    node."""

    generation: Generation
    partial: bool
    versions: frozenset[str]
    vectors: bool


def lent(engine: Engine, manifest: Manifest, pairs: Iterable[Pair]) -> Iterator[Lent]:
    """Every pair once: first those that earlier generations have something of, then the rest."""
    waiting: dict[bytes, list[Pair]] = {}
    wanted = bool(manifest.processors.tokens)
    for owner, chunk in pairs:
        waiting.setdefault(_key(owner.document.title, chunk), []).append((owner, chunk))
    for place, lender in enumerate(_lenders(engine, manifest)):
        # What changed may still hold texts of the newest; an older one is read only for documents it has as they are.
        if place and not any(
            o.document.document_version in lender.versions for own in waiting.values() for o, _ in own
        ):
            continue
        # A prune may take it away meanwhile: what is then missing is made anew.
        with suppress(Unavailable if lender.partial else GenerationGone):
            scanned = engine.generations.scan(
                lender.generation, vectors=lender.vectors, tokens=lender.vectors and wanted
            )
            for old in scanned:
                vectors = _vectors(old, manifest)
                for owner, chunk in waiting.pop(_key(old.title, old.chunk), ()):
                    yield Lent(owner, chunk, _terms(old, owner, chunk), vectors)
    for own in waiting.values():
        for owner, chunk in own:
            yield Lent(owner, chunk)


def _lenders(engine: Engine, manifest: Manifest) -> list[_Lender]:
    """Newest first, those of the same embedder before others, whose vectors say nothing here."""
    there = set(engine.generations.names(manifest.corpus)) - {manifest.generation}
    found = []
    for earlier in engine.builds.scan(manifest.corpus):
        generation = Generation.parse(earlier.generation)
        if earlier.generation not in there or generation is None or _doubtful(earlier):
            continue
        wanted, had = manifest.processors, earlier.processors
        same = had.embedder == wanted.embedder and wanted.tokens in ("", had.tokens)
        if same or had.analyzer == wanted.analyzer:
            partial = earlier.state in ("building", "failed")
            found.append(_Lender(generation, partial, frozenset(earlier.documents.values()), same))
    return sorted(found, key=lambda lender: (lender.vectors, lender.generation.number), reverse=True)


def _key(title: str, chunk: Chunk) -> bytes:
    return hashlib.sha256(embedded_text(title, chunk).encode("utf-8", "surrogatepass")).digest()


def _terms(old: IndexedChunk, owner: CutDocument, chunk: Chunk) -> Terms | None:
    """The earlier chunk's terms where all that they are made of is the same."""
    then = old.analyzer_version, old.title, _read(old.chunk)
    now = ANALYZER_VERSION, owner.document.title, _read(chunk)
    return Terms(old.body_terms, old.heading_terms, old.anchors) if then == now else None


def _vectors(old: IndexedChunk, manifest: Manifest) -> Vectors | None:
    """Without a vector it is embedded again: such chunks are few, and one that lost it would stay lost."""
    if old.vector is None or not is_unit(old.vector, manifest.dimension):
        return None
    if not manifest.processors.tokens:
        return Vectors(old.vector)
    return Vectors(old.vector, old.tokens) if whole_tokens(old.tokens, manifest.dimension) else None


def _read(chunk: Chunk) -> tuple[object, ...]:
    return chunk.kind, chunk.heading_path, chunk.search_prefix, chunk.text


def _doubtful(earlier: Manifest) -> bool:
    """Whether its checks, or the look at it before a publish, found it broken. A build that was killed before anybody
    looked is not: it wrote what it had made."""
    broken = any(gate["name"] == "integrity" and not gate["passed"] for gate in earlier.gates)
    return broken or any(not check["passed"] for check in earlier.checks)
