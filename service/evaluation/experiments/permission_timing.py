"""Does the time of a request tell whether a document that its caller may not see exists?

Two copies of the service hold the same public pages. Every topic has one more page, hidden from the public
caller, in one copy only: in the first for every other topic, in the second for the rest. So each question is asked
where its best match is hidden and where there is none, of two copies that are otherwise alike, equally large, with
equally many hidden pages; and what one copy is slower by is not taken for the effect of a page.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from service.adapters.redis_cache import NoCache
from service.domain.answers import Question
from service.domain.ports import Engine
from service.errors import NotFound
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.permission_pairs import Difference, compare
from service.evaluation.experiments.permission_topics import LABEL, TOPICS, Topic
from service.evaluation.experiments.permission_world import PUBLIC, publish, reader
from service.offline.story import Offline
from service.online.caching import EffectiveScopes
from service.online.entry import Online

CORPUS = "timing"
ENOUGH = 500  # pairs below which nothing is judged
# Who guesses "hidden" from one time is right this often at most; .5 is a coin. The bound is practical: at 500 pairs
# the AUC of equal times lies outside it in fewer than one run of a hundred.
AUC_BOUND = (0.45, 0.55)
# Reading a forbidden source sends and decodes a registry entry that a missing one does not have. A median difference
# below this is far less than what a network between caller and service varies by.
SOURCE_BOUND_MS = 0.25

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Copy:
    """One of the two services: its online path without a cache, and which topics' pages are hidden in it."""

    online: Online
    hides: frozenset[str]


@dataclass(frozen=True, slots=True)
class Target:
    """A topic as all operations need it: the hidden page's version, and a trace that names the page."""

    topic: Topic
    version: str
    trace_id: str


@dataclass(frozen=True, slots=True)
class Measured:
    """One operation: hidden against absent, the same times as copy against copy, and outcomes that were unlike."""

    operation: str
    difference: Difference
    control: Difference
    unlike: int


def run(
    offline: Offline,
    online: Online,
    other: Engine,
    pairs: int,
    seed: int,
    progress: Progress,
    topics: Sequence[Topic] = TOPICS,
) -> tuple[list[Measured], list[Expectation]]:
    """Measures all operations, interleaved; `other` is a second engine of its own, as the caller's first is."""
    copies = _copies(offline, online, other, topics)
    targets = [_target(copies, topic) for topic in topics]
    for operation in _OPERATIONS.values():  # Warm-up: models, pools, compiled statements, page caches.
        for target in targets:
            for copy in copies:
                operation(copy.online, target)
    measured = _measure(copies, targets, pairs, random.Random(seed), progress)
    return measured, [e for m in measured for e in _judge(m)]


def _copies(offline: Offline, online: Online, other: Engine, topics: Sequence[Topic]) -> tuple[Copy, Copy]:
    """Both share model, threads and process: only the engine behind them is another."""
    made = []
    for place, engine in enumerate((online.story.engine, other)):
        writing = replace(offline, engine=engine)
        publish(writing, CORPUS, [page for topic in topics for page in topic.public])
        # Afterwards, as in life: the public pages are there already.
        hidden = [topic.hidden for topic in topics[place::2]]
        publish(writing, CORPUS, hidden)
        made.append(Copy(_over(online, engine), frozenset(page.document_id for page in hidden)))
    return made[0], made[1]


def _over(online: Online, engine: Engine) -> Online:
    scopes = EffectiveScopes(
        lambda generation, tenant: engine.retrieval.rights_in_use(
            generation, tenant, online.request_timeout_s
        )
    )
    return replace(online, story=replace(online.story, engine=engine), scopes=scopes, cache=NoCache())


def _target(copies: Sequence[Copy], topic: Topic) -> Target:
    id_ = topic.hidden.document_id
    [holder] = [copy.online for copy in copies if id_ in copy.hides]
    seen = holder.search(_question(topic), reader(labels=[LABEL], name="warden"), 1)
    if seen.hits[0].document_id != id_:
        raise AssertionError(f"{id_} is not the best match of its question: the experiment shows nothing")
    return Target(topic, seen.hits[0].document_version, seen.trace_id)


# ── what is timed ───────────────────────────────────────────────────────────────────────────────────────


def _question(topic: Topic) -> Question:
    return Question("permission-timing", topic.question, CORPUS)


def _search(online: Online, target: Target) -> object:
    return sorted(hit.document_id for hit in online.search(_question(target.topic), PUBLIC, 10).hits)


def _answer(online: Online, target: Target) -> object:
    answer = online.answer(_question(target.topic), PUBLIC)
    cited = [(c.document_id, c.span) for claim in answer.claims for c in claim.citations]
    return answer.status, answer.reason, cited


def _source(online: Online, target: Target) -> object:
    try:
        return online.read_source(PUBLIC, target.topic.hidden.document_id, target.version, None, None)
    except NotFound as refused:
        return refused.code


def _trace(online: Online, target: Target) -> object:
    try:
        return online.read_trace(PUBLIC, target.trace_id)
    except NotFound as refused:
        return refused.code


_OPERATIONS: dict[str, Callable[[Online, Target], object]] = {
    "search": _search,
    "answer": _answer,
    "source": _source,
    "trace": _trace,
}


def _measure(
    copies: tuple[Copy, Copy],
    targets: Sequence[Target],
    pairs: int,
    order: random.Random,
    progress: Progress,
) -> list[Measured]:
    """Every operation `pairs` times, all in one random order; which copy comes first is balanced, too."""
    plan = [(name, number) for name in _OPERATIONS for number in range(pairs)]
    order.shuffle(plan)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in _OPERATIONS}
    hides: dict[str, list[bool]] = {name: [] for name in _OPERATIONS}
    unlike = dict.fromkeys(_OPERATIONS, 0)
    for done, (name, number) in enumerate(plan, 1):
        target = targets[number % len(targets)]
        turn = 1 if (number // 2 + number // len(targets)) % 2 else -1
        pair: dict[int, tuple[float, object]] = {}
        for place in (0, 1)[::turn]:
            started = time.perf_counter_ns()
            outcome = _OPERATIONS[name](copies[place].online, target)
            pair[place] = ((time.perf_counter_ns() - started) / 1e6, outcome)
        times[name].append((pair[0][0], pair[1][0]))
        hides[name].append(target.topic.hidden.document_id in copies[0].hides)
        unlike[name] += pair[0][1] != pair[1][1]
        progress("pairs", done, len(plan))
    return [_measured(name, times[name], hides[name], unlike[name]) for name in _OPERATIONS]


def _measured(
    name: str, times: Sequence[tuple[float, float]], in_first: Sequence[bool], unlike: int
) -> Measured:
    by_page = [pair if first else pair[::-1] for pair, first in zip(times, in_first, strict=True)]
    hidden, absent = zip(*by_page, strict=True)
    one, other = zip(*times, strict=True)
    return Measured(name, compare(hidden, absent, 1), compare(one, other, 2), unlike)


# ── what is judged ──────────────────────────────────────────────────────────────────────────────────────


def _judge(measured: Measured) -> list[Expectation]:
    name, seen = measured.operation, measured.difference
    return [
        expect(f"{name}: pairs with unlike outcomes", 0, measured.unlike),
        Expectation(f"{name}: pairs", f"at least {ENOUGH}", str(seen.pairs), seen.pairs >= ENOUGH),
        Expectation(
            f"{name}: hidden minus absent",
            "told with 95% intervals",
            _words(seen),
            all(low <= high for low, high in (seen.median_interval_ms, seen.mean_interval_ms)),
        ),
        _bound(name, seen),
        Expectation(
            f"{name}: first copy minus second, a control", "told, not judged", _words(measured.control), True
        ),
    ]


def _bound(name: str, seen: Difference) -> Expectation:
    auc = f"{seen.auc:.3f} [{seen.auc_interval[0]:.3f}, {seen.auc_interval[1]:.3f}]"
    if name == "trace":
        # That a trace exists is seen, and tells nobody anything who was not given its id: 122 random bits.
        return Expectation(f"{name}: AUC", "told, not judged", auc, True)
    if name == "source":
        median = seen.median_difference_ms
        what = f"at most {SOURCE_BOUND_MS} ms apart"
        return Expectation(
            f"{name}: median", what, f"{median:+.4f} ms, AUC {auc}", abs(median) <= SOURCE_BOUND_MS
        )
    least, most = AUC_BOUND
    return Expectation(f"{name}: AUC", f"{least} to {most}", auc, least <= seen.auc <= most)


def _words(d: Difference) -> str:
    low, high = d.median_interval_ms
    least, most = d.mean_interval_ms
    return (
        f"{d.median_ms[0]:.3f} and {d.median_ms[1]:.3f} ms; median {d.median_difference_ms:+.4f} ms "
        f"[{low:+.4f}, {high:+.4f}], mean {d.mean_difference_ms:+.4f} ms [{least:+.4f}, {most:+.4f}], "
        f"d {d.d:+.3f}, slower in {d.slower:.1%} of pairs"
    )


def to_json(measured: Sequence[Measured]) -> dict[str, Any]:
    return {
        m.operation: {
            "hiddenMinusAbsent": m.difference.to_json(),
            "copyMinusCopy": m.control.to_json(),
            "unlike": m.unlike,
        }
        for m in measured
    }
