"""Citation marks in written text: `[S1]`, `[1]`, `[[1]]`, `【1】`, `［2］`, `[1, 2]`, `[S1][S3]`.

Read when the whole text is there: how it was cut on its way makes no difference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_NUMBER = r"[Ss]?\d{1,3}"
_LIST = rf"\s?({_NUMBER}(?:\s?[,，、;；]\s?{_NUMBER})*)\s?"
# Not marks: a link's text ([1](…)); what is dotted, or not closed, does not match at all.
_MARK = rf"(?:\[\[{_LIST}\]\]|\[{_LIST}\](?!\])|【{_LIST}】|［{_LIST}］)(?!\()"
_CODE = r"```.*?(?:```|\Z)|`[^`\n]*`"
_CODE_OR_MARK = re.compile(f"{_CODE}|{_MARK}", re.S)
# params[0], f(x)[1], m[0][1]: an index. A mark that says S may stand right behind a word.
_INDEXED = re.compile(r"[A-Za-z0-9_)\]}\"'\[.]")
# Before these, and between marks, a blank that led up to a mark goes with it.
_CLOSES = re.compile(r"[\s.,;:!?。，；：！？、)）\[【［]|\Z")


@dataclass(frozen=True, slots=True)
class Mark:
    """Source numbers named behind the first `at` characters of the text."""

    at: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """Text without its marks, and the marks in order."""

    text: str
    marks: tuple[Mark, ...]


def read_marks(text: str) -> Marked:
    """Nothing inside code is a mark."""
    kept: list[str] = []
    marks: list[Mark] = []
    at = length = 0
    for found in _CODE_OR_MARK.finditer(text):
        written = next(filter(None, found.groups()), None)
        if written is None or _is_index(text, found, written, after_mark=found.start() == at and bool(marks)):
            continue
        before = text[at : found.start()]
        if _CLOSES.match(text, found.end()):
            before = before.rstrip(" \t")
        kept.append(before)
        length += len(before)
        marks.append(Mark(length, tuple(map(int, re.findall(r"\d+", written)))))
        at = found.end()
    return Marked("".join([*kept, text[at:]]), tuple(marks))


def _is_index(text: str, found: re.Match[str], written: str, *, after_mark: bool) -> bool:
    plain = found.group().startswith("[") and "s" not in written.lower()
    return plain and not after_mark and bool(_INDEXED.match(text[found.start() - 1 : found.start()]))
