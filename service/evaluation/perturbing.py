"""How stable rankings and answers are: small changes of numbers and of wording, and what they move.

Every change is drawn by the case's name, so that two runs make the same ones. Names that must match exactly are left
alone: another name is another question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import rjieba

from service.evaluation.cases import Case
from service.evaluation.gates import LastTrace
from service.evaluation.measures import mean
from service.evaluation.runs import CaseResult, Miss, accepted, miss, run
from service.evaluation.statistics import interval
from service.online.entry import Online
from service.online.reviewing import NoReviews
from service.profiles.ranking import RankingProfile
from service.text.anchors import find_anchors, is_hard
from service.text.language import language

TOP = 10
_PERSISTENCE = 0.9
_DRAWS = 4  # of the weights
_SHARE = 0.1
_RRF_K = (30, 90)
_LETTERS = re.compile(r"[A-Za-z]{4,}")
_HAN = re.compile("[\u4e00-\u9fff]{4,}")


@dataclass(frozen=True, slots=True)
class Flip:
    """A case that comes out right as it is and falls short when changed: what was asked, and how it falls short."""

    case_id: str
    query: str
    miss: Miss


@dataclass(frozen=True, slots=True)
class Stability:
    """One kind of change over all cases. `overlap` is the mean rank-biased overlap of the first ten with its 95 %
    interval; `same_first` how often the best stays; `jumped` cases in which a chunk that was not among the first ten,
    and from which nothing required may be cited, came among the first three; then cases whose answer was lost, was
    gained, or cites other places; `spoilt` those that came out right before, `mended` how many do so only now."""

    kind: str
    cases: int
    overlap: float
    bounds: tuple[float, float]
    same_first: float
    jumped: int
    lost: int
    gained: int
    other: int
    spoilt: tuple[Flip, ...]
    mended: int


def perturb(
    online: Online,
    corpus: str,
    cases: Sequence[Case],
    profile: RankingProfile,
    progress: Callable[[str, int, int], None],
) -> list[Stability]:
    """Asks every case as it is and once for each change, past the cache."""
    moved: dict[str, list[tuple[CaseResult, CaseResult]]] = {}
    for number, case in enumerate(cases, 1):
        before = _ask(online, corpus, case, profile)
        for kind, changed in perturbed(profile):
            moved.setdefault(kind, []).append((before, _ask(online, corpus, case, changed)))
        for kind, query in wordings(case.query, case.case_id):
            reworded = case.model_copy(update={"query": query})
            moved.setdefault(kind, []).append((before, _ask(online, corpus, reworded, profile)))
        progress("perturb", number, len(cases))
    return [_stability(kind, pairs) for kind, pairs in moved.items()]


def rank_biased_overlap(first: Sequence[str], second: Sequence[str], depth: int = TOP) -> float:
    """Of the first `depth`, what lies below taken to agree as those do (Webber, Moffat and Zobel, TOIS 2010, eq. 23,
    p = .9): 1 for the same order, 0 for nothing in common. Two empty lists are the same."""
    depth = min(depth, max(len(first), len(second)))
    if depth == 0:
        return 1.0
    agreed = [len(set(first[:d]) & set(second[:d])) / d for d in range(1, depth + 1)]
    seen = sum(agreement * _PERSISTENCE**d for d, agreement in enumerate(agreed, 1))
    return agreed[-1] * _PERSISTENCE**depth + (1 - _PERSISTENCE) / _PERSISTENCE * seen


def wordings(query: str, seed: str) -> Iterator[tuple[str, str]]:
    """The question asked in other ways: (kind, text). A kind that cannot be made of it is left out."""
    chinese = language(query) == "zh"
    yield "rewording", f"请问，{query}" if chinese else f"Could you tell me: {query}"
    drawn = random.Random(f"{seed} {query}")
    if (typo := _typo(query, drawn, chinese)) is not None:
        yield "typo", typo
    if (turned := _turned(query, chinese)) is not None:
        yield "word order", turned


def _typo(query: str, drawn: random.Random, chinese: bool) -> str | None:
    """One character left out (Chinese), or two letters of a word exchanged."""
    taken = [(a.start, a.end) for a in find_anchors(query) if is_hard(a)]
    spans = [
        found.span()
        for found in (_HAN if chinese else _LETTERS).finditer(query)
        if not any(start < found.end() and found.start() < end for start, end in taken)
    ]
    if not spans:
        return None
    start, end = drawn.choice(spans)
    if chinese:
        at = drawn.randrange(start, end)
        return query[:at] + query[at + 1 :]
    at = drawn.randrange(start, end - 1)
    return query[:at] + query[at + 1] + query[at] + query[at + 2 :]


def _turned(query: str, chinese: bool) -> str | None:
    """The second half of the words before the first; a name with a space in it stays whole."""
    body = query.rstrip("？?。. ")
    if any(" " in a.text for a in find_anchors(query)):
        return None
    words = rjieba.cut(body) if chinese else body.split(" ")
    half = len(words) // 2
    if half == 0:
        return None
    between = "" if chinese else " "
    return between.join([*words[half:], *words[:half]]) + query[len(body) :]


def perturbed(profile: RankingProfile) -> Iterator[tuple[str, RankingProfile]]:
    for k in _RRF_K:
        fusion = profile.fusion.model_copy(update={"rrf_k": k})
        yield f"rrf k {k}", profile.model_copy(update={"name": f"{profile.name}-k{k}", "fusion": fusion})
    # Draws are of the profile and not of the case: each reranker is loaded once.
    for draw in range(_DRAWS):
        drawn = random.Random(f"weights {draw}")
        # Both tables: which of them holds depends on whether the corpus keeps token vectors.
        tables = {
            table: {name: w * drawn.choice((1 - _SHARE, 1 + _SHARE)) for name, w in weights.items()}
            for table, weights in (
                ("weights", profile.rerank.weights),
                ("weights_without_tokens", profile.rerank.weights_without_tokens),
            )
        }
        rerank = profile.rerank.model_copy(update=tables)
        yield (
            "weights ± 10 %",
            profile.model_copy(update={"name": f"{profile.name}-w{draw}", "rerank": rerank}),
        )


def _ask(online: Online, corpus: str, case: Case, profile: RankingProfile) -> CaseResult:
    engine = replace(online.story.engine, traces=LastTrace(), reviews=NoReviews())
    path = replace(online, story=replace(online.story, engine=engine), load_profile=lambda _: profile)
    return run(path, corpus, [case], None, lambda *_: None)[0]


def _cited(result: CaseResult) -> frozenset[tuple[str, int, int]] | None:
    """The places an answer cites; None where there is no answer."""
    if result.answer.status != "answered":
        return None
    citations = (c for claim in result.answer.claims for c in claim.citations)
    return frozenset((c.document_id, c.span.start, c.span.end) for c in citations)


def _jumped(before: CaseResult, after: CaseResult) -> bool:
    known = {place.chunk_id for place in before.order[:TOP]}
    return any(
        place.chunk_id not in known
        and not any(accepted(claim, place) for claim in after.case.required_claims)
        for place in after.order[:3]
    )


def _stability(kind: str, pairs: Sequence[tuple[CaseResult, CaseResult]]) -> Stability:
    orders = [tuple([place.chunk_id for place in side.order] for side in pair) for pair in pairs]
    overlaps = [rank_biased_overlap(before, after) for before, after in orders]
    cited = [(_cited(before), _cited(after)) for before, after in pairs]
    missed = [(miss(before), miss(after), after.case) for before, after in pairs]
    return Stability(
        kind=kind,
        cases=len(pairs),
        overlap=mean(overlaps),
        bounds=interval(overlaps),
        same_first=mean([float(before[:1] == after[:1]) for before, after in orders]),
        jumped=sum(_jumped(before, after) for before, after in pairs),
        lost=sum(after is None and before is not None for before, after in cited),
        gained=sum(before is None and after is not None for before, after in cited),
        other=sum(None not in pair and pair[0] != pair[1] for pair in cited),
        spoilt=tuple(
            Flip(case.case_id, case.query, now) for earlier, now, case in missed if now and not earlier
        ),
        mended=sum(bool(earlier) and now is None for earlier, now, _ in missed),
    )
