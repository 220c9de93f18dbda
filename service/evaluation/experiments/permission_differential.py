"""The same questions in three worlds: what is hidden must make no difference to who may not see it.

    A  the corpus as it is
    B  each document hidden from the asker replaced by a shuffle of the same tokens: same statistics, other content
    C  the corpus without them

A and B: every public response, and every trace, the same: on the embedded engine byte for byte; on Elasticsearch
scores may differ in the last digit of a 32-bit cosine, which is not always summed in the same order. A and C: the same
members, statuses, reason codes, citations and counts. Where a term's rarity in the whole index has a say, the order
may differ, with it the members of a list that is cut, and very seldom what is answered: then the difference must show
in the BM25 leg and nowhere else, and it is counted.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service.access.policy import scope_of, visible
from service.domain.answers import GroundedAnswer, Question, SearchResult
from service.domain.ports import Engine
from service.domain.rights import Principal
from service.errors import InvalidInput, NotFound
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.invented import Invented
from service.evaluation.experiments.permission_questions import Asked, choose_principals, make_questions
from service.evaluation.experiments.twins import Document, copy_world, read_world, shuffled
from service.offline.story import Offline
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile

CORPUS = "differential"
SIZE = 10  # hits asked for
# Lucene sums dot products by Java's Vector API: in an order that may vary over time (FloatVector.reduceLanes). A cosine
# from a score of 32 bits, (1 + cos) / 2, steps by 1.2e-7; the shipped profiles weigh cosines by 70 at most.
NOISE = 1e-5
TRIES = 3  # of one question in one world, while a part of the service is late
# Share of questions whose outcome term statistics may move; 2 of 10,000 were seen on 2,463 documents.
MOVED = 0.001
Present = Callable[[GroundedAnswer | SearchResult], dict[str, Any]]
Open = Callable[[], AbstractContextManager[tuple[Engine, Online]]]
Progress = Callable[[str, int, int], None]


@dataclass(slots=True)
class Tally:
    """What was seen, over all principals."""

    asked: int = 0
    noisy: int = 0  # A and B alike but for the last digits of scores
    late: int = 0  # asked again, as a part of the service was late or gone
    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    hidden: Counter[str] = field(default_factory=Counter)
    leaks: list[dict[str, Any]] = field(default_factory=list)  # A and B differ
    different: dict[str, list[dict[str, Any]]] = field(
        default_factory=dict
    )  # A and C differ, by what differs
    reordered: int = 0  # A and C in another order, or at other ranks of the BM25 leg
    cut: int = 0  # … so that the cut of a list fell elsewhere: other members of the same long list
    moved: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # … so that the outcome is another
    unexplained: list[dict[str, Any]] = field(default_factory=list)  # … and not by BM25 alone
    by_bm25: dict[tuple[str, str, str], bool] = field(
        default_factory=dict
    )  # asked again, the cache has no legs


WHAT = ("status", "reason", "citations", "count", "members")


def publish(
    offline: Offline, sources: Sequence[Path], invented: Sequence[Invented], progress: Progress
) -> None:
    """World A: the sources and the invented documents, built and live."""
    with TemporaryDirectory(prefix="attest-invented-") as folder:
        lines = Path(folder) / "invented.jsonl"
        lines.write_text("".join(json.dumps(d.line) + "\n" for d in invented), encoding="utf-8")
        report = offline.ingest(CORPUS, [*sources, lines], CorpusProfile(name=CORPUS), None, progress)
    if report.refused:
        raise InvalidInput(
            "Documents of the experiment were refused: " + "; ".join(r for _, r in report.refused[:3])
        )
    offline.publish(CORPUS, offline.build(CORPUS, progress).generation)


def run(
    first: tuple[Engine, Online],
    open_world: Open,
    present: Present,
    questions: int,
    principals: int,
    seed: int,
    progress: Progress,
    invented: Sequence[tuple[str, str]] = (),
) -> tuple[Tally, list[Expectation]]:
    """Asks `questions` in all, spread over `principals`, of the corpus that is live in the
    first world.

    `invented` holds (documentId, question) of documents whose questions are known.
    """
    source, _ = first
    generation = source.retrieval.resolve(CORPUS, "live")
    assert generation is not None
    world = read_world(source, generation)
    tally = Tally()
    who = list(choose_principals(world, principals, seed))
    for number, principal in enumerate(who):
        scope = scope_of(principal)
        hidden = {name for name, d in world.items() if not visible(d.entry.access, scope)}
        tally.hidden[_name(principal)] = len(hidden)
        with ExitStack() as stack:
            worlds = [first]
            for change in (lambda d: shuffled(d, seed), lambda _: None):
                engine, path = stack.enter_context(open_world())
                copy_world(source, engine, generation, world, _changing(hidden, change))
                worlds.append((engine, path))
            share = questions // len(who) + (number < questions % len(who))
            for asked in make_questions(world, hidden, share, seed + number, invented):
                responses = [_ask_whole(e, path, principal, asked, present, tally) for e, path in worlds]
                _compare(responses, principal, asked, tally)
                progress("questions", tally.asked, questions)
    return tally, _judge(tally, questions)


def _changing(
    names: set[str], change: Callable[[Document], Document | None]
) -> Callable[[Document], Document | None]:
    return lambda document: change(document) if document.entry.document_id in names else document


# ── one question in one world ───────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Response:
    """What a caller gets, without what names the request or the place: and what an inspector of theirs would see."""

    public: dict[str, Any]
    trace: dict[str, Any]


def _ask_whole(
    engine: Engine, online: Online, who: Principal, asked: Asked, present: Present, tally: Tally
) -> Response:
    """Asked again where the answer is degraded: a part that was late once says something of the machine at that moment,
    nothing of what is hidden. One that is late each time stays, and shows."""
    for _ in range(TRIES):
        response = _ask(engine, online, who, asked, present)
        if not response.public.get("degraded"):
            break
        tally.late += 1
    return response


def _ask(engine: Engine, online: Online, who: Principal, asked: Asked, present: Present) -> Response:
    question = Question("differential", asked.text, CORPUS)
    try:
        value: GroundedAnswer | SearchResult
        value = (
            online.answer(question, who) if asked.door == "answers" else online.search(question, who, SIZE)
        )
    except NotFound as error:  # All that a caller without rights may meet; any other error ends the run.
        return Response({"error": [error.code, error.message]}, {})
    public = present(value)
    trace_id = public.pop("traceId")
    try:
        trace = _placeless(engine, _timeless(online.read_trace(who, trace_id)))
    except NotFound:  # It names a document that they may not see.
        trace = {"refused": True}
    return Response(_placeless(engine, public), trace)


def _placeless(engine: Engine, value: dict[str, Any]) -> dict[str, Any]:
    """Without the engine's prefix: experiments on a server need one for each world."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    placeless: dict[str, Any] = json.loads(text.replace(f"{engine.prefix}-chunks", "chunks"))
    return placeless


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if k not in ("ms", "tookMs", "traceId")}
    return [_timeless(part) for part in value] if isinstance(value, list) else value


# ── comparing ───────────────────────────────────────────────────────────────────────────────────────────


def _compare(responses: Sequence[Response], who: Principal, asked: Asked, tally: Tally) -> None:
    a, b, c = responses
    tally.asked += 1
    tally.kinds[f"{asked.door}/{asked.kind}"] += 1
    tally.outcomes[_outcome(a)] += 1
    told = {"who": _name(who), "door": asked.door, "text": asked.text}
    if _alike(asdict(a), asdict(b)):
        tally.noisy += a != b
    else:
        tally.leaks.append(told | {"A": a.public, "B": b.public, "traces": _differing(a.trace, b.trace)})
    one, other = _facts(a), _facts(c)
    key = (told["who"], asked.door, asked.text)
    if _stage(a.trace, "fuse") or key not in tally.by_bm25:
        tally.by_bm25[key] = _by_bm25_alone(a.trace, c.trace)
    for what in WHAT:
        if one[what] == other[what]:
            continue
        if not tally.by_bm25[key]:
            tally.different.setdefault(what, []).append(told | {"A": one[what], "C": other[what]})
        elif what == "members" and one["count"] == other["count"] == SIZE:
            tally.cut += 1
        else:
            tally.moved.setdefault(what, []).append(told | {"A": one[what], "C": other[what]})
    if not _alike(a.public, c.public):
        tally.reordered += 1
        if not tally.by_bm25[key]:
            tally.unexplained.append(told)


def _differing(one: dict[str, Any], other: dict[str, Any]) -> dict[str, list[Any]]:
    """The parts of two traces that differ, both sides, by stage."""
    a, b = ({s["stage"]: s for s in trace.get("stages", ())} | trace for trace in (one, other))
    return {
        name: [a.get(name), b.get(name)]
        for name in a | b
        if name != "stages" and not _alike(a.get(name), b.get(name))
    }


def _alike(one: Any, other: Any) -> bool:
    """The same; numbers with a fraction up to NOISE."""
    if isinstance(one, float) and isinstance(other, float):
        return abs(one - other) <= NOISE
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_alike(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_alike, one, other))
    return bool(one == other)


def _outcome(response: Response) -> str:
    public = response.public
    if "error" in public:
        return str(public["error"][0])
    if "hits" in public:
        return "hits" if public["hits"] else "no hits"
    return str(public["reasonCode"] or public["status"])


def _facts(response: Response) -> dict[str, Any]:
    """What must not depend on the existence of hidden documents at all."""
    public = response.public
    hits = [hit["chunkId"] for hit in public.get("hits", ())]
    cited = [
        [c["documentId"], c["documentVersion"], c["startOffset"], c["endOffset"], c["quote"]]
        for claim in public.get("claims", ())
        for c in claim["citations"]
    ]
    return {
        "status": public.get("error") or public.get("status"),
        "reason": public.get("reasonCode"),
        "citations": sorted(cited),
        "count": len(hits),
        "members": sorted(hits),
    }


def _by_bm25_alone(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether the other legs put everything that both worlds fused in the same places, and BM25 did not."""
    ranks = [_stage(trace, "fuse").get("ranks", {}) for trace in (one, other)]
    both = ranks[0].keys() & ranks[1].keys()
    others_agree = all(
        {leg: rank for leg, rank in ranks[0][chunk].items() if leg != "bm25"}
        == {leg: rank for leg, rank in ranks[1][chunk].items() if leg != "bm25"}
        for chunk in both
    )
    return others_agree and ranks[0] != ranks[1]


def _stage(trace: dict[str, Any], name: str) -> dict[str, Any]:
    found = [stage["detail"] for stage in trace.get("stages", ()) if stage["stage"] == name]
    return found[-1] if found else {}


def _judge(tally: Tally, questions: int) -> list[Expectation]:
    return [
        expect("questions asked in each of three worlds", questions, tally.asked),
        # Agreement about nothing would prove nothing.
        expect(
            "a third of them or more found or answered something",
            True,
            _told_something(tally) * 3 >= questions,
        ),
        expect("A and B: responses or traces that differ (leaks)", 0, len(tally.leaks)),
        *(
            expect(f"A and C: {what} that differ, not by BM25 alone", 0, len(tally.different.get(what, ())))
            for what in WHAT
        ),
        _seldom(tally, questions),
        expect("A and C: differences that are not BM25's alone", 0, len(tally.unexplained)),
    ]


def _seldom(tally: Tally, questions: int) -> Expectation:
    """A term's rarity in the whole index decides, now and then, which candidates are looked at at all."""
    moved = len({(told["who"], told["text"]) for found in tally.moved.values() for told in found})
    allowed = questions * MOVED
    return Expectation(
        "A and C: outcomes that term statistics moved", f"at most {allowed:g}", str(moved), moved <= allowed
    )


def _told_something(tally: Tally) -> int:
    return sum(tally.outcomes[outcome] for outcome in ("answered", "hits", "CONFLICTING_EVIDENCE"))


def _name(who: Principal) -> str:
    return f"{who.subject} {sorted(who.subjects - {'*'})} {sorted(who.labels)}"


def to_json(tally: Tally, examples: int = 5) -> dict[str, Any]:
    """Counts, and the first examples of whatever differs."""
    return {
        "asked": tally.asked,
        "askedAgainAsDegraded": tally.late,
        "differingInTheLastDigits": tally.noisy,
        "outcomesInA": dict(tally.outcomes.most_common()),
        "questionKinds": dict(sorted(tally.kinds.items())),
        "hiddenDocuments": dict(tally.hidden),
        "leaks": len(tally.leaks),
        "leakExamples": tally.leaks[:examples],
        "differencesAC": {what: len(found) for what, found in tally.different.items()},
        "differenceExamples": {what: found[:examples] for what, found in tally.different.items()},
        "movedByTermStatisticsAC": {what: len(found) for what, found in tally.moved.items()},
        "movedExamples": {what: found[:examples] for what, found in tally.moved.items()},
        "otherOrderByTermStatisticsAC": tally.reordered - len(tally.unexplained),
        "otherMembersAtTheCutAC": tally.cut,
        "notExplainedByBm25": len(tally.unexplained),
        "unexplainedExamples": tally.unexplained[:examples],
    }
