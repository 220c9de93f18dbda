"""Packing: which chunks become evidence S1..Sn, what is joined to them, and why the rest is left out.

Numbered before the answerer is called, and never again. Main evidence comes first, in ranking order; auxiliary
evidence (what the main evidence links to) after it. Pure functions: the story looks up what they ask for.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.domain.answers import Candidate, Evidence
from service.domain.documents import ArchivedDocument, Span
from service.domain.retrieval import FoundChunk
from service.profiles.ranking import Packing
from service.text.binding import bound, names_only
from service.text.folding import fold
from service.text.replaced import exchanges

CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Slots:
    """Tokens of the answerer's window by what they are for. What the question leaves of its slot goes to evidence."""

    instructions: int
    question: int
    evidence: int
    output: int


@dataclass(frozen=True, slots=True)
class Packed:
    """`dropped` gives, for each chunkId left out, the reason; `joined` what a piece was widened by."""

    evidence: tuple[Evidence, ...]
    dropped: dict[str, str] = field(default_factory=dict)
    joined: dict[str, tuple[str, ...]] = field(default_factory=dict)
    tokens: int = 0


def slots_of(packing: Packing, question_tokens: int) -> Slots:
    """The window, shared out. A question may fill its own slot only: it never pushes evidence out."""
    shares = packing.shares
    own = int(packing.window * shares.question)
    used = min(own, question_tokens)
    return Slots(
        instructions=int(packing.window * shares.instructions),
        question=used,
        evidence=int(packing.window * shares.evidence) + own - used,
        output=int(packing.window * shares.output),
    )


def choose(
    candidates: Sequence[Candidate],
    chunks: Mapping[str, FoundChunk],
    packing: Packing,
    budget: int,
    count_tokens: CountTokens,
) -> tuple[tuple[Candidate, ...], dict[str, str], int]:
    """Fills the budget in ranking order; the order is kept, nothing packed is taken back.

    Returns what is kept, why the rest is not, and the tokens used. The first piece always fits, so that one long
    chunk cannot turn a good answer into none.
    """
    kept: list[Candidate] = []
    dropped: dict[str, str] = {}
    per_document: dict[str, int] = {}
    used = 0
    for candidate in candidates:
        chunk = chunks[candidate.chunk_id]
        same = next((k.chunk_id for k in kept if _repeats(chunks[k.chunk_id], chunk)), None)
        if same is not None:
            dropped[chunk.chunk_id] = f"near_duplicate of {same}"
        elif len(kept) >= packing.max_evidence:
            dropped[chunk.chunk_id] = "evidence_full"
        elif per_document.get(chunk.document_id, 0) >= packing.per_document:
            dropped[chunk.chunk_id] = "document_quota"
        else:
            tokens = tokens_of(chunk, count_tokens)
            if kept and used + tokens > budget:
                dropped[chunk.chunk_id] = "token_budget"
                continue
            used += tokens
            per_document[chunk.document_id] = per_document.get(chunk.document_id, 0) + 1
            kept.append(candidate)
    return tuple(kept), dropped, used


def tokens_of(chunk: FoundChunk, count_tokens: CountTokens) -> int:
    return count_tokens(f"{chunk.search_prefix}\n{chunk.text}")


def _repeats(kept: FoundChunk, chunk: FoundChunk) -> bool:
    """Two versions of one document repeat nothing: which version says it is part of what is said. A cluster of another
    document's chunks agrees in every number, unit and negation; where one has other words in the place of the kept
    one's, it may name somebody else."""
    same_version = (kept.document_id, kept.document_version) == (chunk.document_id, chunk.document_version)
    if same_version and _read(kept) == _read(chunk):
        return True
    return bool(chunk.cluster) and kept.cluster == chunk.cluster and not exchanges(_read(kept), _read(chunk))


def _read(chunk: FoundChunk) -> str:
    return " ".join(fold(f"{chunk.search_prefix} {chunk.text}").split())


# ── neighbours ──────────────────────────────────────────────────────────────────────────────────────────


def neighbours_of(kept: Sequence[Candidate], chunks: Mapping[str, FoundChunk], first: int) -> tuple[str, ...]:
    """ChunkIds beside the first pieces that are not at hand: whether they are needed is seen in their text."""
    beside = (
        near
        for candidate in kept[:first]
        for near in (chunks[candidate.chunk_id].previous_id, chunks[candidate.chunk_id].next_id)
    )
    return tuple(dict.fromkeys(name for name in beside if name is not None and name not in chunks))


def joins(
    kept: Sequence[Candidate], chunks: Mapping[str, FoundChunk], first: int
) -> dict[str, tuple[str | None, str | None]]:
    """For each of the first pieces that cannot be read alone, the chunk before it, the chunk after it, or both.

    Only within one version and section, and only text that is not a piece of its own already.
    """
    taken = {candidate.chunk_id for candidate in kept}
    found: dict[str, tuple[str | None, str | None]] = {}
    for candidate in kept[:first]:
        chunk = chunks[candidate.chunk_id]
        before = _beside(chunk, chunk.previous_id, chunks, taken)
        after = _beside(chunk, chunk.next_id, chunks, taken)
        ahead = before if before and _leans(before, chunk) else None
        behind = after if after and _leans(chunk, after) else None
        if ahead or behind:
            taken |= {near.chunk_id for near in (ahead, behind) if near}
            found[chunk.chunk_id] = (
                ahead.chunk_id if ahead else None,
                behind.chunk_id if behind else None,
            )
    return found


def _leans(first: FoundChunk, second: FoundChunk) -> bool:
    """Whether the one cannot be read without the other: a rule and its limit, a name and what is said of it."""
    last = first.text.rstrip().rsplit("\n", 1)[-1]
    return bound(first.text, "\n\n", second.text) or names_only(last)


def _beside(
    chunk: FoundChunk, name: str | None, chunks: Mapping[str, FoundChunk], taken: Collection[str]
) -> FoundChunk | None:
    near = chunks.get(name) if name is not None and name not in taken else None
    if near is None or "table" in (near.kind, chunk.kind):
        return None  # A table's head and unit travel with each of its pieces already.
    same = (near.document_id, near.document_version, near.section) == (
        chunk.document_id,
        chunk.document_version,
        chunk.section,
    )
    return near if same else None


def widened(chunk: FoundChunk, near: Sequence[FoundChunk], document: ArchivedDocument | None) -> FoundChunk:
    """The chunk with its neighbours, cut anew from the archive; unchanged where the archive does not bear it out."""
    parts = [chunk, *near]
    span = Span(min(p.span.start for p in parts), max(p.span.end for p in parts))
    if document is None or any(p.span.of(document.canonical_text) != p.text for p in parts):
        return chunk
    return replace(chunk, span=span, text=span.of(document.canonical_text))


# ── numbering ───────────────────────────────────────────────────────────────────────────────────────────


def numbered(
    main: Sequence[tuple[FoundChunk, float]], auxiliary: Sequence[tuple[FoundChunk, float]]
) -> tuple[Evidence, ...]:
    return tuple(_numbered(main, auxiliary))


def _numbered(
    main: Sequence[tuple[FoundChunk, float]], auxiliary: Sequence[tuple[FoundChunk, float]]
) -> Iterator[Evidence]:
    for place, (chunk, score) in enumerate((*main, *auxiliary)):
        yield Evidence(
            source_id=f"S{place + 1}",
            chunk_id=chunk.chunk_id,
            document_id=chunk.document_id,
            document_version=chunk.document_version,
            kind=chunk.kind,
            title=chunk.title,
            heading_path=chunk.heading_path,
            span=chunk.span,
            text=chunk.text,
            search_prefix=chunk.search_prefix,
            canonical_url=chunk.canonical_url,
            page=chunk.page,
            score=score,
            role="main" if place < len(main) else "auxiliary",
        )
