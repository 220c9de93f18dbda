"""What is at odds between aliases, indices and manifests of a corpus, and what has one right mending.

The actual state is read anew; nobody's notes are believed before it. What a person must decide is told with the
command for it and left alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from service.domain.generations import Generation, Manifest, State, live_alias, version_alias
from service.domain.jobs import Job
from service.domain.ports import Engine
from service.offline.generations.lifecycle import Lifecycle, following

_SEARCHABLE = ("live", "retained", "ready")


@dataclass(frozen=True, slots=True)
class Finding:
    """What is wrong, and what mends it: the repair itself, or, where `by_hand`, who reads this."""

    what: str
    mending: str
    by_hand: bool = False


@dataclass(frozen=True, slots=True)
class Actual:
    """A corpus as it is: aliases, the indices that are there, manifests oldest first, jobs newest last."""

    prefix: str
    corpus: str
    aliases: Mapping[str, tuple[str, ...]]
    manifests: tuple[Manifest, ...]
    indices: frozenset[str]
    jobs: tuple[Job, ...]

    @classmethod
    def of(cls, engine: Engine, corpus: str, jobs: Sequence[Job]) -> Actual:
        # Manifests before indices: a build writes its manifest first, so no young index seems to have none.
        manifests = list(engine.builds.scan(corpus))
        indices = engine.generations.names(corpus)
        known = {m.generation for m in manifests}
        manifests += [m for name in indices if name not in known and (m := engine.builds.get(name))]
        aliases = engine.generations.aliases(corpus)
        return cls(engine.prefix, corpus, aliases, tuple(manifests), frozenset(indices), tuple(jobs))

    @property
    def behind(self) -> tuple[str, ...]:
        return self.aliases.get(live_alias(self.prefix, self.corpus), ())


@dataclass(frozen=True, slots=True)
class Repair:
    """What would be done. `add` and `remove` go into one alias call; `restored` is a generation that it makes live
    again."""

    findings: tuple[Finding, ...]
    add: Mapping[str, str]
    remove: tuple[tuple[str, str], ...]
    restored: Manifest | None
    moves: tuple[tuple[Manifest, State], ...]
    drops: tuple[Generation, ...]

    def make(self, engine: Engine, lifecycle: Lifecycle) -> None:
        """Safe to repeat: whoever comes after a crash reads the state and finds what is left."""
        if self.add or self.remove:
            engine.generations.switch(self.add, self.remove)
        for generation in self.drops:
            engine.generations.drop(generation)
        for manifest, state in self.moves:
            lifecycle.move(manifest, state, "repaired: this is how it is")


def planned_repair(actual: Actual) -> Repair:
    """Everything found, in the order in which it is mended."""
    findings: list[Finding] = []
    add: dict[str, str] = {}
    remove: list[tuple[str, str]] = []
    live, restored = _live(actual, findings, add, remove)
    _versions(actual, live, findings, add, remove)
    # Who should be live is a person's to say first.
    settled = live if live is not None or not actual.behind else None
    moves = list(_moves(actual, settled, findings)) if len(actual.behind) < 2 or live is not None else []
    drops = list(_orphans(actual, findings))
    _half_built(actual, findings)
    return Repair(tuple(findings), add, tuple(remove), restored, tuple(moves), tuple(drops))


def _live(
    actual: Actual, findings: list[Finding], add: dict[str, str], remove: list[tuple[str, str]]
) -> tuple[str | None, Manifest | None]:
    """The generation that is to be live, None where nobody can tell or none is; again where it must be put back."""
    alias, behind = live_alias(actual.prefix, actual.corpus), actual.behind
    noted = [m for m in actual.manifests if m.state == "live"]
    if len(behind) == 1:
        return behind[0], None
    if not behind:
        there = [m for m in noted if m.generation in actual.indices]
        if len(there) == 1:
            add[alias] = there[0].generation
            findings.append(
                Finding(
                    f"{alias} is gone; {there[0].generation} was live",
                    f"puts it back on {there[0].generation}",
                )
            )
            return there[0].generation, there[0]
        for manifest in noted:
            choose = (
                f"attest publish {actual.corpus} --generation NAME"
                if there
                else (
                    f"restore the last snapshot, or attest build {actual.corpus} and attest publish {actual.corpus}"
                )
            )
            what = "and so are others" if there else "and its index is gone"
            findings.append(
                Finding(f"{manifest.generation} is noted as live {what}; {alias} is gone", choose, True)
            )
        return None, None
    told = f"{alias} stands on {len(behind)} generations: {', '.join(behind)}"
    kept = _last_switched(actual) or _one(m.generation for m in noted if m.generation in behind)
    if kept is None:
        findings.append(Finding(told, f"attest publish {actual.corpus} --generation NAME", True))
        return None, None
    remove += [(alias, name) for name in behind if name != kept]
    findings.append(Finding(told, f"leaves it on {kept}, which the last switch made live"))
    return kept, None


def _last_switched(actual: Actual) -> str | None:
    """What the newest publish or rollback was to make live, where the alias stands on that too."""
    for job in reversed(actual.jobs):
        if job.kind in ("publish", "rollback") and (name := job.result.get("to")) is not None:
            return name if name in actual.behind else None
    return None


def _versions(
    actual: Actual,
    live: str | None,
    findings: list[Finding],
    add: dict[str, str],
    remove: list[tuple[str, str]],
) -> None:
    """One corpusVersion, one generation; and what is live is found by its own."""
    states = {m.generation: m.state for m in actual.manifests}
    for alias, behind in actual.aliases.items():
        if alias == live_alias(actual.prefix, actual.corpus) or len(behind) < 2:
            continue
        whole = [name for name in behind if states.get(name) in _SEARCHABLE and name in actual.indices]
        told = f"{alias} stands on {len(behind)} generations: {', '.join(behind)}"
        if not whole:
            findings.append(Finding(told, f"attest prune {actual.corpus} --yes", True))
            continue
        kept = live if live in whole else max(whole, key=_number)
        remove += [(alias, name) for name in behind if name != kept]
        findings.append(Finding(told, f"leaves it on {kept}"))
    if live is not None and (generation := Generation.parse(live)) is not None:
        alias = version_alias(actual.prefix, actual.corpus, generation.corpus_version)
        if not actual.aliases.get(alias):
            add[alias] = live
            findings.append(Finding(f"{alias} is gone, which the live generation has", f"puts it on {live}"))


def _moves(actual: Actual, live: str | None, findings: list[Finding]) -> Iterator[tuple[Manifest, State]]:
    """Manifests that say what is not so."""
    for manifest in actual.manifests:
        name = manifest.generation
        if name not in actual.indices and manifest.state in ("ready", "retained", "validating"):
            state: State = "failed" if manifest.state == "validating" else "pruned"
        elif (wanted := following(manifest, [live] if live else [])) is not None:
            state = wanted
        else:
            continue
        why = "is not there" if name not in actual.indices else "is live" if name == live else "is not live"
        findings.append(Finding(f"{name} is noted as {manifest.state}, but {why}", f"notes it as {state}"))
        yield manifest, state


def _orphans(actual: Actual, findings: list[Finding]) -> Iterator[Generation]:
    """Indices of no generation. Nothing can publish one or take anything over from it; one with an alias is asked."""
    known = {m.generation for m in actual.manifests}
    asked = {name for behind in actual.aliases.values() for name in behind}
    for name in sorted(actual.indices - known):
        generation = Generation.parse(name)
        if name in asked or generation is None:
            findings.append(
                Finding(
                    f"{name} has an alias and no manifest",
                    f"restore the last snapshot, or attest build {actual.corpus} and attest publish {actual.corpus}",
                    True,
                )
            )
        else:
            findings.append(Finding(f"{name} is an index without a manifest or an alias", "drops it"))
            yield generation


def _half_built(actual: Actual, findings: list[Finding]) -> None:
    building = any(job.kind == "build" and not job.is_over for job in actual.jobs)
    findings += [
        Finding(f"{m.generation} is half built and nobody is at work", f"attest build {actual.corpus}", True)
        for m in actual.manifests
        if m.state in ("building", "validating") and m.generation in actual.indices and not building
    ]


def _one(names: Iterator[str]) -> str | None:
    found = list(names)
    return found[0] if len(found) == 1 else None


def _number(name: str) -> int:
    parsed = Generation.parse(name)
    return parsed.number if parsed else 0
