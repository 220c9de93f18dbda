"""Where a generation stands: building → validating → ready → live → retained → pruned, or failed.

Each transition is one compare-and-set write of the manifest, with who, when and why. What the aliases say comes first:
a process may end between the alias call and its note, and the note is then made good by whoever comes next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from service.domain.generations import TRANSITIONS, Generation, Manifest, State, live_alias
from service.domain.ports import Engine
from service.errors import BuildRefused, Conflict, InvalidInput


@dataclass(frozen=True, slots=True)
class Lifecycle:
    engine: Engine
    who: str

    def manifest(self, generation_name: str) -> Manifest:
        """Raises InvalidInput when there is none of that name."""
        manifest = self.engine.builds.get(generation_name)
        if manifest is None:
            raise InvalidInput(
                f"There is no generation {generation_name!r}; `attest generations` lists them."
            )
        return manifest

    def begin(self, manifest: Manifest) -> Manifest:
        return self._write(manifest, manifest.state, "")

    def move(self, manifest: Manifest, state: State, reason: str = "", **changes: Any) -> Manifest:
        """To another state. Raises BuildRefused where no way leads there, Conflict when somebody else was first."""
        if state not in TRANSITIONS[manifest.state]:
            raise BuildRefused(f"{manifest.generation} is {manifest.state}; it cannot become {state}.")
        return self._write(replace(manifest, state=state, reason=reason, **changes), state, reason)

    def note(self, manifest: Manifest, remark: str = "", **changes: Any) -> Manifest:
        """More about a generation that stays where it is; a remark goes into its history."""
        if remark:
            return self._write(replace(manifest, **changes), manifest.state, remark)
        return self._put(replace(manifest, updated_at=now(), updated_by=self.who, **changes))

    def settle(self, corpus: str, why: str = "the alias says so") -> list[Manifest]:
        """Brings the manifests in line with the aliases; the corpus's manifests, oldest first."""
        behind = self.engine.generations.aliases(corpus).get(live_alias(self.engine.prefix, corpus), ())
        return [self._settled(manifest, behind, why) for manifest in self.engine.builds.scan(corpus)]

    def candidate(self, corpus: str, name: str | None) -> Manifest:
        """The generation to publish, as the aliases say now: the named one, else the newest that is ready or, after it
        was, live. Raises BuildRefused."""
        manifests = self.settle(corpus)
        if name is None:
            finished = [m for m in manifests if m.state in ("ready", "live")]
            if not finished:
                raise BuildRefused(
                    f"Corpus {corpus!r} has no generation that is ready; make one with `attest build`."
                )
            return finished[-1]
        manifest = self.manifest(name)
        if manifest.corpus != corpus or manifest.state not in ("ready", "live", "retained"):
            raise BuildRefused(
                f"{manifest.generation} is {manifest.state} and belongs to {manifest.corpus!r}."
            )
        return manifest

    def abandoned(self, corpus: str) -> list[Manifest]:
        """Builds whose process ended half way. Only the holder of the build lease may ask: it has the only live one."""
        return [m for m in self.engine.builds.scan(corpus) if m.state in ("building", "validating")]

    def drop(self, manifest: Manifest) -> Manifest:
        """Removes the index, then says so; killed between the two, it is simply done again."""
        if (generation := Generation.parse(manifest.generation)) is not None:
            self.engine.generations.drop(generation)
        return self.move(manifest, "pruned", manifest.reason)

    def _settled(self, manifest: Manifest, behind: Sequence[str], why: str) -> Manifest:
        state = following(manifest, behind)
        return manifest if state is None else self.move(manifest, state, why)

    def _write(self, manifest: Manifest, state: State, reason: str) -> Manifest:
        step = {"state": state, "at": now(), "who": self.who} | ({"reason": reason} if reason else {})
        return self._put(
            replace(manifest, history=[*manifest.history, step], updated_at=now(), updated_by=self.who)
        )

    def _put(self, manifest: Manifest) -> Manifest:
        try:
            return self.engine.builds.write(manifest)
        except Conflict as error:
            raise Conflict(
                f"Somebody else is working on {manifest.generation}; look with `attest generations`."
            ) from error


def following(manifest: Manifest, behind: Sequence[str]) -> State | None:
    """The state that the live alias, standing on `behind`, gives the generation; None where it is in it already."""
    on_alias = manifest.generation in behind
    if on_alias and manifest.state in ("ready", "retained"):
        return "live"
    if not on_alias and manifest.state == "live" and behind:
        return "retained"
    return None


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
