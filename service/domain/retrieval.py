"""What is asked of the search engine, and what it found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.domain.documents import BlockKind, Link, Span

LegName = Literal["bm25", "anchors", "knn"]
Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTokens:
    """Unit vectors of a question's tokens, (tokens, dimension), and how much each says: weights that sum up to 1."""

    vectors: Vector
    weights: Vector


@dataclass(frozen=True, slots=True, eq=False)
class QuestionVectors:
    """A question's vector, and those of its tokens where the embedder gives any."""

    pooled: Vector
    tokens: QuestionTokens | None = None


@dataclass(frozen=True, slots=True, eq=False)
class PassageVectors:
    """A passage's vector, zero where it has no meaning to embed, and those of its tokens, packed
    (text/token_vectors.py); empty where there are none."""

    pooled: Vector
    tokens: bytes = b""


@dataclass(frozen=True, slots=True)
class Bm25Leg:
    """BM25 over analysed terms: any term may match; headings count `heading_boost` times a body match."""

    terms: tuple[str, ...]
    heading_boost: float
    size: int
    name: LegName = "bm25"


@dataclass(frozen=True, slots=True)
class AnchorLeg:
    """Exact anchors (canonical form): a chunk scores the number of the question's anchors it holds."""

    anchors: tuple[str, ...]
    size: int
    name: LegName = "anchors"


@dataclass(frozen=True, slots=True)
class KnnLeg:
    """Cosine over unit vectors; `vector` has the generation's dimension. Scores are (1 + cos) / 2."""

    vector: Vector
    k: int
    candidates: int
    name: LegName = "knn"


Leg = Bm25Leg | AnchorLeg | KnnLeg


@dataclass(frozen=True, slots=True)
class FoundChunk:
    """A stored chunk as a query returns it; everything needed to rerank, pack and cite it."""

    chunk_id: str
    document_id: str
    document_version: str
    ordinal: int
    kind: BlockKind
    heading_path: tuple[str, ...]
    span: Span
    text: str
    text_sha256: str
    search_prefix: str
    section: str
    page: int | None
    previous_id: str | None
    next_id: str | None
    title: str
    locale: str
    canonical_url: str
    anchors: tuple[str, ...]
    links: tuple[Link, ...] = ()
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class Hit:
    """One found chunk of one leg; `rank` counts from 1, ties are broken by chunkId."""

    chunk: FoundChunk
    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class LegResult:
    """What one leg found, best first. `error` is set, and `hits` empty, when the leg failed."""

    leg: LegName
    hits: tuple[Hit, ...]
    took_ms: float
    error: str | None = None
