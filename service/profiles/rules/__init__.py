"""Question rules as data: which requests are refused before anything is searched.

Takes: rule files and a corpus's own out-of-scope rules. Returns: the first rule that matches a question.
Called by: `online/question.py`.
Never does: look at principals or documents.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from service.errors import Misconfigured
from service.profiles.rules.disguise import sentences, undisguised

FOLDER = Path(__file__).parent

_FILLERS = 8  # of a longer chain the last: the verb stands after it

_NAME = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class Rule:
    """A pattern, which may stand anywhere, and one which stands only where a demand begins.

    `also` must be found as well, wherever; `unless` lets through what only looks like a match.
    """

    rule_id: str
    pattern: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None
    demand: re.Pattern[str] | None = None
    also: re.Pattern[str] | None = None

    def matches(self, folded: str, begins: Sequence[int] = ()) -> bool:
        anywhere = self.pattern is not None and self.pattern.search(folded) is not None
        if not anywhere and not (self.demand and any(self.demand.match(folded, at) for at in begins)):
            return False
        if self.also is not None and self.also.search(folded) is None:
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
            pattern, unless, demand, also = (
                re.compile(_filled(entry[key], parts)) if entry.get(key) else None
                for key in ("pattern", "unless", "demand", "also")
            )
            if not pattern and not demand:
                raise KeyError("pattern")
            rules.append(Rule(str(entry["id"]), pattern, unless, demand, also))
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
    data = _bypass_data()
    return compile_rules(data["rule"], where="bypass.toml", parts=compile_parts(data["parts"]))


@cache
def _bypass_data() -> dict[str, Any]:
    return tomllib.loads((FOLDER / "bypass.toml").read_text(encoding="utf-8"))


@cache
def _where_demands_begin() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Where one may begin, and a word that may stand before its verb."""
    parts = compile_parts(_bypass_data()["parts"])
    return re.compile(parts["start"]), re.compile(parts["filler"] + r"\s?")


@cache
def _words() -> re.Pattern[str]:
    """The Latin words of the rules, for a request whose letters are all spaced out."""
    data = _bypass_data()
    text = " ".join(word for words in data["parts"].values() if isinstance(words, list) for word in words)
    words = {*re.findall(r"(?<![a-z\\])[a-z]{2,}", text), *data["spaced"]}
    return re.compile("|".join(sorted(words, key=lambda word: (-len(word), word))))


@cache
def bypass_identity() -> str:
    """Twelve hex digits that change with the rules: a refusal or an answer made under others is not theirs."""
    return hashlib.sha256((FOLDER / "bypass.toml").read_bytes()).hexdigest()[:12]


def bypass_match(folded: str) -> Rule | None:
    """The first bypass rule that a sentence of the question matches, its disguise taken off."""
    for sentence in sentences(undisguised(folded, _words())):
        begins = _demands(sentence)
        rule = next((rule for rule in bypass_rules() if rule.matches(sentence, begins)), None)
        if rule is not None:
            return rule
    return None


def _demands(sentence: str) -> list[int]:
    """Where a demand's verb may stand: where a demand may begin, and after each word such as "please" there."""
    start, filler = _where_demands_begin()
    found: set[int] = set()
    for begin in start.finditer(sentence):
        at, chain = begin.end(), [begin.end()]
        while (word := filler.match(sentence, at)) and word.end() not in found:
            at = word.end()
            chain.append(at)
        found.update(chain[:1] + chain[-_FILLERS:])
    return sorted(found)


def first_match(rules: Iterable[Rule], folded: str) -> Rule | None:
    return next((rule for rule in rules if rule.matches(folded)), None)
