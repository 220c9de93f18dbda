"""What a reranker is given and what it gives back. Plugins import this module, `service.text` and, to run a model,
`service.onnx`; nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from service.domain.retrieval import QuestionTokens

CONTRACT = 1


@dataclass(frozen=True, slots=True)
class RerankCandidate:
    """One candidate's text and what earlier stages know. `fused_rank` counts from 1; `relevance` is the cosine
    with the question above what an unrelated passage of these languages has, or None where it is unknown; `tokens` are
    its packed token vectors (text/token_vectors.py), empty where the caller's corpus keeps none or nobody asked."""

    chunk_id: str
    title: str
    heading_path: tuple[str, ...]
    prefix: str
    text: str
    anchors: frozenset[str]
    fused_rank: int
    relevance: float | None = None
    locale: str = ""
    tokens: bytes = b""


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """`terms` are analysed question terms, `anchors` canonical anchors, `hard` those that must match exactly;
    `language` is the question's: zh, en or other; `tokens` are there when the candidates' are."""

    question: str
    terms: tuple[str, ...]
    anchors: frozenset[str]
    hard: frozenset[str]
    asks_value: bool
    candidates: tuple[RerankCandidate, ...]
    language: str = ""
    tokens: QuestionTokens | None = None


@dataclass(frozen=True, slots=True)
class RerankScore:
    """`score` orders, higher first; NaN counts as unscored. `contributions` sum up to it where that means
    something. `truncated` says that part of the text was never read by the model. `signals` are for later stages,
    whatever the weights: the evidence gate reads `token_relevance`."""

    chunk_id: str
    score: float
    contributions: Mapping[str, float] = field(default_factory=dict)
    truncated: bool = False
    signals: Mapping[str, float] = field(default_factory=dict)


class Reranker(Protocol):
    """A score depends on the question and that one candidate alone: never on order or batch."""

    @property
    def identity(self) -> str:
        """name@version."""
        ...

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        """Scores by `deadline` (a `time.monotonic` value); candidates left out count as unscored."""
        ...
