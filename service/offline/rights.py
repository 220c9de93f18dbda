"""Rights and deletions: written to the registry first, then spread to every generation that still exists.

The registry is asked again before anything leaves, so a revocation holds when its write has returned, whether
the spread is done or not. An entry whose spread is not done says so until somebody has finished it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from service.domain.documents import RegistryChange, RegistryEntry, Standing
from service.domain.generations import Generation
from service.domain.ports import Engine
from service.domain.rights import Access
from service.errors import AttestError, Conflict, GenerationGone, NotFound

_TRIES = 5
MISSING = "missing"  # the action of a deletion because the source is gone


@dataclass(frozen=True, slots=True)
class RightsChange:
    """What a change did. `chunks` counts the chunks rewritten or removed, over all generations; `unfinished`
    says why the spread stopped, if it did: the change holds all the same, `finish` brings the chunks in line."""

    before: RegistryEntry
    after: RegistryEntry
    epoch: int
    chunks: int
    unfinished: str | None = None


def change_rights(
    engine: Engine,
    corpus: str,
    document_id: str,
    change: Callable[[RegistryEntry], RegistryEntry],
    *,
    action: str,
    who: str,
    now: str,
) -> RightsChange:
    """Applies `change` to the registered entry, compare-and-set with a bounded number of tries, and spreads it.

    Raises NotFound for an unknown document, Conflict when others keep winning.
    """
    before, after = _write(engine, corpus, document_id, change, action, who, now)
    if not after.spread_pending:
        return RightsChange(before, after, engine.registry.epoch(), 0)
    # Before the spread, so that no cached result from before the change is found any more; and after it (finish),
    # so that none from in between is, when chunks did not all carry the new rights yet.
    epoch = engine.registry.raise_epoch()
    try:
        finished, chunks, epoch = finish(engine, after)
    except AttestError as error:
        return RightsChange(before, after, epoch, 0, unfinished=error.message)
    return RightsChange(before, finished, epoch, chunks)


def after_reading(known: RegistryEntry, version: str, ruled: Access) -> RegistryEntry:
    """The entry once its source was read again. A rule that says what it said the last time changes no rights:
    a revocation by an operator holds until the rule itself is changed, or the operator grants again."""
    unchanged = ruled == (known.ruled or known.access)
    return replace(known, current_version=version, ruled=ruled, access=known.access if unchanged else ruled)


def only_missing(engine: Engine, entry: RegistryEntry) -> bool:
    """Whether a deleted document was taken out because its source was gone, and by nobody since: then its source may
    bring it back. What no history tells is taken for an operator's decision."""
    for change in reversed(history(engine, entry.corpus, entry.document_id)):
        if not change.after.deleted or change.action == "delete":
            return False
        if change.before is None or not change.before.deleted:
            return change.action == MISSING
    return False


def finish(engine: Engine, entry: RegistryEntry) -> tuple[RegistryEntry, int, int]:
    """Spreads an entry and notes that it is done; entry, chunks touched, access epoch. Safe to repeat.

    Where somebody else changed the entry meanwhile, their rights may have been overwritten by our slower spread:
    the entry is read again and spread again until it is the one that was spread.
    """
    chunks = 0
    for _ in range(_TRIES):
        chunks += spread(engine, entry)
        try:
            done = engine.registry.write(replace(entry, spread_pending=False))
        except Conflict:
            current = engine.registry.get_many(entry.corpus, [entry.document_id])
            entry = current[entry.document_id]
            continue
        return done, chunks, engine.registry.raise_epoch()
    raise Conflict("Other writers kept changing this document; `attest access resume` finishes the spread.")


def align(engine: Engine, generation: Generation, registry: Mapping[str, RegistryEntry]) -> None:
    """Brings every chunk of one generation in line with the registry as it was read: a build writes the rights that
    it began with, and changes may have come meanwhile."""
    behind = set()
    for indexed in engine.generations.scan(generation):
        entry = registry.get(indexed.chunk.document_id)
        if entry is None or entry.deleted or entry.access != indexed.access:
            behind.add(indexed.chunk.document_id)
    for kept in engine.generations.token_rights(generation):
        entry = registry.get(kept.document_id)
        if entry is None or entry.deleted or entry.access != kept.access:
            behind.add(kept.document_id)
    for document_id in sorted(behind):
        entry = registry.get(document_id)
        access = None if entry is None or entry.deleted else entry.access
        engine.generations.spread_access(generation, document_id, access)


def pending(engine: Engine, corpus: str) -> Iterator[RegistryEntry]:
    """Entries whose chunks may still carry older rights, because a spread stopped half way."""
    return (entry for entry in engine.registry.scan(corpus) if entry.spread_pending)


def history(engine: Engine, corpus: str, document_id: str | None = None) -> list[RegistryChange]:
    """Every change of a document, or of all documents of a corpus, oldest first.

    Earlier changes come from the audit, the latest from the entry, which carries it itself.
    """
    changes = {(c.document_id, c.sequence): c for c in engine.audit.scan(corpus, document_id)}
    if document_id is None:
        entries = list(engine.registry.scan(corpus))
    else:
        entries = list(engine.registry.get_many(corpus, [document_id]).values())
    changes |= {(entry.document_id, entry.sequence): entry.change for entry in entries}
    if document_id is not None:
        return sorted(changes.values(), key=lambda c: c.sequence)
    return sorted(changes.values(), key=lambda c: (c.at, c.document_id, c.sequence))


@dataclass(frozen=True, slots=True)
class Touched:
    """How many documents were taken out since a moment, and of how many others the rights have changed."""

    withdrawn: int
    changed: int


def changed_since(engine: Engine, documents: Iterable[str], corpus: str, at: str) -> Touched:
    """What happened to the rights of these documents since `at` (ISO 8601, seconds)."""
    entries = {entry.document_id: entry for entry in engine.registry.scan(corpus)}
    then: dict[str, Standing] = {}
    for change in history(engine, corpus):
        if change.at >= at and change.before is not None:
            then.setdefault(change.document_id, change.before)
    withdrawn = changed = 0
    for document_id in documents:
        entry = entries.get(document_id)
        if entry is None or entry.deleted:
            withdrawn += 1
        elif document_id in then and then[document_id].access != entry.access:
            changed += 1
    return Touched(withdrawn, changed)


def spread(engine: Engine, entry: RegistryEntry) -> int:
    """Brings the chunks of one document, in every generation, in line with the registry. Safe to repeat."""
    access: Access | None = None if entry.deleted else entry.access
    touched = 0
    for generation in filter(None, map(Generation.parse, engine.generations.names(entry.corpus))):
        try:
            touched += engine.generations.spread_access(generation, entry.document_id, access)
        except GenerationGone:
            continue  # Pruned since its name was read: none of its chunks is left.
    return touched


def _write(
    engine: Engine,
    corpus: str,
    document_id: str,
    change: Callable[[RegistryEntry], RegistryEntry],
    action: str,
    who: str,
    now: str,
) -> tuple[RegistryEntry, RegistryEntry]:
    for _ in range(_TRIES):
        before = engine.registry.get_many(corpus, [document_id]).get(document_id)
        if before is None:
            raise NotFound
        # What the entry is about to forget. Kept first: a crash after it loses nothing, one before it changed nothing.
        engine.audit.append(before.change)
        wanted = change(before)
        same_rights = (wanted.access, wanted.deleted) == (before.access, before.deleted)
        wanted = replace(
            wanted,
            sequence=before.sequence + 1,
            updated_at=now,
            updated_by=who,
            action=action,
            before=before.standing,
            spread_pending=before.spread_pending or not same_rights,
        )
        try:
            return before, engine.registry.write(wanted)
        except Conflict:
            continue
    raise Conflict("Other writers kept changing this document; try again.")
