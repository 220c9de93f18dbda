"""Records by id: real-time multi-get, and compare-and-set writes.

A missing index holds nothing; a failing one raises.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elasticsearch import ConflictError, NotFoundError

from service.adapters.elastic.client import error_type, translated
from service.adapters.elastic.system import SystemIndices
from service.errors import Conflict, Unavailable


@dataclass(frozen=True, slots=True)
class Stored:
    """A record with the mark that a compare-and-set needs."""

    source: dict[str, Any]
    token: str


def token_of(answer: Any) -> str:
    """`seqNo:primaryTerm` of a get, hit or write answer."""
    return f"{answer['_seq_no']}:{answer['_primary_term']}"


def get_records(
    system: SystemIndices, kind: str, ids: Sequence[str], *, batch: int = 1000
) -> dict[str, Stored]:
    """Records by `_id`; unknown ids are absent."""
    index = system.name(kind)
    found: dict[str, Stored] = {}
    for start in range(0, len(ids), batch):
        with translated(f"reading the {kind} index"):
            try:
                answer = system.client.mget(index=index, ids=list(ids[start : start + batch]))
            except NotFoundError as error:
                if error_type(error) == "index_not_found_exception":
                    return {}
                raise
        for item in answer["docs"]:
            if "error" in item:
                if item["error"]["type"] == "index_not_found_exception":
                    return {}
                # Absent and unreadable are different things: unreadable rights must not look like no rights.
                raise Unavailable(f"The {kind} index could not be read.")
            if item.get("found"):
                found[item["_id"]] = Stored(item["_source"], token_of(item))
    return found


def put_with_token(
    system: SystemIndices, index: str, id_: str, record: dict[str, Any], token: str | None
) -> str:
    """Compare-and-set on `_seq_no` and `_primary_term`. Raises Conflict."""
    try:
        if token is None:
            return token_of(system.client.create(index=index, id=id_, document=record))
        seq_no, term = map(int, token.split(":"))
        return token_of(
            system.client.index(index=index, id=id_, document=record, if_seq_no=seq_no, if_primary_term=term)
        )
    except ConflictError as error:
        raise Conflict("The record was written by somebody else meanwhile; read it again.") from error
