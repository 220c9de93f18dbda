"""Writes a ranking profile anew with other numbers: its comments, order and everything else stay as they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from service.profiles.ranking import read_profile

_TABLE = re.compile(r"\s*\[{1,2}(?P<name>[^\[\]]+)\]{1,2}\s*(?:#.*)?$")
_LINE = re.compile(r"(?P<key>\w+)(?P<equals>\s*=\s*)(?P<value>[^#]*?)(?P<rest>\s*(?:#.*)?)$")

Numbers = Mapping[str, float | Sequence[float]]


def tuned(text: str, tables: Mapping[str, Numbers], what: str) -> str:
    """The profile's text with the numbers of these tables, the next version, and a line in its changelog. Raises
    Misconfigured where the result is no profile."""
    version = read_profile(text, where="the profile").version + 1
    for table, numbers in {"": {"version": version}, **tables}.items():
        text = _with(text, table, numbers)
    today = datetime.now(UTC).date().isoformat()
    text = text.rstrip() + f'\n\n[[changes]]\nversion = {version}\non = "{today}"\nwhat = "{_plain(what)}"\n'
    read_profile(text, where="the tuned profile")
    return text


def language_table(pair: str, without_tokens: bool = False) -> str:
    return f'gate.languages{"_without_tokens" if without_tokens else ""}."{pair}"'


def curve_table(pair: str) -> str:
    return f'gate.curves."{pair}"'


def _with(text: str, table: str, numbers: Numbers) -> str:
    """The text with these numbers in the table, which is added at the end where there is none."""
    lines, current, last, left = text.splitlines(), "", -1, dict(numbers)
    for place, line in enumerate(lines):
        if head := _TABLE.match(line):
            current = head["name"].strip()
        if current != table:
            continue
        if line.strip() and not line.lstrip().startswith("#"):
            last = place
        if (found := _LINE.match(line)) and found["key"] in left:
            lines[place] = f"{found['key']}{found['equals']}{_value(left.pop(found['key']))}{found['rest']}"
    new = [f"{name} = {_value(value)}" for name, value in left.items()]
    if last == -1:
        return "\n".join([*lines, "", f"[{table}]", *new]) + "\n"
    return "\n".join([*lines[: last + 1], *new, *lines[last + 1 :]]) + "\n"


def _value(value: float | Sequence[float]) -> str:
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Four digits say all that some hundred questions know; the profile takes no integer for a float.
        written = f"{value:.4g}"
        return repr(float(written))
    return "[" + ", ".join(map(_value, value)) + "]"


def _plain(what: str) -> str:
    return what.replace("\\", "/").replace('"', "'").replace("\n", " ")
