"""Cache keys and entries.

A key names everything the value depends on, scope hash and access epoch included, so equal rights share and
others never can. An entry is data from outside: whatever does not validate is a miss.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

from pydantic import TypeAdapter, ValidationError

from service.access.policy import effective_scope, scope_hash
from service.domain.answers import Outcome, SearchResult
from service.domain.generations import Generation
from service.domain.rights import RightsInUse, Scope

SCHEMA = 3  # raise when the shape of a cached value changes

_REMEMBERED = 256  # lists of rights in use kept by a process

_SEARCH = TypeAdapter(SearchResult)
_OUTCOME = TypeAdapter(Outcome)


def cache_key(
    prefix: str,
    kind: str,
    *,
    generation: str,
    profile: str,
    answerer: str,
    rules: str,
    scope_hash: str,
    epoch: int,
    question: str,
) -> str:
    """`question` is the folded text; `answerer` names a model, its prompt and what becomes of what is not proven."""
    parts = [SCHEMA, kind, generation, profile, answerer, rules, scope_hash, epoch, question]
    digest = hashlib.sha256(json.dumps(parts, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    return f"{prefix}:{kind}:{digest}"


class EffectiveScopes:
    """Scope hashes over effective rights: what a generation's documents ask of nobody makes no difference.

    What is in use is asked once for each generation, access epoch and tenant.
    """

    def __init__(self, in_use: Callable[[Generation, str], RightsInUse | None]) -> None:
        self._in_use = in_use
        self._known: OrderedDict[tuple[str, int, str], RightsInUse | None] = OrderedDict()
        self._lock = Lock()

    def hash_of(self, scope: Scope, generation: Generation, epoch: int) -> str:
        key = (generation.name, epoch, scope.tenant)
        with self._lock:
            known = key in self._known
            in_use = self._known.get(key)
        if not known:
            in_use = self._in_use(generation, scope.tenant)
            with self._lock:
                self._known[key] = in_use
                while len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
        return scope_hash(effective_scope(scope, in_use))


def dump_outcome(outcome: Outcome) -> bytes:
    return _OUTCOME.dump_json(outcome)


def load_outcome(data: bytes) -> Outcome | None:
    """None for anything that is not exactly a cached outcome: truncated, forged, of an older schema."""
    try:
        return _OUTCOME.validate_json(data, strict=False)
    except (ValidationError, ValueError, RecursionError):
        return None


def dump_search(result: SearchResult) -> bytes:
    return _SEARCH.dump_json(result)


def load_search(data: bytes) -> SearchResult | None:
    """Like `load_outcome`, for search results."""
    try:
        return _SEARCH.validate_json(data, strict=False)
    except (ValidationError, ValueError, RecursionError):
        return None
