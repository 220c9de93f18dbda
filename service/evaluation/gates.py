"""The gates that ask questions: a generation is asked before it goes live, through the online path itself, in turns
with the live one.

Who asks the sample queries has the groups and labels of `[gates]` and no others: without any, what everybody in the
corpus's tenant sees. A golden case is asked by its own principal. What is told of all this are numbers, reason codes,
names of cases and documents; no text, no cache entry and no trace is left behind.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from service.access.policy import principal_of
from service.domain.answers import Question
from service.domain.generations import Generation, Manifest
from service.domain.rights import Principal
from service.errors import InvalidInput, NotFound
from service.evaluation.cases import Case, case_set
from service.evaluation.runs import CaseResult, run
from service.offline.generations.gates import FIRST, GateResult
from service.online.entry import Online
from service.online.reviewing import NoReviews
from service.profiles.gates import GateSettings, gates_of
from service.text.spans import slice_matches

_NAMED = 5
_ROUNDS = 3  # each question is timed this often on either side
_TIMED = 10  # questions
_ENOUGH_MS = 50.0  # what is this quick need not be compared: a pause of the machine would decide
_EARLIER = 200  # earlier answers whose citations are verified


@dataclass(slots=True)
class LastTrace:
    """Keeps the one record that whoever asked may look at, in this process only."""

    _last: tuple[str, dict[str, Any]] = ("", {})

    def save(self, trace_id: str, record: Mapping[str, Any]) -> None:
        self._last = (trace_id, dict(record))

    def get(self, trace_id: str) -> dict[str, Any] | None:
        return self._last[1] if self._last[0] == trace_id else None

    def citing(self, corpus: str, most: int) -> list[dict[str, Any]]:
        return []


@dataclass(slots=True)
class Asking:
    """One of the two sides. `progress` hears of each question before it is asked, and may end the trial."""

    online: Online
    progress: Callable[[str, int, int], None]
    asked: int = 0

    def begin(self) -> Online:
        self.asked += 1
        self.progress("questions", self.asked, 0)
        return self.online


@dataclass(frozen=True, slots=True)
class OnlineTrial:
    """`online` has no cache; it is asked under a trace store of this trial's own."""

    online: Online
    clock: Callable[[], float] = field(default=time.perf_counter)

    def __call__(
        self, candidate: Manifest, live: Manifest | None, progress: Callable[[str, int, int], None]
    ) -> list[GateResult]:
        stored = self.online.story.engine.registry.corpus_profile(candidate.corpus) or {}
        settings = gates_of(stored)
        asking = principal_of(
            tenant=str(stored.get("tenant", "")),
            subject="attest-gate",
            groups=list(settings.groups),
            labels=list(settings.labels),
            roles=["reader"],
        )
        tried = self._on(candidate, progress)
        before = self._on(live, progress) if live else None
        return [
            sample_gate(tried, candidate.corpus, settings, asking),
            golden_gate(tried, before, candidate.corpus, settings),
            citations_gate(self.online, candidate.corpus),
            self._latency(tried, before, candidate.corpus, settings, asking),
        ]

    def _on(self, manifest: Manifest, progress: Callable[[str, int, int], None]) -> Asking:
        generation = Generation.parse(manifest.generation)
        engine = replace(self.online.story.engine, traces=LastTrace(), reviews=NoReviews())
        online = replace(self.online, story=replace(self.online.story, engine=engine), pinned=generation)
        return Asking(online, progress)

    def _latency(
        self,
        tried: Asking,
        before: Asking | None,
        corpus: str,
        settings: GateSettings,
        asking: Principal,
    ) -> GateResult:
        queries = settings.sample_queries[:_TIMED]
        if before is None or not queries:
            return latency_gate([], [], settings.latency)
        times: dict[bool, list[float]] = {True: [], False: []}
        for turn in range(_ROUNDS):
            for number, query in enumerate(queries, 1):
                # In turns, and either first as often as not: both meet the machine as it is at the moment.
                for is_new in (True, False) if (turn + number) % 2 else (False, True):
                    began = self.clock()
                    _ask(tried if is_new else before, corpus, number, query, asking)
                    times[is_new].append((self.clock() - began) * 1000)
        return latency_gate(times[True], times[False], settings.latency)


def _ask(side: Asking, corpus: str, number: int, query: str, asking: Principal) -> str:
    """How the question ended: "answered", a reason code, or that there was nothing for this principal."""
    try:
        answer = side.begin().answer(Question(f"gate-{number}", query, corpus), asking)
    except NotFound:
        return "nothing in it that the one who asks may see"
    return str(answer.reason or answer.status)


def sample_gate(tried: Asking, corpus: str, settings: GateSettings, asking: Principal) -> GateResult:
    queries = settings.sample_queries
    if not queries:
        return GateResult("sample queries", True, "none are set", "each answered")
    ended = {n: _ask(tried, corpus, n, query, asking) for n, query in enumerate(queries, 1)}
    failed = {n: how for n, how in ended.items() if how != "answered"}
    return GateResult(
        "sample queries",
        not failed,
        f"{len(queries) - len(failed)} of {len(queries)} answered",
        "each answered",
        tuple(f"query {n}: {how}" for n, how in failed.items())[:_NAMED],
    )


def golden_gate(tried: Asking, before: Asking | None, corpus: str, settings: GateSettings) -> GateResult:
    """Compares, bucket by bucket, how many cases end rightly."""
    limit = f"in no bucket worse than live by more than {settings.tolerance:g}"
    if not settings.cases:
        return GateResult("golden cases", True, "none are set", limit)
    try:
        cases = golden_cases(settings.cases)
    except InvalidInput as error:
        return GateResult("golden cases", False, error.message, limit)
    now, then = _judged(tried, corpus, cases), _judged(before, corpus, cases) if before else None
    told = f"{sum(now.values())} of {len(cases)} end rightly"
    if then is None:
        return GateResult("golden cases", True, told, FIRST)
    buckets: dict[str, list[str]] = defaultdict(list)
    for case in cases:
        buckets[case.bucket].append(case.case_id)
    worse = tuple(_worse(buckets, now, then, settings.tolerance))
    found = f"{told}, live has {sum(then.values())}; {len(worse)} of {len(buckets)} buckets worse"
    return GateResult("golden cases", not worse, found, limit, worse[:_NAMED])


def _worse(
    buckets: Mapping[str, Sequence[str]], now: Mapping[str, bool], then: Mapping[str, bool], tolerance: float
) -> Iterator[str]:
    for bucket, names in buckets.items():
        share, before = (sum(side[n] for n in names) / len(names) for side in (now, then))
        if share < before - tolerance - 1e-9:
            lost = ", ".join([n for n in names if then[n] and not now[n]][:_NAMED])
            yield f"{bucket}: {before:.3f} → {share:.3f}, no longer right: {lost}"


def golden_cases(lines: Sequence[str]) -> tuple[Case, ...]:
    """None without lines. Raises InvalidInput naming the first that is no case, or a case that comes twice."""
    return case_set(lines, "gates.golden_cases", otherwise="").cases if lines else ()


def _judged(side: Asking, corpus: str, cases: Sequence[Case]) -> dict[str, bool]:
    """Whether each case ends rightly. Whoever may see nothing of the corpus is told so, which is a refusal."""
    right = {}
    for case in cases:
        try:
            [result] = run(side.begin(), corpus, [case], None, lambda *_: None)
        except NotFound:
            right[case.case_id] = case.answerability == "unanswerable"
        else:
            right[case.case_id] = _right(result)
    return right


def _right(result: CaseResult) -> bool:
    if result.forbidden:
        return False
    if result.case.answerability == "unanswerable":
        return result.answer.status == "no_answer"
    return result.says_it and result.cites_it


def citations_gate(online: Online, corpus: str) -> GateResult:
    """Whether what was cited in the newest answers can still be cut from the archive, byte for byte."""
    engine = online.story.engine
    places = dict.fromkeys(
        (c["documentId"], c["documentVersion"], c["start"], c["end"], c["sha256"])
        for record in engine.traces.citing(corpus, _EARLIER)
        for c in record["outcome"]["citations"]
    )
    if not places:
        return GateResult("earlier citations", True, "no earlier answers are kept", "each verifies")
    wrong: list[str] = []
    for key in dict.fromkeys(place[:2] for place in places):
        document = engine.archive.get_many([key]).get(key)
        for _, _, start, end, sha256 in (place for place in places if place[:2] == key):
            if document is None:
                wrong.append(f"{key[0]}@{key[1][:12]}: not in the archive")
            elif not slice_matches(document.canonical_text, start, end, sha256):
                wrong.append(f"{key[0]}@{key[1][:12]}[{start}:{end}]: not what was quoted")
    return GateResult(
        "earlier citations",
        not wrong,
        f"{len(places) - len(wrong)} of {len(places)} verify",
        "each verifies",
        tuple(wrong[:_NAMED]),
    )


def latency_gate(tried_ms: Sequence[float], live_ms: Sequence[float], times: float) -> GateResult:
    if not tried_ms or not live_ms:
        return GateResult("latency", True, "nothing was timed: no sample queries, or nothing is live", "")
    new, old = median(tried_ms), median(live_ms)
    allowed = max(times * old, _ENOUGH_MS)
    return GateResult(
        "latency",
        new <= allowed,
        f"median {new:.1f} ms, live {old:.1f} ms",
        f"{allowed:.1f} ms",
        (f"{len(tried_ms)} answers each, asked in turns",),
    )
