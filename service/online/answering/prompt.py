"""The prompt: a versioned file, and evidence in it as data.

Each source is one line of JSON in which "<", ">", "&" and every line break are escapes. So no text, title, heading or
id can end its line, open or close a tag of ours, or look like a border of a chat template; the archive is not touched.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from service.domain.answers import Evidence
from service.domain.ports import Message, Prompt

_FILE = Path(__file__).parent / "prompts" / "answer.toml"
# Of Unicode's line ends, json.dumps leaves these as they are.
_ESCAPED = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u0085\u2028\u2029"})

Form = Literal["schema", "tagged"]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["claims"],
    "properties": {
        "claims": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["text", "sources"],
                "properties": {
                    "text": {"type": "string"},
                    "sources": {"type": "array", "items": {"type": "string"}},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Words:
    """The prompt file."""

    name: str
    version: int
    system: str
    schema: str
    tagged: str
    user: str
    unreadable: str
    refused: str

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.version}"


@cache
def words() -> Words:
    parts: dict[str, Any] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    trimmed: dict[str, Any] = {
        n: part.strip() if isinstance(part, str) else part for n, part in parts.items()
    }
    return Words(**trimmed)


def prompt_of(
    question: str, evidence: Sequence[Evidence], form: Form, most_tokens: int, amend: str = ""
) -> Prompt:
    """What is sent. `amend` is why an earlier reply was not taken: a sentence of ours, no word of that reply."""
    said = words()
    user = said.user.replace("{question}", _escaped(question), 1)
    user = user.replace("{evidence}", "\n".join(map(source_line, evidence)), 1)
    system = f"{said.system}\n\n{said.schema if form == 'schema' else said.tagged}"
    messages = (Message("system", system), Message("user", f"{user}\n\n{amend}" if amend else user))
    return Prompt(messages, SCHEMA if form == "schema" else None, most_tokens)


def source_line(item: Evidence) -> str:
    """One source as a line of JSON that nothing in it can leave."""
    source: dict[str, Any] = {"id": item.source_id, "title": item.title}
    source |= {"headings": list(item.heading_path), "under": item.search_prefix, "text": item.text}
    return _escaped(source)


def amend_unreadable() -> str:
    return words().unreadable.replace("{form}", words().tagged)


def amend_refused(faults: Sequence[str]) -> str:
    return words().refused.replace("{faults}", "; ".join(faults))


def _escaped(value: Any) -> str:
    # A lone surrogate has no UTF-8 form and would break the request: it travels as an escape.
    text = json.dumps(value, ensure_ascii=False)
    text = "".join(f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c for c in text)
    return text.translate(_ESCAPED)
