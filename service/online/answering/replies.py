"""A language model's reply as written claims: by the schema, or between tags. What is neither is no reply."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, ValidationError

from service.online.answering.marks import read_marks
from service.online.answering.splitting import Written, written_claims

UNKNOWN = 0  # stands for a source that no reply can mean: evidence is counted from 1

_FENCE = re.compile(r"```(?:json)?\s*\n(.*)\n```", re.S)
_ANSWER = re.compile(r"<answer>(.*)</answer>", re.S)
_TAG = re.compile(r"</?answer>")
_SOURCE = re.compile(r"[\[【［]{0,2}[Ss]?(\d{1,3})[\]】］]{0,2}")
_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")


class _Said(BaseModel):
    model_config = ConfigDict(strict=True)

    text: str
    sources: list[str | int] = []


class _Reply(BaseModel):
    model_config = ConfigDict(strict=True)

    claims: list[_Said]


def read_reply(reply: str) -> Iterator[Written] | None:
    """The claims in order, none where the reply says that there is no answer; None where it cannot be read."""
    reply = reply.strip()
    fenced = _FENCE.fullmatch(reply)
    if fenced or reply.startswith("{"):
        return _of_schema(fenced[1] if fenced else reply)
    answer = _ANSWER.search(reply)
    if answer is None or _TAG.search(answer[1]):
        return None
    return written_claims(read_marks(_readable(answer[1])))


def _of_schema(text: str) -> Iterator[Written] | None:
    try:
        return _said(_Reply.model_validate_json(text))
    except (ValidationError, RecursionError):
        return None


def _said(reply: _Reply) -> Iterator[Written]:
    """A claim may hold several sentences, and marks of its own."""
    for said in reply.claims:
        named = tuple(map(_number, said.sources))
        for written in written_claims(read_marks(_readable(said.text))):
            yield Written(written.text, tuple(dict.fromkeys((*named, *written.numbers))))


def _number(source: str | int) -> int:
    found = _SOURCE.fullmatch(str(source).strip())
    return int(found[1]) if found else UNKNOWN


def _readable(text: str) -> str:
    """Without what is not drawn: control characters, marks of direction, halves of characters."""
    text = _LINE_END.sub("\n", text)
    return "".join(c for c in text if c in "\n\t" or not unicodedata.category(c).startswith("C"))
