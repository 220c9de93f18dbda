"""Experiments: each injects a fault or asserts a lesson, and prints what it expected beside what it saw.

Takes: the services, or nothing (an experiment builds its own little world). Returns: a list of expectations.
Called by: `attest experiment NAME`.
Never does: leave anything behind in a corpus that is not its own.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Expectation:
    """One thing that must hold: what was expected, what was seen, whether they agree."""

    what: str
    expected: str
    seen: str
    holds: bool

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def expect(what: str, expected: object, seen: object) -> Expectation:
    """An expectation of equality."""
    return Expectation(what, str(expected), str(seen), expected == seen)
