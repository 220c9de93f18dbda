"""Gates: what is looked at before a generation goes live, each with its number, its limit and its evidence.

Here are those that need no question: the checks, the rights, the processors, and how the counts stand to those of the
live generation. Those that ask questions come as a `Trial`, since asking is the online path's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil, floor
from typing import Any, Protocol

from service.domain.documents import RegistryEntry
from service.domain.generations import Manifest, Processors
from service.errors import InvalidInput
from service.offline.generations.checks import RIGHTS, CheckResult
from service.offline.generations.lifecycle import now
from service.profiles.gates import GateSettings

FIRST = "nothing to compare with: no other generation is live"
_LONGEST_REASON = 500
# A young corpus grows by more than a share of itself says.
_ROOM = {"documents": 50, "chunks": 1_000}


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate: what was found, what was allowed, and the first things that speak against it."""

    name: str
    passed: bool
    found: str
    limit: str
    evidence: tuple[str, ...] = ()
    may_be_forced: bool = True

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "passed": self.passed,
            "found": self.found,
            "limit": self.limit,
            "evidence": list(self.evidence),
            "mayBeForced": self.may_be_forced,
        }


@dataclass(frozen=True, slots=True)
class Force:
    """Why an operator lets a generation go live although a gate says no. Raises InvalidInput without a reason."""

    reason: str

    def __post_init__(self) -> None:
        if not any(map(str.isalnum, self.reason)) or len(self.reason) > _LONGEST_REASON:
            raise InvalidInput(
                f"To pass over a gate, say why, in at most {_LONGEST_REASON} characters; the generation keeps it."
            )


@dataclass(frozen=True, slots=True)
class Judgement:
    """What the gates found, as the manifest keeps it; why the generation may not go live, "" when it may; and what
    the history says of gates that were passed over."""

    record: list[dict[str, Any]]
    refusal: str
    remark: str


class Trial(Protocol):
    def __call__(
        self, candidate: Manifest, live: Manifest | None, progress: Callable[[str, int, int], None]
    ) -> list[GateResult]:
        """Asks the candidate, and the live generation beside it, and compares. `progress` is told before each
        question, and may raise to end it."""
        ...


def standing_gates(
    manifest: Manifest,
    live: Manifest | None,
    checks: Sequence[CheckResult],
    settings: GateSettings,
    here: Processors,
) -> list[GateResult]:
    """Integrity and rights, which nobody can force, then processors and counts. `here` is what this service runs."""
    broken = [c for c in checks if not c.passed and c.name != RIGHTS]
    wrong = [c for c in checks if not c.passed and c.name == RIGHTS]
    counts, before = _counts(manifest), _counts(live) if live else {}
    return [
        GateResult(
            "integrity",
            not broken,
            f"{len(broken)} of {len(checks)} checks do not hold",
            "0",
            tuple(f"{c.name}: {c.found} ({', '.join(c.offenders)})" for c in broken),
            may_be_forced=False,
        ),
        GateResult(
            "rights",
            not wrong,
            f"{wrong[0].found}, compared with the registry"
            if wrong
            else f"all {sum(counts.values())} chunks as registered",
            "every chunk as registered",
            wrong[0].offenders if wrong else (),
            may_be_forced=False,
        ),
        _processors(manifest.processors, here),
        _band("documents", len(counts), len(before), settings.documents, _gone(counts, before)),
        _band("chunks", sum(counts.values()), sum(before.values()), settings.chunks, _moved(counts, before)),
    ]


def without_withdrawn(manifest: Manifest, registry: Mapping[str, RegistryEntry]) -> Manifest:
    """The manifest as it must be now: a document that was deleted since has taken its chunks with it."""
    left = {d: v for d, v in manifest.documents.items() if d in registry and not registry[d].deleted}
    counts = {d: count for d, count in manifest.chunks_per_document.items() if d in left}
    return replace(manifest, documents=left, chunks_per_document=counts, chunks=sum(counts.values()))


def _counts(manifest: Manifest) -> dict[str, int]:
    return {d: manifest.chunks_per_document.get(d, 0) for d in manifest.documents}


def _processors(built: Processors, here: Processors) -> GateResult:
    """What questions are put through must be what the chunks were put through. Parsers and chunker may differ: they
    made spans, which hold as they are."""
    differ = [
        f"{name}: built with {getattr(built, name)}, this service has {getattr(here, name)}"
        for name in ("embedder", "analyzer", "mapping")
        if getattr(built, name) != getattr(here, name)
    ]
    # An older mapping may do for as long as it takes to build again; terms or vectors of another make do for nothing.
    forced = built.embedder == here.embedder and built.analyzer == here.analyzer
    return GateResult("processors", not differ, f"{len(differ)} of 3 differ", "0", tuple(differ), forced)


def _band(
    what: str, count: int, live: int, band: tuple[float, float], evidence: tuple[str, ...]
) -> GateResult:
    if not live:
        return GateResult(what, True, str(count), FIRST)
    least, most = ceil(band[0] * live), max(floor(band[1] * live), live + _ROOM[what])
    within = least <= count <= most
    return GateResult(
        what, within, f"{count}, live has {live}", f"{least} to {most}", () if within else evidence
    )


def _gone(counts: dict[str, int], before: dict[str, int]) -> tuple[str, ...]:
    """Documents that only one of the two has, the lost ones first."""
    lost, new = sorted(before.keys() - counts.keys()), sorted(counts.keys() - before.keys())
    return tuple(f"no longer in it: {d}" for d in lost[:5]) + tuple(f"new: {d}" for d in new[:5])


def _moved(counts: dict[str, int], before: dict[str, int]) -> tuple[str, ...]:
    """Documents whose number of chunks has changed most."""
    by_change = sorted(
        counts.keys() | before.keys(), key=lambda d: (-abs(counts.get(d, 0) - before.get(d, 0)), d)
    )
    return tuple(f"{d}: {before.get(d, 0)} → {counts.get(d, 0)} chunks" for d in by_change[:5])


def judged(results: Sequence[GateResult], force: Force | None, who: str) -> Judgement:
    failed = [r for r in results if not r.passed]
    forced = [r for r in failed if force and r.may_be_forced]
    refused = [r for r in failed if r not in forced]
    mark = {"forced": True, "who": who, "reason": force.reason, "at": now()} if force else {}
    record = [r.to_json() | (mark if r in forced else {}) for r in results]
    names = ", ".join(r.name for r in forced)
    remark = f"forced past {names}: {force.reason}" if force and forced and not refused else ""
    return Judgement(record, _refusal(refused) if refused else "", remark)


def _told(result: GateResult) -> str:
    return f"{result.name}: {result.found}, allowed is {result.limit}" + (
        f" ({'; '.join(result.evidence[:3])})" if result.evidence else ""
    )


def _refusal(refused: Sequence[GateResult]) -> str:
    fixed = " and ".join(r.name for r in refused if not r.may_be_forced)
    advice = (
        f"{fixed.capitalize()} cannot be forced: build again"
        if fixed
        else "Mend the sources and build again, set other limits under [gates] in corpus.toml, or pass over it with "
        "`attest publish --force REASON`"
    )
    return f"{'; '.join(map(_told, refused))}. What is live stays. {advice}"
