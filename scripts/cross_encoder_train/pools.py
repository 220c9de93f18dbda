"""What the service would rerank: each question's candidates after fusion, with all that a reranker is told of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from cross_encoder_train.corpora import PREFIX
from service.access.policy import principal_of
from service.bootstrap import build
from service.domain.answers import Question
from service.domain.documents import Span
from service.domain.retrieval import FoundChunk
from service.evaluation.cases import Case
from service.evaluation.gates import LastTrace
from service.evaluation.runs import accepted
from service.evaluation.watching import Place, watched
from service.online.entry import Online
from service.online.rerank.contract import RerankRequest, RerankScore
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Pool:
    """`gold` maps each right candidate to the spans of its text that are gold; none where the whole of it is."""

    case: Case
    request: RerankRequest
    gold: Mapping[str, Sequence[Span]]


@dataclass(slots=True)
class Looking:
    """A reranker that keeps what it is asked and leaves the order as it is."""

    identity: str = "looking@1"
    asked: list[RerankRequest] = field(default_factory=list)

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        self.asked.append(request)
        return [RerankScore(candidate.chunk_id, -candidate.fused_rank) for candidate in request.candidates]


def open_path(index: Path) -> Online:
    """The online path over an index that `corpora.index` made."""
    return build(Settings(engine="embedded", data_dir=index, prefix=PREFIX, redis_url=None)).online


def pools(online: Online, corpus: str, cases: Sequence[Case]) -> Iterator[Pool]:
    """The pool of each case, as the default profile makes it. Questions that find nothing are left out."""
    looking = Looking()
    path, seen = watched(online)
    engine = replace(path.story.engine, traces=LastTrace())
    path = replace(path, story=replace(path.story, engine=engine, load_reranker=lambda _: looking))
    who = principal_of(tenant="demo", subject="anonymous", groups=[], labels=[], roles=["reader"])
    for case in cases:
        looking.asked.clear()
        path.search(Question(case.case_id, case.query, corpus), who, 1)
        if looking.asked:
            found = {hit.chunk.chunk_id: hit.chunk for leg in seen.found for hit in leg.hits}
            yield Pool(case, looking.asked[0], _gold(case, looking.asked[0], found))


def _gold(case: Case, request: RerankRequest, found: Mapping[str, FoundChunk]) -> dict[str, list[Span]]:
    gold = {}
    for candidate in request.candidates:
        chunk = found[candidate.chunk_id]
        place = Place(chunk.document_id, chunk.chunk_id, chunk.span)
        if any(accepted(claim, place) for claim in case.required_claims):
            gold[candidate.chunk_id] = _inside(case, chunk)
    return gold


def _inside(case: Case, chunk: FoundChunk) -> list[Span]:
    """Where in the chunk's text the gold stands. A text that is not the span of its document, word for word, tells no
    places."""
    if len(chunk.text) != chunk.span.end - chunk.span.start:
        return []
    return [
        Span(max(0, span.start - chunk.span.start), span.end - chunk.span.start)
        for claim in case.required_claims
        for span in claim.accepted_spans
        if span.document_id == chunk.document_id
        and span.start < chunk.span.end
        and chunk.span.start < span.end
    ]
