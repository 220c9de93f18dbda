"""Cache keys and entries.

A key names everything the value depends on, scope hash and access epoch included, so equal rights share and
others never can. An entry is data from outside: whatever does not validate is a miss.
"""

from __future__ import annotations

import hashlib
import json

from pydantic import TypeAdapter, ValidationError

from service.domain.answers import GroundedAnswer, SearchResult

SCHEMA = 1  # raise when the shape of a cached value changes

_ANSWER = TypeAdapter(GroundedAnswer)
_SEARCH = TypeAdapter(SearchResult)


def cache_key(
    prefix: str, kind: str, *, generation: str, profile: str, scope_hash: str, epoch: int, question: str
) -> str:
    """`question` is the folded text."""
    parts = [SCHEMA, kind, generation, profile, scope_hash, epoch, question]
    digest = hashlib.sha256(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    return f"{prefix}:{kind}:{digest}"


def dump_answer(answer: GroundedAnswer) -> bytes:
    return _ANSWER.dump_json(answer)


def load_answer(data: bytes) -> GroundedAnswer | None:
    """None for anything that is not exactly a cached answer: truncated, forged, of an older schema."""
    try:
        return _ANSWER.validate_json(data, strict=False)
    except (ValidationError, ValueError, RecursionError):
        return None


def dump_search(result: SearchResult) -> bytes:
    return _SEARCH.dump_json(result)


def load_search(data: bytes) -> SearchResult | None:
    """Like `load_answer`, for search results."""
    try:
        return _SEARCH.validate_json(data, strict=False)
    except (ValidationError, ValueError, RecursionError):
        return None
