"""Readers who ask a running service one question after the other, from a process of their own: a build in this process
takes nothing from them that it would not take from anybody.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from threading import Event, Thread
from urllib.parse import urlsplit

Headers = Mapping[str, str]
_TIMEOUT_S = 60.0


@dataclass(frozen=True, slots=True)
class Reply:
    """When it was asked and answered, by a clock that all processes of a machine share; `fault` when it was neither an
    answer nor a refusal, or a part of it was missing."""

    began: float
    ended: float
    fault: str | None


@dataclass(frozen=True, slots=True)
class Asked:
    """What readers met while something else was going on."""

    what: str
    seconds: float
    requests: int
    faults: dict[str, int]
    per_second: float
    p50_ms: float
    p95_ms: float


class Readers:
    """Those at work. `replies` are there once the block of `reading` has ended."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []

    def met(self, what: str, began: float, ended: float) -> Asked:
        """What was answered between the two moments (of `time.monotonic`)."""
        own = [reply for reply in self.replies if began <= reply.ended < ended]
        faults: dict[str, int] = {}
        for fault in (reply.fault for reply in own if reply.fault):
            faults[fault] = faults.get(fault, 0) + 1
        took = sorted(reply.ended - reply.began for reply in own)
        seconds = ended - began
        return Asked(
            what=what,
            seconds=round(seconds, 1),
            requests=len(own),
            faults=faults,
            per_second=round(len(own) / seconds, 2),
            p50_ms=_percentile(took, 50),
            p95_ms=_percentile(took, 95),
        )


@contextmanager
def reading(url: str, clients: Sequence[Headers], corpus: str, questions: Sequence[str]) -> Iterator[Readers]:
    """One reader for each of the headers asks while the block runs."""
    spawn = get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=_ask_all, args=(theirs, url, list(clients), corpus, list(questions)))
    process.start()
    theirs.close()
    readers = Readers()
    try:
        yield readers
    finally:
        try:
            ours.send("stop")
            readers.replies += ours.recv()
        finally:
            process.join(timeout=_TIMEOUT_S)
            process.kill()


def _ask_all(
    parent: Connection, url: str, clients: Sequence[Headers], corpus: str, questions: Sequence[str]
) -> None:
    stop, replies = Event(), list[Reply]()
    each = [[*questions[start:], *questions[:start]] for start in range(len(clients))]
    threads = [
        Thread(target=_ask, args=(url, headers, corpus, own, stop, replies))
        for headers, own in zip(clients, each, strict=True)
    ]
    for thread in threads:
        thread.start()
    parent.recv()
    stop.set()
    for thread in threads:
        thread.join()
    parent.send(replies)


def _ask(
    url: str, headers: Headers, corpus: str, questions: Sequence[str], stop: Event, replies: list[Reply]
) -> None:
    address, asked = urlsplit(url), 0
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=_TIMEOUT_S)
    while not stop.is_set():
        # In rounds, each in other marks at its end, so that no cache has it yet.
        round_, place = divmod(asked, len(questions))
        marks = f"{round_:b}".translate({ord("0"): "?", ord("1"): "!"}) if round_ else ""
        body = json.dumps({"text": questions[place] + marks, "corpus": corpus})
        asked += 1
        began = time.monotonic()
        try:
            connection.request("POST", "/v1/answers", body, {**headers, "Content-Type": "application/json"})
            response = connection.getresponse()
            fault = _fault(response.status, json.loads(response.read()))
        except (OSError, http.client.HTTPException, ValueError) as error:
            fault = f"no response: {type(error).__name__}"
            connection.close()
        replies.append(Reply(began, time.monotonic(), fault))
    connection.close()


def _fault(status: int, told: Mapping[str, object]) -> str | None:
    if status != 200:
        error = told.get("error")
        return f"{status} {error.get('code') if isinstance(error, dict) else ''}".strip()
    degraded = told.get("degraded")
    return f"degraded: {', '.join(degraded)}" if isinstance(degraded, list) and degraded else None


def _percentile(ordered: Sequence[float], percent: int) -> float:
    if not ordered:
        return 0.0
    return round(ordered[min(len(ordered) - 1, len(ordered) * percent // 100)] * 1000, 1)
