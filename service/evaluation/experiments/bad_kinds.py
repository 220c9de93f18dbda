"""The kinds of bad generation: what is done to chunks and manifest of a good one, and which gate must see it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from service.domain.documents import IndexedChunk, Span
from service.domain.generations import Manifest, Processors
from service.domain.rights import Access
from service.profiles.corpus import CorpusProfile
from service.profiles.gates import GateSettings
from service.text.spans import sha256_text

QUESTION = "How long is the warranty period?"
FILES = {
    "warranty.md": "# Warranty\n\nThe warranty period is 12 months.\n\n## Repair\n\nA repair takes 9 working days.\n",
    "kitchen.md": "# Kitchen\n\nThe kitchen opens at eight in the morning.\n",
    "limits.md": "# Limits\n\n| plan | largest file |\n|---|---|\n| small | 20 MB |\n| large | 500 MB |\n",
    "retries.md": "# 重试\n\n同一任务最多自动重试三次。\n",
    "parking.md": "# Parking\n\nThe garage is closed on Sundays.\n",
    "badges.md": "# Badges\n\nA lost badge is reported to the front desk. Error E-4711 means that it is blocked.\n",
    "pay.md": '---\naccess:\n  allow: ["group:hr"]\n---\n# Pay\n\nSalaries are paid on day 25 of the month.\n',
    "travel.md": "# Travel\n\nTrains are booked in second class.\n",
}
_CASES = [
    {
        "caseId": "kitchen",
        "query": "When does the kitchen open?",
        "answerability": "answerable",
        "requiredClaims": [
            {"claimId": "c", "acceptedDocumentIds": ["kitchen.md"], "requiredTerms": ["eight"]}
        ],
    }
]
PROFILE = CorpusProfile(
    name="bad-generations",
    tenant="demo",
    default_access={"allow": ["*"]},
    gates=GateSettings(sample_queries=(QUESTION,), cases=tuple(map(json.dumps, _CASES))),
)

Chunks = list[IndexedChunk]


def _as_they_are(chunks: Chunks) -> Chunks:
    return chunks


def _as_it_is(manifest: Manifest, chunks: Chunks) -> Manifest:
    return manifest


@dataclass(frozen=True, slots=True)
class Kind:
    """`by` is the gate that must not hold; "engine" where the chunks are not even taken."""

    name: str
    by: str
    chunks: Callable[[Chunks], Chunks] = _as_they_are
    manifest: Callable[[Manifest, Chunks], Manifest] = _as_it_is


def _each(change: Callable[[IndexedChunk], IndexedChunk]) -> Callable[[Chunks], Chunks]:
    return lambda chunks: [change(c) for c in chunks]


def _of(document: str, change: Callable[[IndexedChunk], IndexedChunk]) -> Callable[[Chunks], Chunks]:
    return lambda chunks: [change(c) if c.chunk.document_id == document else c for c in chunks]


def _recounted(manifest: Manifest, chunks: Chunks) -> Manifest:
    """A manifest that agrees with what was written: only a look beyond it can tell."""
    counts = Counter(c.chunk.document_id for c in chunks)
    documents = {d: v for d, v in manifest.documents.items() if d in counts}
    return replace(manifest, documents=documents, chunks_per_document=dict(counts), chunks=len(chunks))


def _built_with(change: Callable[[Processors], Processors]) -> Callable[[Manifest, Chunks], Manifest]:
    return lambda manifest, _: replace(manifest, processors=change(manifest.processors))


def _without(*documents: str) -> Callable[[Chunks], Chunks]:
    return lambda chunks: [c for c in chunks if c.chunk.document_id not in documents]


def _vector(change: Callable[[tuple[float, ...]], tuple[float, ...]]) -> Callable[[Chunks], Chunks]:
    return _each(lambda c: replace(c, vector=change(tuple(map(float, c.vector or ())))))


def _turned(vector: tuple[float, ...]) -> tuple[float, ...]:
    """As another model might have it: of the same length, and pointing elsewhere."""
    return vector[len(vector) // 2 :] + vector[: len(vector) // 2]


def _exchanged(chunks: Chunks) -> Chunks:
    vectors = [c.vector for c in chunks]
    return [replace(c, vector=v) for c, v in zip(chunks, vectors[1:] + vectors[:1], strict=True)]


def _shifted(indexed: IndexedChunk) -> IndexedChunk:
    """One character late, the text as it was."""
    span = indexed.chunk.span
    return replace(indexed, chunk=replace(indexed.chunk, span=Span(span.start + 1, span.end + 1)))


def _begun_late(indexed: IndexedChunk) -> IndexedChunk:
    """Without its first word, and right in itself."""
    text, span = indexed.chunk.text[4:], indexed.chunk.span
    cut = replace(
        indexed.chunk, span=Span(span.start + 4, span.end), text=text, text_sha256=sha256_text(text)
    )
    return replace(indexed, chunk=cut)


def _doubled(chunks: Chunks) -> Chunks:
    again = [replace(c, chunk=replace(c.chunk, chunk_id=f"{c.chunk.chunk_id}b")) for c in chunks]
    return sorted([*chunks, *again], key=lambda c: c.chunk.chunk_id)


def _headless(indexed: IndexedChunk) -> IndexedChunk:
    return replace(indexed, chunk=replace(indexed.chunk, search_prefix=""))


def _empty(indexed: IndexedChunk) -> IndexedChunk:
    cut = replace(indexed.chunk, text="", text_sha256=sha256_text(""))
    return replace(indexed, chunk=cut, body_terms=(), vector=None)


_NOBODY = Access("demo", frozenset(), frozenset())
_ALL = Access("demo", frozenset({"public"}), frozenset({"*"}))
_OTHER = Access("other", frozenset({"public"}), frozenset({"*"}))

KINDS: Sequence[Kind] = (
    Kind(
        "half of the documents missing",
        "documents",
        _without("kitchen.md", "limits.md", "pay.md", "travel.md"),
        _recounted,
    ),
    Kind("chunks lost on the way", "integrity", lambda chunks: chunks[::2]),
    Kind("the document of a sample query missing", "sample queries", _without("warranty.md"), _recounted),
    Kind("access fields emptied", "rights", _each(lambda c: replace(c, access=_NOBODY))),
    Kind("a restricted page for everybody", "rights", _of("pay.md", lambda c: replace(c, access=_ALL))),
    Kind("a foreign tenant's chunk", "rights", _of("travel.md", lambda c: replace(c, access=_OTHER))),
    Kind("zero vectors", "engine", _vector(lambda v: (0.0,) * len(v))),
    Kind("vectors of another dimension", "engine", _vector(lambda v: v[: len(v) // 2])),
    Kind("vectors that are not of length one", "integrity", _vector(lambda v: tuple(2 * x for x in v))),
    Kind("vectors lost", "integrity", _each(lambda c: replace(c, vector=None))),
    Kind("vectors exchanged between chunks", "integrity", _exchanged),
    Kind("vectors of another embedder, not told", "integrity", _vector(_turned)),
    Kind("another embedder", "processors", manifest=_built_with(lambda p: replace(p, embedder="another@1"))),
    Kind("an older analyzer", "processors", manifest=_built_with(lambda p: replace(p, analyzer="terms-0"))),
    Kind(
        "an old mapping",
        "processors",
        manifest=_built_with(lambda p: replace(p, mapping="chunks.v1:0123456789ab")),
    ),
    Kind("shifted spans", "integrity", _each(_shifted)),
    Kind("spans that begin late, with text and hash to match", "integrity", _each(_begun_late)),
    Kind("empty chunks", "integrity", _each(_empty)),
    Kind("lost table heads", "integrity", _of("limits.md", _headless)),
    Kind("terms cut short", "integrity", _each(lambda c: replace(c, body_terms=c.body_terms[:2]))),
    Kind("identifiers lost", "integrity", _of("badges.md", lambda c: replace(c, anchors=()))),
    Kind(
        "headings lost",
        "integrity",
        _each(lambda c: replace(c, heading_terms=(), chunk=replace(c.chunk, heading_path=()))),
    ),
    Kind("every chunk twice", "integrity", _doubled, _recounted),
    Kind("chunks of another generation", "integrity", _each(lambda c: replace(c, generation="elsewhere"))),
    Kind(
        "another version of a document",
        "integrity",
        _of("travel.md", lambda c: replace(c, chunk=replace(c.chunk, document_version="0" * 64))),
    ),
)
