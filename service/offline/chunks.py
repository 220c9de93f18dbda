"""What a document was cut into: its chunks in a generation, where they point, and what nearly repeats them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from service.access.policy import visible
from service.domain.documents import Chunk, Link
from service.domain.generations import Generation
from service.domain.ports import Engine
from service.domain.rights import Scope
from service.errors import NotFound


@dataclass(frozen=True, slots=True)
class ChunkView:
    """`near` are the chunkIds of its cluster, itself left out, in documents that the scope may see."""

    chunk: Chunk
    links: tuple[Link, ...]
    near: tuple[str, ...]


def document_chunks(
    engine: Engine, scope: Scope, corpus: str, corpus_version: str, document_id: str, *, every_target: bool
) -> tuple[Generation, list[ChunkView]]:
    """The chunks of a document in their order; reads the whole generation, so it is for looking into one by hand.

    Without `every_target` a link to a document that the scope may not see is told as one that leads nowhere, and of
    neither the target is told: as a documentId it would differ from the link as written. Raises NotFound for a corpus,
    generation or document that is missing or not the scope's.
    """
    generation = engine.retrieval.resolve(corpus, corpus_version)
    entry = engine.registry.get_many(corpus, [document_id]).get(document_id)
    if generation is None or entry is None or entry.deleted or not visible(entry.access, scope):
        raise NotFound
    own: list[Chunk] = []
    clusters: dict[str, list[Chunk]] = {}
    for chunk in (indexed.chunk for indexed in engine.generations.scan(generation)):
        if chunk.document_id == document_id:
            own.append(chunk)
        if chunk.cluster:
            clusters.setdefault(chunk.cluster, []).append(chunk)
    named = {link.target for chunk in own for link in chunk.links if link.version is not None}
    named |= {near.document_id for chunk in own for near in clusters.get(chunk.cluster, ())}
    entries = engine.registry.get_many(corpus, sorted(named)).values()
    seen = frozenset(e.document_id for e in entries if not e.deleted and visible(e.access, scope))
    return generation, [
        ChunkView(
            chunk,
            tuple(link if every_target else _as_seen(link, seen) for link in chunk.links),
            tuple(
                near.chunk_id
                for near in clusters.get(chunk.cluster, ())
                if near.chunk_id != chunk.chunk_id and near.document_id in seen
            ),
        )
        for chunk in sorted(own, key=lambda chunk: chunk.ordinal)
    ]


def _as_seen(link: Link, seen: frozenset[str]) -> Link:
    if link.state == "outside" or link.target in seen:
        return link
    return replace(link, target="", version=None, anchor="", state="broken")
