"""Integrity checks: what must be true of a generation before it may go live. Each is named and tells numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from service.domain.documents import ArchivedDocument, Chunk, IndexedChunk, RegistryEntry
from service.domain.generations import Manifest
from service.domain.ports import TokenRights
from service.domain.rights import Access
from service.offline.generations.coverage import coverage
from service.text.spans import slice_matches
from service.text.token_vectors import token_bytes

_NAMED = 5  # offenders a failed check names; the count tells of the rest
_TOLD = 256


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One check: whether it held, its figure, and the first offenders when it did not."""

    name: str
    passed: bool
    found: str
    offenders: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


ArchiveLookup = Callable[[Sequence[tuple[str, str]]], dict[tuple[str, str], ArchivedDocument]]


def faults(results: Iterable[CheckResult]) -> str:
    """What does not hold, in one line; empty when everything does."""
    return "; ".join(f"{r.name}: {r.found} ({', '.join(r.offenders)})" for r in results if not r.passed)


def counted(
    chunks: Iterable[IndexedChunk], total: int, progress: Callable[[str, int, int], None]
) -> Iterator[IndexedChunk]:
    """The chunks as they pass by; how many have is told at every few hundred, where a cancel is heard too, and in the
    end."""
    passed = 0
    for indexed in chunks:
        if passed % _TOLD == 0:
            progress("chunks", passed, total)
        passed += 1
        yield indexed
    progress("chunks", passed, total)


def run_checks(
    manifest: Manifest,
    chunks: Iterable[IndexedChunk],
    kept: Iterable[TokenRights],
    archive: ArchiveLookup,
    registry: Mapping[str, RegistryEntry],
) -> list[CheckResult]:
    """All checks over every chunk of the generation, in one pass over the chunks. `kept` are the rights of the token
    vectors that lie beside them."""
    faults: dict[str, list[str]] = {name: [] for name in CHECKS}
    counts: Counter[str] = Counter()
    document: ArchivedDocument | None = None
    read: tuple[str, str] | None = None
    pending: dict[tuple[str, str], list[Chunk]] = {}
    total = 0
    owners: set[str] = set()
    for indexed in chunks:
        total += 1
        chunk = indexed.chunk
        if indexed.tokens:
            owners.add(chunk.chunk_id)
        counts[chunk.document_id] += 1
        key = (chunk.document_id, chunk.document_version)
        if key != read:
            # Chunks come ordered by chunkId, document by document: one text at a time is enough.
            document, read = archive([key]).get(key), key
        text = document.canonical_text if document else None
        for name in _chunk_faults(indexed, text, manifest, registry):
            faults[name].append(chunk.chunk_id)
        pending.setdefault(key, []).append(chunk)
        if document and len(pending[key]) == manifest.chunks_per_document.get(chunk.document_id):
            faults["coverage"] += _uncovered(document, pending.pop(key))
    # Of these there are more or fewer chunks than there should be.
    for key, cut in pending.items():
        if found_document := archive([key]).get(key):
            faults["coverage"] += _uncovered(found_document, cut)
    for own in kept:
        # One that is left over is a fault too: what was taken from its chunk says what was in it.
        if own.chunk_id not in owners:
            faults["token vectors"].append(own.chunk_id)
        if not _as_registered(own.access, registry.get(own.document_id)):
            faults[RIGHTS].append(f"{own.chunk_id} (its token vectors)")
    faults["chunks per document"] = [
        f"{document_id}: {counts[document_id]} of {expected}"
        for document_id, expected in manifest.chunks_per_document.items()
        if counts[document_id] != expected
    ] + [
        f"{document_id}: not in the manifest"
        for document_id in counts
        if document_id not in manifest.documents
    ]
    results = [
        CheckResult(name, not found, f"{len(found)} of {total} at fault", tuple(found[:_NAMED]))
        for name, found in faults.items()
    ]
    results.append(
        CheckResult("chunks in all", total == manifest.chunks and total > 0, f"{total} of {manifest.chunks}")
    )
    return results


RIGHTS = "rights as registered"
# The order in which results are shown. One name per kind of fault.
CHECKS = (
    "span round trip",
    "document version",
    "text not empty",
    "vector",
    "token vectors",
    RIGHTS,
    "processors",
    "coverage",
    "chunks per document",
)


def _uncovered(document: ArchivedDocument, chunks: Sequence[Chunk]) -> list[str]:
    """Names a document of which some text is in no chunk and in no named exclusion."""
    lost = coverage(document, chunks).lost
    return [f"{document.document_id}: from {lost[0].start} on"] if lost else []


def _chunk_faults(
    indexed: IndexedChunk, text: str | None, manifest: Manifest, registry: Mapping[str, RegistryEntry]
) -> Iterable[str]:
    chunk = indexed.chunk
    whole = text is not None and chunk.span.of(text) == chunk.text
    if not whole or not slice_matches(str(text), chunk.span.start, chunk.span.end, chunk.text_sha256):
        yield "span round trip"
    if manifest.documents.get(chunk.document_id) != chunk.document_version:
        yield "document version"
    # A rule, an ellipsis or a frame of signs has no words to be found by, and hurts nobody.
    wordless = not any(map(str.isalnum, chunk.text))
    if not chunk.text.strip() or not (indexed.body_terms or wordless):
        yield "text not empty"
    # Where there are words there is a direction: without one, the embedder gave nothing or it was lost.
    lost = indexed.vector is None and bool(indexed.body_terms)
    if lost or (indexed.vector is not None and not is_unit(indexed.vector, manifest.dimension)):
        yield "vector"
    # Where there is a vector there are those of the tokens, if the corpus keeps any.
    wanted = bool(manifest.processors.tokens) and indexed.vector is not None
    if (indexed.tokens is not None) != wanted or (
        wanted and not whole_tokens(indexed.tokens, manifest.dimension)
    ):
        yield "token vectors"
    if not _as_registered(indexed.access, registry.get(chunk.document_id)):
        yield RIGHTS
    if (indexed.chunker_version, indexed.analyzer_version) != (
        manifest.processors.chunker,
        manifest.processors.analyzer,
    ) or indexed.generation != manifest.generation:
        yield "processors"


def _as_registered(access: Access, entry: RegistryEntry | None) -> bool:
    """An empty `allow` is a revocation from everybody; without a tenant or a label there are no rights at all."""
    nothing = not access.tenant or not access.labels
    return entry is not None and not entry.deleted and entry.access == access and not nothing


def whole_tokens(tokens: bytes | None, dimension: int) -> bool:
    """Whether these are packed vectors of at least one token."""
    return bool(tokens) and len(tokens or b"") % token_bytes(dimension) == 0


def is_unit(vector: Sequence[float], dimension: int) -> bool:
    """Right dimension and length 1, within what float32 and an engine's own rounding leave of it."""
    return len(vector) == dimension and abs(float(np.linalg.norm(vector)) - 1) < 1e-3
