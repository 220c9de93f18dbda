"""Small builders of domain values, shared by the contract tests of both engines."""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from service.domain.documents import ArchivedDocument, Block, Chunk, IndexedChunk, RegistryEntry, Span
from service.domain.generations import Generation, Manifest, Processors, live_alias, version_alias
from service.domain.ports import Engine, IndexSettings
from service.domain.retrieval import AnchorLeg, Bm25Leg, KnnLeg, LegResult
from service.domain.rights import Access, Scope
from service.text.token_vectors import encode

CORPUS = "manuals"
VERSION = "cv0123456789ab"
DIMENSION = 4
TIMEOUT_S = 10.0
EVERYBODY = Access("acme", frozenset({"public"}), frozenset({"*"}))


def groups_scope(*groups: str, tenant: str = "acme", labels: Iterable[str] = ()) -> Scope:
    """What somebody in these groups may see."""
    subjects = {"*", "user:somebody", *(f"group:{name}" for name in groups)}
    return Scope(tenant, frozenset({"public", *labels}), frozenset(subjects))


def allowed_to(*groups: str) -> Access:
    return Access("acme", frozenset({"public"}), frozenset(f"group:{name}" for name in groups))


def unit(*values: float) -> tuple[float, ...]:
    """The direction of the values, as float32 keeps it."""
    length = math.sqrt(sum(value * value for value in values))
    return tuple(np.asarray([value / length for value in values], dtype=np.float32).tolist())


def packed(tokens: int) -> bytes:
    """So many token vectors of DIMENSION components."""
    return encode(np.random.default_rng(tokens).standard_normal((tokens, DIMENSION)).astype(np.float32))


def vector(*values: float) -> np.ndarray[Any, np.dtype[np.float32]]:
    return np.asarray(unit(*values), dtype=np.float32)


def chunk(
    document_id: str,
    text: str = "报销 流程",
    *,
    ordinal: int = 1,
    generation: Generation | None = None,
    access: Access = EVERYBODY,
    heading: str = "标题",
    anchors: Sequence[str] = (),
    direction: tuple[float, ...] | None = (1.0, 0.0, 0.0, 0.0),
    **changes: Any,
) -> IndexedChunk:
    """A chunk whose tokens are the words of the text."""
    chunk_id = changes.pop("chunk_id", f"{document_id}@v1#{ordinal}")
    cut = Chunk(
        chunk_id=chunk_id,
        document_id=document_id,
        document_version="v1",
        ordinal=ordinal,
        kind=changes.pop("kind", "paragraph"),
        heading_path=changes.pop("heading_path", ("一级", "二级")),
        span=Span(10, 10 + len(text)),
        text=text,
        text_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        search_prefix=changes.pop("search_prefix", ""),
        section=changes.pop("section", "一级/二级#1"),
        page=changes.pop("page", None),
        previous_id=changes.pop("previous_id", None),
        next_id=changes.pop("next_id", None),
        links=changes.pop("links", ()),
        cluster=changes.pop("cluster", ""),
    )
    return IndexedChunk(
        chunk=cut,
        corpus=CORPUS,
        corpus_version=VERSION,
        generation=generation.name if generation else "",
        title=changes.pop("title", "手册"),
        locale="zh",
        canonical_url="https://example.org/手册",
        chunker_version="chunker-1",
        analyzer_version="analyzer-1",
        access=access,
        body_terms=changes.pop("body_terms", tuple(text.split())),
        heading_terms=tuple(heading.split()),
        anchors=tuple(anchors),
        vector=None if direction is None else unit(*direction),
        **changes,
    )


def new_generation(
    engine: Engine, number: int = 1, *, corpus: str = CORPUS, version: str = VERSION
) -> Generation:
    return Generation(engine.prefix, corpus, version, number)


def built(
    engine: Engine,
    chunks: Iterable[IndexedChunk],
    *,
    number: int = 1,
    dimension: int = DIMENSION,
    settings: IndexSettings | None = None,
) -> Generation:
    """A sealed generation that holds the chunks; none may be refused."""
    settings = settings or IndexSettings(dimension)
    generation = new_generation(engine, number)
    engine.generations.create(generation, settings)
    named = [dataclasses.replace(item, generation=generation.name) for item in chunks]
    report = engine.generations.write(generation, named)
    assert report.refused == ()
    assert report.written == len(named)
    engine.generations.seal(generation, settings)
    return generation


def publish(engine: Engine, generation: Generation) -> None:
    """Puts both aliases on the generation, taking them from wherever they are."""
    names = [
        live_alias(engine.prefix, generation.corpus),
        version_alias(engine.prefix, generation.corpus, generation.corpus_version),
    ]
    aliases = engine.generations.aliases(generation.corpus)
    remove = [(name, behind) for name in names for behind in aliases.get(name, ())]
    engine.generations.switch(dict.fromkeys(names, generation.name), remove)


def bm25(*terms: str, size: int = 10, heading_boost: float = 2.0) -> Bm25Leg:
    return Bm25Leg(terms, heading_boost, size)


def anchored(*anchors: str, size: int = 10) -> AnchorLeg:
    return AnchorLeg(anchors, size)


def nearest(*values: float, k: int = 10, candidates: int = 50) -> KnnLeg:
    return KnnLeg(vector(*values), k, candidates)


def search(engine: Engine, generation: Generation, scope: Scope, *legs: Any) -> tuple[LegResult, ...]:
    return engine.retrieval.search(generation, legs, scope, TIMEOUT_S)


def found_ids(result: LegResult) -> list[str]:
    assert result.error is None, result
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))
    return [hit.chunk.chunk_id for hit in result.hits]


def document(
    document_id: str = "doc", version: str = "v1", text: str = "第一段。\n\n第二段。"
) -> ArchivedDocument:
    return ArchivedDocument(
        document_id=document_id,
        document_version=version,
        raw_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        canonical_text=text,
        canonical_sha256=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        media_type="text/markdown",
        parser_version="markdown-1",
        title="标题",
        locale="zh",
        canonical_url="https://example.org/doc",
        blocks=(
            Block("heading", Span(0, 4), (), level=1),
            Block(
                "table",
                Span(6, 10),
                ("标题",),
                parts=(Span(6, 8),),
                head=Span(8, 9),
                caption=Span(9, 10),
                page=3,
            ),
            Block("code", Span(6, 10), language="sql"),
        ),
        archived_at="2026-12-01T00:00:00Z",
    )


def entry(
    document_id: str = "doc", *, corpus: str = CORPUS, token: str | None = None, **changes: Any
) -> RegistryEntry:
    values: dict[str, Any] = {
        "current_version": "v1",
        "access": EVERYBODY,
        "deleted": False,
        "sequence": 1,
        "updated_at": "2026-12-01T00:00:00Z",
        "updated_by": "tests",
    }
    return RegistryEntry(corpus=corpus, document_id=document_id, token=token, **(values | changes))


def manifest(generation: Generation, **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "state": "building",
        "processors": Processors({"markdown": "1"}, "chunker-1", "analyzer-1", "tiny@1", "chunks.v1:000"),
        "documents": {"doc": "v1", "文档 2": "v2"},
        "chunks": 3,
        "chunks_per_document": {"doc": 2, "文档 2": 1},
        "dimension": DIMENSION,
        "vector_index": "flat",
        "corpus_profile": {"title": "手册", "rules": [{"pattern": "价格"}]},
        "created_at": "2026-12-01T00:00:00Z",
        "updated_at": "2026-12-01T00:00:00Z",
        "updated_by": "tests",
        "timings": {"embed": 1.5},
        "checks": [{"name": "counts", "ok": True}],
    }
    return Manifest(
        generation=generation.name,
        corpus=generation.corpus,
        corpus_version=generation.corpus_version,
        **(values | changes),
    )
