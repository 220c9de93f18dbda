"""Clauses: the stretches of text between commas, full stops and line ends, in which one thing is said.

Coarser than grammar and finer than a sentence. No name and no quantity crosses a clause, so patterns are tried
within clauses that can hold them; a number and what it is about stand in the same clause.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_WIDE = "\u2e80-\u303f\u3400-\u9fff\uff00-\uffef"
# ASCII commas end a clause before a space or beside Chinese (width folding makes them of ，), never in 1,200.
# A full stop needs four letters before it: "No. 5" and "Art. 12" go on.
_SEPARATOR = re.compile(
    rf"[，。；！？\n]|[,;!?](?=[\s{_WIDE}])|(?<=[{_WIDE}])[,;!?]|(?<=[A-Za-z]{{4}})\.(?=\s)"
)


def clauses(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of each clause of raw or width-folded text, in order, without its closing mark."""
    start = 0
    for separator in _SEPARATOR.finditer(text):
        if separator.start() > start:
            yield start, separator.start()
        start = separator.end()
    if start < len(text):
        yield start, len(text)
