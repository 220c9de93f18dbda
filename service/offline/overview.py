"""What an operator sees of a corpus: its generations with their size and the aliases on them."""

from __future__ import annotations

from dataclasses import dataclass

from service.domain.generations import Generation, Manifest
from service.domain.ports import Engine
from service.errors import GenerationGone


@dataclass(frozen=True, slots=True)
class Row:
    """One generation. `size` in bytes is None when there is no index (any more)."""

    manifest: Manifest
    aliases: tuple[str, ...]
    size: int | None


def overview(engine: Engine, corpus: str) -> list[Row]:
    """Every generation that has a manifest, the oldest first."""
    behind = engine.generations.aliases(corpus)
    return [_row(engine, manifest, behind) for manifest in engine.builds.scan(corpus)]


def one(engine: Engine, corpus: str, generation_name: str) -> Row | None:
    manifest = engine.builds.get(generation_name)
    if manifest is None or manifest.corpus != corpus:
        return None
    return _row(engine, manifest, engine.generations.aliases(corpus))


def _row(engine: Engine, manifest: Manifest, behind: dict[str, tuple[str, ...]]) -> Row:
    on = tuple(alias for alias, names in behind.items() if manifest.generation in names)
    return Row(manifest, on, None if manifest.state == "pruned" else _size(engine, manifest))


def _size(engine: Engine, manifest: Manifest) -> int | None:
    generation = Generation.parse(manifest.generation)
    try:
        return None if generation is None else engine.generations.size(generation)
    except GenerationGone:
        return None
