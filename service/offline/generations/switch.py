"""Alias switch, and what may be pruned. The engine's aliases are the truth; manifests only follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from service.domain.generations import Generation, Manifest, live_alias, version_alias
from service.domain.ports import Engine
from service.errors import BuildRefused


@dataclass(frozen=True, slots=True)
class Switched:
    """What the one alias call did. `before` is None at a corpus's first publish.

    Of a rollback: how many of the documents that come back were withdrawn since they were built, and of how many the
    rights have changed; both stay as they are now.
    """

    live: str
    before: str | None
    changed: bool
    withdrawn: int = 0
    rights_changed: int = 0


def live_generation(engine: Engine, corpus: str, *, among_several: bool = False) -> str | None:
    """Name of the generation behind `@live`. Raises BuildRefused when the alias stands on two, unless the oldest of
    several will do: for the one call that mends it."""
    behind = engine.generations.aliases(corpus).get(live_alias(engine.prefix, corpus), ())
    if among_several:
        return min(behind, key=_number, default=None)
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


def prunable(manifests: Sequence[Manifest], keep: int, window_h: float, at: str) -> tuple[Manifest, ...]:
    """Generations that may go, oldest first: failed ones, and of those that are no longer live, or were overtaken
    before they ever were, all but the `keep` newest and what was live within the window before `at`."""
    live = max((_number(m.generation) for m in manifests if m.state == "live"), default=0)
    overtaken = [m for m in manifests if m.state == "ready" and _number(m.generation) < live]
    retained = [m for m in manifests if m.state == "retained"]
    past = sorted(overtaken + retained, key=lambda m: _number(m.generation))
    oldest = datetime.fromisoformat(at) - timedelta(hours=window_h)
    going = [m for m in past[: max(0, len(past) - keep)] if datetime.fromisoformat(_since(m)) <= oldest]
    going += [m for m in manifests if m.state == "failed"]
    return tuple(sorted(going, key=lambda m: _number(m.generation)))


def _since(manifest: Manifest) -> str:
    """When it came to stand where it stands."""
    return str(manifest.history[-1]["at"]) if manifest.history else manifest.updated_at


def _number(name: str) -> int:
    parsed = Generation.parse(name)
    return parsed.number if parsed else 0
