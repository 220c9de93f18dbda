"""Question rules as data: which requests are refused before anything is searched.

Takes: rule files and a corpus's own out-of-scope rules. Returns: the first rule that matches a question.
Called by: `online/question.py`.
Never does: look at principals or documents.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from service.errors import Misconfigured
from service.profiles.rules.disguise import sentences, undisguised

FOLDER = Path(__file__).parent

_NAME = re.compile(r"\{([a-z_]+)\}")


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


def compile_rules(
    entries: Iterable[Mapping[str, Any]], *, where: str, parts: Mapping[str, str] | None = None
) -> tuple[Rule, ...]:
    """Rules from data; patterns are matched against folded text (half width, simplified, lower case).

    A pattern is one form or a list of forms. `parts` are what `{name}` stands for in it.
    """
    rules = []
    for entry in entries:
        try:
            unless = entry.get("unless")
            rules.append(
                Rule(
                    str(entry["id"]),
                    re.compile(_filled(entry["pattern"], parts)),
                    re.compile(_filled(unless, parts)) if unless else None,
                )
            )
        except (KeyError, re.error) as error:
            raise Misconfigured(f"{where}: rule {entry.get('id', '?')!r} does not hold: {error}") from None
    return tuple(rules)


def compile_parts(lists: Mapping[str, str | list[str]]) -> dict[str, str]:
    """What `{name}` stands for, in the order of the file: a string is a pattern, a list is any one of its words.

    A word may have white space before it; no Latin letter may touch it; of two words that fit, the longer is taken.
    """
    parts: dict[str, str] = {}
    for name, words in lists.items():
        pattern = _filled(words if isinstance(words, str) else sorted(words, key=len, reverse=True), parts)
        parts[name] = pattern if isinstance(words, str) else rf"(?:\s?(?<![a-z'-]){pattern}(?![a-z]))"
    return parts


def _filled(forms: str | list[str], parts: Mapping[str, str] | None) -> str:
    """The forms as one pattern. Without parts `{name}` is left alone: a corpus's own patterns are plain ones."""
    pattern = forms if isinstance(forms, str) else "|".join(forms)
    if parts is None:
        return pattern
    return f"(?:{_NAME.sub(lambda name: parts[name.group(1)], pattern)})"


@cache
def bypass_rules() -> tuple[Rule, ...]:
    """Rules for requests to get around rights or citations, from `bypass.toml`."""
    data = tomllib.loads((FOLDER / "bypass.toml").read_text(encoding="utf-8"))
    return compile_rules(data["rule"], where="bypass.toml", parts=compile_parts(data["parts"]))


@cache
def bypass_identity() -> str:
    """Twelve hex digits that change with the rules: a refusal or an answer made under others is not theirs."""
    return hashlib.sha256((FOLDER / "bypass.toml").read_bytes()).hexdigest()[:12]


def bypass_match(folded: str) -> Rule | None:
    """The first bypass rule that a sentence of the question matches, its disguise taken off."""
    for sentence in sentences(undisguised(folded)):
        rule = first_match(bypass_rules(), sentence)
        if rule is not None:
            return rule
    return None


def first_match(rules: Iterable[Rule], folded: str) -> Rule | None:
    return next((rule for rule in rules if rule.matches(folded)), None)
