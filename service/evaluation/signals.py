"""What the ranking knows of each candidate, and the gate of the best one: read while the online path answers.

The path is the caller's own but for four things: the reranker's weights are given, what a hidden gold document would
have brought is taken out of what the engine found, nothing is quoted, since the gate has decided by then, and no stage
is held to the caller's time, since the fit shall not depend on how busy the machine is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from service.access.policy import principal_of
from service.adapters.redis_cache import NoCache
from service.domain.answers import Question
from service.domain.generations import Generation
from service.domain.retrieval import Leg, LegResult
from service.domain.rights import Scope
from service.errors import InvalidInput
from service.evaluation.cases import Case
from service.evaluation.gates import LastTrace
from service.evaluation.runs import accepted
from service.evaluation.watching import Place, Watched
from service.online.answering.extractive import AnswerRequest, Proposal
from service.online.entry import Online
from service.online.rerank.contract import RerankCandidate, Reranker, RerankRequest, RerankScore
from service.online.reviewing import NoReviews
from service.profiles.ranking import RankingProfile

# answerable: the corpus answers it; removed: it would, but its gold documents are taken out of what is found;
# outside: a question of other texts; unanswerable: of this corpus's texts, and they do not answer it.
Kind = Literal["answerable", "removed", "outside", "unanswerable"]
Matrix = NDArray[np.float64]

# A question is waited for: a reranker that is late on a busy machine would leave nothing to fit.
_PATIENCE_S = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A case as it is asked: of which set, and as which kind."""

    set_name: str
    kind: Kind
    case: Case


@dataclass(frozen=True, slots=True)
class Observed:
    """`features` has a row for each candidate in fused order, a column for each of `names`; `gold` tells which
    candidates are right, `order` how the weights put them. `gate` is what the gate read of the best, empty where
    the question was refused before it; `passed` whether it let it through; `legs` the best rank of a right chunk in
    each leg and in the fusion, 0 for none."""

    asked: Asked
    languages: str
    names: tuple[str, ...]
    features: Matrix
    gold: NDArray[np.bool_]
    order: tuple[int, ...]
    gate: Mapping[str, float]
    passed: bool
    legs: Mapping[str, int]

    @property
    def right(self) -> bool:
        """Whether the best candidate is a right one."""
        return bool(self.order) and bool(self.gold[self.order[0]])


@dataclass(slots=True)
class Without(Watched):
    """The engine's retrieval as if some documents were not in the corpus."""

    documents: frozenset[str] = frozenset()

    def search(
        self, generation: Generation, legs: Sequence[Leg], scope: Scope, timeout_s: float
    ) -> tuple[LegResult, ...]:
        results = self.inner.search(generation, legs, scope, timeout_s)
        self.found = tuple(self._without(result) for result in results) if self.documents else results
        return self.found

    def _without(self, result: LegResult) -> LegResult:
        left = [hit for hit in result.hits if hit.chunk.document_id not in self.documents]
        return replace(result, hits=tuple(replace(hit, rank=rank) for rank, hit in enumerate(left, 1)))


@dataclass(slots=True)
class Weighed:
    """A reranker whose score is the weighted sum of what `unit`, the same with all weights 1, says of a candidate."""

    unit: Reranker
    weights: Mapping[str, float]
    request: RerankRequest | None = None
    said: Sequence[RerankScore] = field(default_factory=tuple)

    @property
    def identity(self) -> str:
        return self.unit.identity

    def forget(self) -> None:
        self.request, self.said = None, ()

    def rerank(self, request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        self.request, self.said = request, self.unit.rerank(request, deadline)
        scores = []
        for one in self.said:
            parts = {name: self.weights.get(name, 0.0) * value for name, value in one.contributions.items()}
            scores.append(replace(one, score=sum(parts.values()), contributions=parts))
        return scores


def feature_names(online: Online, profile: RankingProfile) -> tuple[str, ...]:
    """What the profile's reranker weighs. Raises InvalidInput where it is no weighted sum of named features."""
    reranker = online.story.load_reranker(profile)
    if reranker is None:
        raise InvalidInput(f"Profile {profile.identity} reranks nothing, so there are no weights to fit.")
    said = reranker.rerank(_ANY, float("inf"))
    told = tuple(said[0].contributions) if said else ()
    if not set(profile.rerank.weights) & set(told):
        raise InvalidInput(
            f"Reranker {reranker.identity} tells no contributions that the profile's weights name: what it learned "
            "stands in its model, and only weights can be fitted here."
        )
    return tuple(dict.fromkeys((*profile.rerank.weights, *told)))


def observe(
    online: Online,
    corpus: str,
    profile: RankingProfile,
    weights: Mapping[str, float],
    asked: Sequence[Asked],
    progress: Callable[[str, int, int], None],
) -> list[Observed]:
    """Asks every question with these weights, in this profile, and keeps what the stages knew."""
    names = feature_names(online, profile)
    profile = profile.model_copy(
        update={"rerank": profile.rerank.model_copy(update={"deadline_s": _PATIENCE_S})}
    )
    weighed = Weighed(_unit(online, profile, names), weights)
    engine = replace(online.story.engine, traces=LastTrace(), reviews=NoReviews())
    told = []
    for number, one in enumerate(asked, 1):
        hidden = one.case.gold_documents() if one.kind == "removed" else frozenset()
        seen = Without(engine.retrieval, documents=hidden)
        story = replace(
            online.story,
            engine=replace(engine, retrieval=seen),
            load_reranker=lambda _: weighed,
            answerer=_say_nothing,
            writer=None,
        )
        path = replace(
            online,
            story=story,
            cache=NoCache(),
            load_profile=lambda _: profile,
            request_timeout_s=_PATIENCE_S,
        )
        told.append(_observed(path, corpus, one, names, seen, weighed))
        progress("observe", number, len(asked))
    return told


def _unit(online: Online, profile: RankingProfile, names: Sequence[str]) -> Reranker:
    """The profile's reranker with all weights 1: its contributions are the features themselves."""
    ones = dict.fromkeys((*profile.rerank.weights, *names), 1.0)
    rerank = profile.rerank.model_copy(
        update={
            name: ones if isinstance(value, dict) else value
            for name, value in ((n, getattr(profile.rerank, n)) for n in type(profile.rerank).model_fields)
        }
    )
    named = profile.model_copy(update={"name": f"{profile.name}+features", "rerank": rerank})
    reranker = online.story.load_reranker(named)
    assert reranker is not None
    return reranker


def _observed(
    online: Online, corpus: str, asked: Asked, names: tuple[str, ...], seen: Without, weighed: Weighed
) -> Observed:
    case = asked.case
    who = principal_of(
        tenant=case.principal.tenant,
        subject=case.principal.subject,
        groups=list(case.principal.groups),
        labels=list(case.principal.labels),
        roles=["reader"],
    )
    weighed.forget()
    answer = online.answer(Question(case.case_id, case.query, corpus, case.corpus_version), who)
    trace = online.story.engine.traces.get(answer.trace_id) or {"stages": []}
    detail = {stage["stage"]: stage["detail"] for stage in trace["stages"]}
    request = weighed.request
    known = {hit.chunk.chunk_id: hit.chunk for leg in seen.found for hit in leg.hits}
    right = {
        name: asked.kind == "answerable"
        and any(accepted(claim, Place(chunk.document_id, name, chunk.span)) for claim in case.required_claims)
        for name, chunk in known.items()
    }
    ids = [candidate.chunk_id for candidate in request.candidates] if request else []
    place = {name: row for row, name in enumerate(ids)}
    order = tuple(place[name] for name in detail.get("rerank", {}).get("order", ()) if name in place)
    gate = detail.get("gate", {})
    best = request.candidates[order[0]] if request and order else None
    lists = {str(leg.leg): [hit.chunk.chunk_id for hit in leg.hits] for leg in seen.found}
    lists["fused"] = detail.get("fuse", {}).get("order", [])
    return Observed(
        asked=asked,
        languages=f"{request.language}>{best.locale[:2]}" if request and best else "",
        names=names,
        features=np.array(
            [[one.contributions.get(name, 0.0) for name in names] for one in weighed.said], dtype=np.float64
        ).reshape(len(ids), len(names)),
        gold=np.array([right[name] for name in ids], dtype=np.bool_),
        order=order,
        gate=dict(gate.get("features", {})),
        passed="gate" in detail and gate.get("reason") is None,
        legs={
            leg: next((rank for rank, name in enumerate(found, 1) if right[name]), 0)
            for leg, found in lists.items()
        },
    )


_ANY = RerankRequest(
    question="x",
    terms=(),
    anchors=frozenset(),
    hard=frozenset(),
    asks_value=False,
    candidates=(RerankCandidate("x", "", (), "", "x", frozenset(), 1),),
)


def _say_nothing(_: AnswerRequest) -> Proposal:
    return Proposal("", ())
