"""Clients ask over HTTP without a pause while generations are switched: no error, no mixture, nothing stale."""

from __future__ import annotations

import http.client
import json
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event
from typing import Any, cast
from urllib.parse import urlsplit

from service.domain.generations import Generation
from service.domain.ports import Generations
from service.evaluation.experiments import Expectation, expect
from service.offline.intake import Progress
from service.offline.story import Offline, quiet
from service.profiles.corpus import CorpusProfile

CORPUS = "switch-under-load"
TENANT = "demo"
# Of different things, so that none contradicts another: the sentence with its number, and what is asked.
PAGES = {
    "pump": ("备用水泵的额定压力是 {} bar。", "备用水泵的额定压力是多少？"),
    "backup": ("夜间备份保留 {} 天。", "夜间备份保留几天？"),
    "hall": ("The assembly hall seats {} people.", "How many people does the assembly hall seat?"),
    "lamp": ("灯塔每 {} 秒闪一次。", "灯塔每几秒闪一次？"),
    "ferry": (
        "The ferry crosses the bay in {} minutes.",
        "In how many minutes does the ferry cross the bay?",
    ),
    "archive": ("档案室的湿度上限是 {} %。", "档案室的湿度上限是多少？"),
}
GENERATIONS = 3
Headers = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Contents:
    """What may stand in a response of one generation."""

    versions: Mapping[str, str]
    chunks: frozenset[str]


@dataclass(frozen=True, slots=True)
class Reply:
    """One response as it came: when it was asked for and there, from which generation, and what was wrong with it."""

    began: float
    ended: float
    path: str
    generation: str | None
    fault: str | None
    mixed: bool


@dataclass(slots=True)
class Switches:
    """The alias calls, each from its start to its return: what was live when."""

    first: str
    began: list[float] = field(default_factory=list)
    ended: list[float] = field(default_factory=list)
    to: list[str] = field(default_factory=list)

    def possible(self, began: float, ended: float) -> set[str]:
        """What a request over this time may speak of: what the last finished call before it made live, and what later
        calls made live before it ended."""
        before = bisect_right(self.ended, began)
        live = self.to[before - 1] if before else self.first
        return {live, *self.to[before : bisect_right(self.began, ended)]}


@dataclass(slots=True)
class Timed:
    """The generations port, which notes when the alias call runs. Passes everything on as it is."""

    inner: Generations
    switches: Switches

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def switch(self, add: Mapping[str, str], remove: Sequence[tuple[str, str]]) -> None:
        began = time.perf_counter()
        self.inner.switch(add, remove)
        self.switches.began.append(began)
        self.switches.ended.append(time.perf_counter())
        self.switches.to.append(next(name for alias, name in add.items() if alias.endswith("@live")))


def prepare(offline: Offline, progress: Progress = quiet) -> tuple[str, ...]:
    """Generations that differ in the text of every page, the first of them live."""
    names = []
    for number in range(GENERATIONS):
        progress("generations", number, GENERATIONS)
        with TemporaryDirectory(prefix="attest-load-") as folder:
            source = Path(folder) / "pages.jsonl"
            source.write_text("\n".join(_pages(number)), encoding="utf-8")
            offline.ingest(CORPUS, [source], CorpusProfile(name=CORPUS, tenant=TENANT), None, quiet)
        names.append(offline.build(CORPUS, quiet).generation)
    offline.publish(CORPUS, names[0])
    return tuple(names)


def run(
    offline: Offline,
    names: Sequence[str],
    url: str,
    clients: Sequence[Headers],
    switches: int,
    rollbacks: int,
    progress: Progress = quiet,
) -> tuple[dict[str, Any], list[Expectation]]:
    """Switches and rolls back between the generations of `prepare` while one client for each of the headers asks."""
    contents = {name: _contents(offline, name) for name in names}
    made = Switches(names[0])
    timed = cast(Generations, Timed(offline.engine.generations, made))
    switching = replace(offline, engine=replace(offline.engine, generations=timed))
    stop, began = Event(), time.perf_counter()
    heard: list[list[Reply]] = [[] for _ in clients]
    with ThreadPoolExecutor(len(clients)) as pool:
        asking = [
            pool.submit(_ask, url, headers, number, contents, stop, heard[number])
            for number, headers in enumerate(clients)
        ]
        try:
            done = _switch(
                switching, names, switches, rollbacks, lambda: _until_heard(heard, asking), progress
            )
        finally:
            stop.set()
        for client in asking:
            client.result()
    replies = [reply for client in heard for reply in client]
    figures, told = _told(replies, made, done, time.perf_counter() - began, (switches, rollbacks))
    return figures | {"cacheHits": _cache_hits(url)}, told


def _pages(number: int) -> list[str]:
    return [
        json.dumps(
            {
                "documentId": name,
                "title": name,
                "text": text.format(_number(place, number)),
                "access": {"allow": ["*"]},
            },
            ensure_ascii=False,
        )
        for place, (name, (text, _)) in enumerate(PAGES.items())
    ]


def _number(place: int, number: int) -> int:
    """No two pages and no two generations have the same."""
    return 10 * (number + 1) + place


def _contents(offline: Offline, name: str) -> Contents:
    manifest, generation = offline.engine.builds.get(name), Generation.parse(name)
    if manifest is None or generation is None:
        raise ValueError(f"{name} was not built")
    chunks = offline.engine.generations.scan(generation, vectors=False)
    return Contents(manifest.documents, frozenset(indexed.chunk.chunk_id for indexed in chunks))


def _until_heard(heard: Sequence[Sequence[Reply]], asking: Sequence[Future[None]]) -> None:
    """Returns when a request that began after this call is answered: each client has at most one on its way, so one
    response more than there are clients is of such a request. Also when a client has failed."""
    enough = sum(map(len, heard)) + len(heard) + 1
    while sum(map(len, heard)) < enough and not any(client.done() for client in asking):
        time.sleep(0.005)


def _switch(
    offline: Offline,
    names: Sequence[str],
    switches: int,
    rollbacks: int,
    until_heard: Callable[[], None],
    progress: Progress,
) -> tuple[int, int]:
    """Publishes the next generation each time, rollbacks spread between; each is asked before the next."""
    live, back = 0, 0
    until_heard()
    for number in range(switches):
        due = rollbacks * (number + 1) // switches > back
        live = (live + 1) % len(names)
        if due and live == 0:
            live = 1  # Always something newer, so that there is something to go back to.
        offline.publish(CORPUS, names[live])
        until_heard()
        if due:
            live = names.index(offline.rollback(CORPUS)[1].live)
            back += 1
            until_heard()
        progress("switches", number + 1, switches)
    return switches, back


def _ask(
    url: str,
    headers: Headers,
    number: int,
    contents: Mapping[str, Contents],
    stop: Event,
    replies: list[Reply],
) -> None:
    """One client's loop: answers and searches in turns. All ask the same few questions, so the cache is used; every
    second client ends them in other marks each time, so that the whole path is gone too."""
    address, questions = urlsplit(url), [question for _, question in PAGES.values()]
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    while not stop.is_set():
        turn = number + len(replies)
        place, round_ = turn % len(PAGES), turn // len(PAGES)
        path = "/v1/search" if (place + round_) % 3 == 2 else "/v1/answers"
        marks = f"{turn:b}".translate({ord("0"): "?", ord("1"): "!"}) if number % 2 else ""
        body = json.dumps({"text": questions[place] + marks, "corpus": CORPUS})
        began = time.perf_counter()
        try:
            connection.request("POST", path, body, {**headers, "Content-Type": "application/json"})
            response = connection.getresponse()
            status, told = response.status, json.loads(response.read())
        except (OSError, http.client.HTTPException, ValueError) as error:
            replies.append(
                Reply(began, time.perf_counter(), path, None, f"no response: {type(error).__name__}", False)
            )
            connection.close()
            continue
        ended = time.perf_counter()
        if status != 200:
            replies.append(
                Reply(began, ended, path, None, f"{status} {told.get('error', {}).get('code')}", False)
            )
            continue
        generation = told["retrieval"]["generation"]
        fault, mixed = _judged(told, place, generation, contents)
        replies.append(Reply(began, ended, path, generation, fault, mixed))
    connection.close()


def _judged(
    told: Mapping[str, Any], place: int, name: str, contents: Mapping[str, Contents]
) -> tuple[str | None, bool]:
    """What is wrong with it, and whether anything in it is from another generation than it names."""
    own = contents.get(name)
    if own is None:
        return f"unknown generation {name}", False
    shown = [*told.get("hits", ()), *(c for claim in told.get("claims", ()) for c in claim["citations"])]
    ids = {part["chunkId"] for part in shown} | set(told["retrieval"]["candidateChunkIds"])
    if not ids <= own.chunks or any(
        own.versions.get(part["documentId"]) != part["documentVersion"] for part in shown
    ):
        return None, True
    if told["degraded"]:
        return f"degraded: {', '.join(told['degraded'])}", False
    if not shown:
        return f"nothing found: {told.get('reasonCode')}", False
    if "answer" not in told:
        return None, False
    number = str(_number(place, list(contents).index(name)))
    return None, number not in (told["answer"] or "")


def _cache_hits(url: str) -> int:
    """As the service counts them: without any, nothing would be said of a stale cache."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=60)
    connection.request("GET", "/metrics")
    metrics = connection.getresponse().read().decode()
    connection.close()
    counter = 'attest_events_total{kind="cache",name="hit"} '
    hits = (line.removeprefix(counter) for line in metrics.splitlines() if line.startswith(counter))
    return int(float(next(hits, "0")))


def _told(
    replies: Sequence[Reply],
    made: Switches,
    done: tuple[int, int],
    seconds: float,
    wanted: tuple[int, int],
) -> tuple[dict[str, Any], list[Expectation]]:
    faults = Counter(reply.fault for reply in replies if reply.fault)
    good = [reply for reply in replies if reply.generation]
    stale = [r for r in good if r.generation not in made.possible(r.began, r.ended)]
    across = sum(len(made.possible(r.began, r.ended)) > 1 for r in good)
    figures = {
        "requests": len(replies),
        "perSecond": round(len(replies) / seconds, 1),
        "seconds": round(seconds, 1),
        "requestsAcrossASwitch": across,
        "aliasCallMs": _percentiles([e - b for b, e in zip(made.began, made.ended, strict=True)]),
        "answersMs": _percentiles([r.ended - r.began for r in good if r.path == "/v1/answers"]),
        "searchMs": _percentiles([r.ended - r.began for r in good if r.path == "/v1/search"]),
        "generationsSeen": dict(sorted(Counter(str(r.generation) for r in good).items())),
    }
    return figures, [
        expect("switches and rollbacks done", wanted, done),
        expect("alias calls", sum(wanted), len(made.to)),
        expect("errors", {}, dict(faults)),
        expect("responses from two generations", 0, sum(reply.mixed for reply in replies)),
        expect("responses that were stale when asked for", 0, len(stale)),
        expect("generations seen", GENERATIONS, len({reply.generation for reply in good})),
    ]


def _percentiles(seconds: Sequence[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"p{percent}": round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000, 1)
        for percent in (50, 95, 99)
        if ordered
    }
