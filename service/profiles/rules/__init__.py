"""Question rules as data: which requests are refused before anything is searched.

Takes: rule files and a corpus's own out-of-scope rules. Returns: the first rule that matches a question.
Called by: `online/question.py`.
Never does: look at principals or documents.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from service.errors import Misconfigured

FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Rule:
    """One pattern with its name. `unless` lets through what only looks like a match."""

    rule_id: str
    pattern: re.Pattern[str]
    unless: re.Pattern[str] | None = None

    def matches(self, folded: str) -> bool:
        if self.pattern.search(folded) is None:
            return False
        return self.unless is None or self.unless.search(folded) is None


def compile_rules(entries: Iterable[Mapping[str, Any]], *, where: str) -> tuple[Rule, ...]:
    """Rules from data; patterns are matched against folded text (half width, simplified, lower case)."""
    rules = []
    for entry in entries:
        try:
            unless = entry.get("unless")
            rules.append(
                Rule(
                    str(entry["id"]),
                    re.compile(str(entry["pattern"])),
                    re.compile(str(unless)) if unless else None,
                )
            )
        except (KeyError, re.error) as error:
            raise Misconfigured(f"{where}: rule {entry.get('id', '?')!r} does not hold: {error}") from None
    return tuple(rules)


@cache
def bypass_rules() -> tuple[Rule, ...]:
    """Rules for requests to get around rights or citations, from `bypass.toml`."""
    data = tomllib.loads((FOLDER / "bypass.toml").read_text(encoding="utf-8"))
    return compile_rules(data["rule"], where="bypass.toml")


def first_match(rules: Iterable[Rule], folded: str) -> Rule | None:
    return next((rule for rule in rules if rule.matches(folded)), None)
