"""From a cut chunk to an indexed one: analysed terms, anchors, and a vector."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from service.domain.documents import ArchivedDocument, Chunk, IndexedChunk
from service.domain.generations import Generation
from service.domain.ports import Embedder
from service.domain.retrieval import PassageVectors
from service.domain.rights import Access
from service.text.analysis import ANALYZER_VERSION, analyse
from service.text.anchors import find_anchors

_HEADINGS_EMBEDDED = 2  # innermost headings that go into the embedded text; more would drown the chunk itself
_CELL_END = re.compile(r"(?<!\\)\|")
_DESTINATION = re.compile(r"\]\([^()\s]*\)")  # of a link in Markdown


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


@dataclass(frozen=True, slots=True)
class Terms:
    """What the text legs find a chunk by."""

    body: tuple[str, ...]
    heading: tuple[str, ...]
    anchors: tuple[str, ...]


def analysed(title: str, chunk: Chunk) -> Terms:
    """Who asks for a cell names its row and its column: both count as headings beside being text."""
    headings = "\n".join(dict.fromkeys((title, *chunk.heading_path)))
    body = "\n".join(part for part in (chunk.search_prefix, chunk.text) if part)
    anchors = dict.fromkeys(anchor.canonical for anchor in find_anchors(f"{headings}\n{body}"))
    above = "\n".join((headings, *_cell_heads(chunk)))
    return Terms(tuple(analyse(body)), tuple(analyse(above)), tuple(anchors))


def _cell_heads(chunk: Chunk) -> Iterator[str]:
    """A table's row heads, then its column heads, without where they link to. A row is a line, a cell ends with `|`."""
    if chunk.kind != "table":
        return
    for row in chunk.text.split("\n"):
        yield _DESTINATION.sub("]", _CELL_END.split(row.strip().removeprefix("|"), maxsplit=1)[0]).strip()
    for line in chunk.search_prefix.split("\n"):
        if _CELL_END.search(line):  # not its title or unit
            yield _DESTINATION.sub("]", line)


@dataclass(frozen=True, slots=True)
class Vectors:
    """What the meaning legs find a chunk by; None where its text has no meaning to embed. `tokens` are packed, None
    where the corpus keeps none."""

    pooled: tuple[float, ...] | None = None
    tokens: bytes | None = None


def embed(texts: Iterable[str], embedder: Embedder, *, tokens: bool) -> dict[str, Vectors]:
    """Each text once, with its vectors."""
    each = list(dict.fromkeys(texts))
    if tokens:
        made = embedder.embed_passages_with_tokens(each)
    else:
        made = [PassageVectors(row) for row in (embedder.embed_passages(each) if each else ())]
    return {text: _vectors(one) for text, one in zip(each, made, strict=True)}


def _vectors(made: PassageVectors) -> Vectors:
    pooled = tuple(map(float, made.pooled))
    return Vectors(pooled, made.tokens or None) if any(pooled) else Vectors()


def indexed(
    generation: Generation,
    chunker_version: str,
    owner: CutDocument,
    chunk: Chunk,
    terms: Terms,
    vectors: Vectors,
) -> IndexedChunk:
    """The chunk as the engine stores it."""
    return IndexedChunk(
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
        body_terms=terms.body,
        heading_terms=terms.heading,
        anchors=terms.anchors,
        vector=vectors.pooled,
        tokens=vectors.tokens,
    )
