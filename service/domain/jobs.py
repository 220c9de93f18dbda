"""Long work on a corpus, and the leases that keep two of a kind from running at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

JobState = Literal["queued", "running", "done", "failed", "cancelled"]
# A rollback never waits for a build; who only looks (check, gate) is in nobody's way.
Slot = Literal["build", "switch", "look"]
Kind = Literal["build", "check", "gate", "publish", "rollback", "prune", "repair"]


@dataclass(frozen=True, slots=True)
class Job:
    """One run of an operator's command. `beat` rises as long as its process lives; `cancel` asks it to stop.

    `host` and `pid` say where it runs, so that who stands beside it can tell a killed process from a slow one.
    """

    job_id: str
    corpus: str
    kind: str
    state: JobState
    who: str
    created_at: str
    updated_at: str
    arguments: dict[str, Any] = field(default_factory=dict)
    host: str = ""
    pid: int = 0
    beat: int = 0
    step: str = ""
    done: int = 0
    total: int = 0
    log: tuple[str, ...] = ()
    cancel: bool = False
    result: dict[str, Any] = field(default_factory=dict)
    reason: str = ""
    token: str | None = None

    @property
    def is_over(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Lease:
    """Which job may work in a slot of a corpus; `job_id` is empty when nobody does; a job that is over keeps
    nobody out."""

    corpus: str
    slot: Slot
    job_id: str
    token: str | None = None
