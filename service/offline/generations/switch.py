"""Alias switch, rollback and prune. The engine's aliases are the truth; manifests only follow them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.domain.generations import Generation, live_alias, version_alias
from service.domain.ports import Engine
from service.errors import BuildRefused


@dataclass(frozen=True, slots=True)
class Switched:
    """What the one alias call did. `before` is None at a corpus's first publish."""

    live: str
    before: str | None
    changed: bool


def live_generation(engine: Engine, corpus: str) -> str | None:
    """Name of the generation behind `@live`. Raises BuildRefused when the alias stands on two."""
    behind = engine.generations.aliases(corpus).get(live_alias(engine.prefix, corpus), ())
    if len(behind) > 1:
        raise BuildRefused(
            f"The live alias of {corpus!r} stands on {len(behind)} generations ({', '.join(behind)}); "
            f"`attest publish {corpus} --generation NAME` puts it on one of them in a single call."
        )
    return behind[0] if behind else None


def switch_to(engine: Engine, generation: Generation) -> Switched:
    """Puts `@live` and `@<corpusVersion>` on the generation in one atomic call.

    What is removed must still be there, so of two publishers one loses with Conflict. Also repairs an alias
    that stands on several generations.
    """
    aliases = engine.generations.aliases(generation.corpus)
    wanted = (
        live_alias(engine.prefix, generation.corpus),
        version_alias(engine.prefix, generation.corpus, generation.corpus_version),
    )
    before = [name for name in aliases.get(wanted[0], ()) if name != generation.name]
    remove = [(alias, name) for alias in wanted for name in aliases.get(alias, ()) if name != generation.name]
    add = {alias: generation.name for alias in wanted if generation.name not in aliases.get(alias, ())}
    if remove or add:
        engine.generations.switch(add, remove)
    behind = engine.generations.aliases(generation.corpus).get(wanted[0], ())
    if behind != (generation.name,):
        raise BuildRefused(f"After the switch the live alias stands on {', '.join(behind) or 'nothing'}.")
    return Switched(generation.name, before[0] if before else None, bool(remove or add))


def prunable(names: Sequence[str], aliases: Mapping[str, Sequence[str]], keep: int) -> tuple[str, ...]:
    """Generations that may go: behind no live alias, and not among the `keep` newest of the others."""
    live = {name for alias, behind in aliases.items() if alias.endswith("@live") for name in behind}
    others = [name for name in sorted(names, key=_number) if name not in live]
    return tuple(others[: max(0, len(others) - keep)])


def _number(name: str) -> int:
    parsed = Generation.parse(name)
    return parsed.number if parsed else 0
