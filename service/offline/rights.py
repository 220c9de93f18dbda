"""Rights and deletions: written to the registry first, then spread to every generation that still exists.

The registry is asked again before anything leaves, so a revocation holds when its write has returned,
whether the spread is done or not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from service.domain.documents import RegistryEntry
from service.domain.generations import Generation
from service.domain.ports import Engine
from service.domain.rights import Access
from service.errors import Conflict, NotFound

_TRIES = 5


@dataclass(frozen=True, slots=True)
class RightsChange:
    """What a change did. `chunks` counts the chunks rewritten or removed, over all generations."""

    before: RegistryEntry
    after: RegistryEntry
    epoch: int
    chunks: int


def change_rights(
    engine: Engine,
    corpus: str,
    document_id: str,
    change: Callable[[RegistryEntry], RegistryEntry],
    *,
    who: str,
    now: str,
) -> RightsChange:
    """Applies `change` to the registered entry, compare-and-set with a bounded number of tries.

    Raises NotFound for an unknown document, Conflict when others keep winning.
    """
    for _ in range(_TRIES):
        before = engine.registry.get_many(corpus, [document_id]).get(document_id)
        if before is None:
            raise NotFound
        wanted = replace(change(before), sequence=before.sequence + 1, updated_at=now, updated_by=who)
        try:
            after = engine.registry.write(wanted)
        except Conflict:
            continue
        epoch = engine.registry.raise_epoch()
        return RightsChange(before, after, epoch, spread(engine, after))
    raise Conflict("Other writers kept changing this document; try again.")


def spread(engine: Engine, entry: RegistryEntry) -> int:
    """Brings the chunks of one document, in every generation, in line with the registry. Safe to repeat."""
    access: Access | None = None if entry.deleted else entry.access
    generations = filter(None, map(Generation.parse, engine.generations.names(entry.corpus)))
    return sum(engine.generations.spread_access(g, entry.document_id, access) for g in generations)
