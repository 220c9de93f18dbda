"""Lines to running text: words parted by one space, hyphens at line ends undone, Han characters joined without one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from service.domain.documents import Hyperlink, Span
from service.offline.ingest.parsing.pdf.elements import Line, Word

_HAN = "\u2e80-\u2fff\u3005-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ENDS_HAN = re.compile(f"[{_HAN}]$|[\u3000-\u303f\uff00-\uff60]$")
_STARTS_HAN = re.compile(f"[{_HAN}]|[\u3000-\u303f\uff00-\uff60]")
_ENDS_FULL = re.compile("[\u3000-\u303f\uff00-\uff60]$")
_STARTS_FULL = re.compile("[\u3000-\u303f\uff00-\uff60]")
_HYPHENATED = re.compile(r"[^\W\d_]+(?:[-\u2010][^\W\d_]+)+")
_WORD = re.compile(r"(?<![-\u2010\w])[^\W\d_]+(?![-\u2010\w])")
_LINE_END = re.compile(r"([^\W\d_]+)[-\u2010]$")
_RANGE_END = re.compile(r"\d[-\u2010-\u2013]$")
_LINE_START = re.compile(r"[^\W\d_]+")
_HAN_GAP = 0.7  # of the size; a justified line parts its characters by less, a blank between names is more


class Joiner:
    """Knows the document's words, and which of them it writes with a hyphen: a hyphen at a line end that parts two
    words belongs there, one that parts a word does not."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._words: set[str] = set()
        for line in lines:
            for word in line.words:
                self._words.update(m.lower() for m in _HYPHENATED.findall(word.text))
            # What a line ends with may be half a word, and so may be what the next one starts with.
            for word in line.words[1:-1]:
                self._words.update(m.lower() for m in _WORD.findall(word.text))

    def text(self, lines: Sequence[Line]) -> str:
        joined = ""
        for line in lines:
            own = line_text(line)
            joined = self._joined(joined, own) if joined else own
        return joined

    def _joined(self, before: str, after: str) -> str:
        ends, starts = _LINE_END.search(before[-100:]), _LINE_START.match(after)
        if ends and starts and starts[0][0].islower():
            return (before if self._compound(ends[1], starts[0]) else before[:-1]) + after
        if ends and starts and before[-2:-1].islower():
            return before + after  # "Anglo-" before "Saxon": a hyphen that belongs there
        if _RANGE_END.search(before[-3:]) and after[:1].isdigit():
            return before + after  # "2019-" before "2023"
        return before + ("" if _touch(before, after) else " ") + after

    def _compound(self, first: str, second: str) -> bool:
        if f"{first}-{second}".lower() in self._words or (len(first) > 1 and first.isupper()):
            return True
        if f"{first}{second}".lower() in self._words:
            return False
        return len(first) > 3 and first.lower() in self._words and second.lower() in self._words


def _touch(before: str, after: str) -> bool:
    """Whether two lines are joined without a space: between Han characters, and beside full-width punctuation."""
    before = before[-1:]
    if _ENDS_FULL.search(before) or _STARTS_FULL.match(after):
        return True
    return bool(_ENDS_HAN.search(before) and _STARTS_HAN.match(after))


def line_text(line: Line) -> str:
    parts: list[str] = []
    last: Word | None = None
    for word in line.words:
        if last is not None and not (
            _touch(last.text, word.text) and word.x0 - last.x1 < _HAN_GAP * word.style.size
        ):
            parts.append(" ")
        parts.append(word.text)
        last = word
    return "".join(parts)


def placed_links(text: str, lines: Iterable[Line]) -> tuple[Hyperlink, ...]:
    """The lines' links where their words stand in the joined text: joining only adds white space and takes hyphens
    away. Parts of one link side by side are one."""
    found: list[Hyperlink] = []
    at = 0
    if not any(word.links for line in lines for word in line.words):
        return ()
    for word in (word for line in lines for word in line.words):
        start = at
        while text[start : start + 1].isspace():
            start += 1
        at = start + len(word.text) - (not text.startswith(word.text, start))
        for link in word.links:
            span = Span(start + link.span.start, min(at, start + link.span.end))
            if found and found[-1].href == link.href and not text[found[-1].span.end : span.start].strip():
                span = Span(found.pop().span.start, span.end)
            found.append(Hyperlink(span, link.href))
    return tuple(found)


def code_text(lines: Sequence[Line]) -> str:
    """Code keeps its lines, and the columns in which they stand."""
    widths = [
        (word.x1 - word.x0) / len(word.text)
        for line in lines
        for word in line.words
        if word.style.mono and word.x1 > word.x0 and word.text.isascii()
    ]
    width = sorted(widths)[len(widths) // 2] if widths else max(1.0, lines[0].size * 0.6)
    left = min(line.x0 for line in lines)
    return "\n".join(_code_line(line, left, width) for line in lines)


def _code_line(line: Line, left: float, width: float) -> str:
    text, at = "", left
    for word in line.words:
        blanks = min(80, max(1 if text else 0, round((word.x0 - at) / width)))
        text += " " * blanks + word.text
        at = word.x1
    return text


def ends_han(text: str) -> bool:
    return _ENDS_HAN.search(text[-1:]) is not None


def starts_han(text: str) -> bool:
    return _STARTS_HAN.match(text) is not None
