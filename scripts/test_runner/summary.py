"""What is said at the end: pure text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

# "=== 3 failed, 120 passed, 1 skipped in 12.34s ===", with or without the rules and the colours.
_CLOSING = re.compile(r"^=*\s*((?:no tests ran|\d+ [a-z]+(?:, \d+ [a-z]+)*) in [\d.]+s.*?)\s*=*$")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_SKIPPED = re.compile(r"\b(\d+) skipped\b")


@dataclass(frozen=True)
class Outcome:
    name: str
    passed: bool
    seconds: float
    note: str = ""


def closing_line(output: str) -> str:
    """pytest's last word, without its rules; empty when it never came to one."""
    for line in reversed(_COLOURS.sub("", output).splitlines()):
        if found := _CLOSING.match(line.strip()):
            return found[1]
    return ""


def skipped(output: str) -> int:
    found = _SKIPPED.search(closing_line(output))
    return int(found[1]) if found else 0


def table(outcomes: Sequence[Outcome], seconds: float) -> str:
    """One line a step with its seconds, then the verdict."""
    width = max(len(outcome.name) for outcome in outcomes)
    lines = [_line(outcome, width) for outcome in outcomes]
    failed = [outcome.name for outcome in outcomes if not outcome.passed]
    verdict = f"FAILED: {', '.join(failed)}" if failed else "all ok"
    return "\n".join(["", *lines, f"{'total':<{width}}         {seconds:7.1f} s", verdict])


def _line(outcome: Outcome, width: int) -> str:
    result = "ok" if outcome.passed else "FAILED"
    return f"{outcome.name:<{width}}  {result:<6} {outcome.seconds:7.1f} s  {outcome.note}".rstrip()
