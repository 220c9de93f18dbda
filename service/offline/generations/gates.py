"""Gates: what is looked at before a generation goes live, each with its number, its limit and its evidence.

Here are those that need no question: the checks, the rights, and how the counts stand to those of the live
generation. Those that ask questions come as a `Trial`, since asking is the online path's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from service.domain.generations import Manifest
from service.offline.generations.checks import CheckResult
from service.offline.generations.lifecycle import now

RIGHTS = "rights as registered"


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
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Force:
    """Why an operator lets a generation go live although a gate says no."""

    reason: str


class Trial(Protocol):
    def __call__(self, candidate: Manifest, live: Manifest | None) -> list[GateResult]:
        """Asks the candidate, and the live generation beside it, and compares."""
        ...


def standing_gates(
    manifest: Manifest, live: Manifest | None, checks: Sequence[CheckResult]
) -> list[GateResult]:
    """Integrity and rights, which nobody can force."""
    broken = [c for c in checks if not c.passed and c.name != RIGHTS]
    wrong = [c for c in checks if not c.passed and c.name == RIGHTS]
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
            wrong[0].found if wrong else f"all {manifest.chunks} chunks as registered",
            "every chunk",
            wrong[0].offenders if wrong else (),
            may_be_forced=False,
        ),
    ]


def judged(results: Sequence[GateResult], force: Force | None, who: str) -> tuple[list[dict[str, Any]], str]:
    """The record for the manifest, and why the generation may not go live; empty when it may."""
    refused = [r for r in results if not r.passed and not (force and r.may_be_forced)]
    forced = {"forced": True, "who": who, "reason": force.reason, "at": now()} if force else {}
    record = [r.to_json() | (forced if not r.passed and r.may_be_forced else {}) for r in results]
    return record, "; ".join(
        f"{r.name}: {r.found}, allowed is {r.limit}"
        + (f" ({'; '.join(r.evidence[:3])})" if r.evidence else "")
        for r in refused
    )
