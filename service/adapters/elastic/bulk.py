"""Bulk writing that reads every item's status: an answer of 200 says nothing about the items in it.

Items refused for now (429, 503) are sent again alone, after a pause that grows; items refused for good are
reported with the engine's reason. The client's `helpers.bulk` raises at the first and loses the rest.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import orjson
from elasticsearch import ApiError, Elasticsearch

from service.adapters.elastic.client import translated

MAX_ITEMS = 500
MAX_BYTES = 5_000_000
# Pauses .2, .4, … 6.4 s: about 13 s in all before an overloaded node's refusal counts as final.
TRIES = 7
FIRST_PAUSE_S = 0.2
_FOR_NOW = frozenset({429, 503})
_REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Item:
    """One operation. `key` is what the caller wants back when it is refused."""

    operation: Literal["index", "update", "delete"]
    id: str
    key: Any
    document: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    key: Any
    status: int
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    done: int
    failures: tuple[Failure, ...]
    retried: int


@dataclass(frozen=True, slots=True)
class _Line:
    """An item, serialised once: its size decides the batches."""

    item: Item
    text: bytes


def bulk(
    client: Elasticsearch, index: str, items: Iterable[Item], *, sleep: Callable[[float], None] = time.sleep
) -> Outcome:
    """Sends all items in batches. Raises Unavailable only when a whole request fails."""
    done, retried = 0, 0
    failures: list[Failure] = []
    for batch in _batches(map(_serialise, items)):
        waiting = batch
        for tried in range(TRIES):
            if tried:
                sleep(FIRST_PAUSE_S * 2 ** (tried - 1))
                retried += len(waiting)
            answered = _send(client, index, waiting)
            done += sum(1 for _, status, _ in answered if status < 300)
            refused = [(line, status, reason) for line, status, reason in answered if status >= 300]
            last = tried == TRIES - 1
            failures += [
                Failure(line.item.key, status, reason)
                for line, status, reason in refused
                if last or status not in _FOR_NOW
            ]
            waiting = [line for line, status, _ in refused if status in _FOR_NOW]
            if not waiting:
                break
    return Outcome(done, tuple(failures), retried)


def _send(client: Elasticsearch, index: str, lines: list[_Line]) -> list[tuple[_Line, int, str]]:
    """Each line with its status and, when refused, the reason."""
    # Lines are ready-made; the client's own type for them knows mappings only.
    operations: Any = b"".join(line.text for line in lines)
    try:
        with translated("writing in bulk"):
            answer = client.bulk(index=index, operations=operations)
    except Exception as error:
        cause = error.__cause__
        if not (isinstance(cause, ApiError) and cause.status_code == 413):
            raise
        if len(lines) == 1:
            return [(lines[0], 413, "larger than one request may be")]
        middle = len(lines) // 2
        return _send(client, index, lines[:middle]) + _send(client, index, lines[middle:])
    results = [next(iter(entry.values())) for entry in answer["items"]]
    return [
        (line, result["status"], _reason(result.get("error")))
        for line, result in zip(lines, results, strict=True)
    ]


def _serialise(item: Item) -> _Line:
    header: dict[str, Any] = {"_id": item.id}
    if item.operation == "update":
        header["retry_on_conflict"] = 5
    lines = [orjson.dumps({item.operation: header})]
    if item.document is not None:
        # An array of float32 is written with as many digits as it takes to read it back.
        lines.append(orjson.dumps(item.document, option=orjson.OPT_SERIALIZE_NUMPY))
    return _Line(item, b"".join(line + b"\n" for line in lines))


def _batches(lines: Iterator[_Line]) -> Iterator[list[_Line]]:
    batch: list[_Line] = []
    size = 0
    for line in lines:
        length = len(line.text)
        if batch and (len(batch) >= MAX_ITEMS or size + length > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(line)
        size += length
    if batch:
        yield batch


def _reason(error: Any) -> str:
    """Type and reason with the innermost cause, which is the one that says what is wrong."""
    if not isinstance(error, dict):
        return "" if error is None else str(error)[:_REASON_CHARS]
    inner = error
    while isinstance(inner.get("caused_by"), dict):
        inner = inner["caused_by"]
    return f"{error.get('type', '')}: {inner.get('reason', '')}"[:_REASON_CHARS]
