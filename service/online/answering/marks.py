"""Citation marks in written text: `[S1]`, `[1]`, `[[1]]`, `【1】`, `［2］`, `[1, 2]`, `[S1][S3]`.

Read as it arrives or whole, with one result: what stands at a place is decided by the same few characters after it,
however the text was cut on its way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_NUMBER = r"[Ss]?\d{1,3}"
_LIST = rf"\s?({_NUMBER}(?:\s?[,，、;；]\s?{_NUMBER})*)\s?"
# Not a mark: what a link or another bracket follows, and what is dotted ([1.2] does not match at all).
_MARK = re.compile(rf"(?:\[\[{_LIST}\]\]|\[{_LIST}\](?!\])|【{_LIST}】|［{_LIST}］)(?![(（])")
_OPENERS = "[【［"
_LONGEST = 48  # characters a mark may have: so many are looked at from each place on
# params[0], f(x)[1], m[0][1]: an index. A mark that says S may stand right behind a word.
_INDEXED = re.compile(r"[A-Za-z0-9_)\]}\"'\[.]")
_FENCE = "```"


@dataclass(frozen=True, slots=True)
class Mark:
    """Source numbers named behind the first `at` characters of the text."""

    at: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Marked:
    """Text without its marks, and the marks."""

    text: str
    marks: tuple[Mark, ...]


@dataclass(slots=True)
class MarkReader:
    """Takes text in pieces. Nothing inside code is a mark: code in the line ends with the line, a fence at a fence."""

    _waiting: str = ""
    _text: list[str] = field(default_factory=list)
    _marks: list[Mark] = field(default_factory=list)
    _code: str = ""  # the backticks that opened the code we are in
    _previous: str = ""
    _space: str = ""  # blanks before a mark: they stay only where a word follows
    _length: int = 0

    def feed(self, piece: str) -> None:
        self._waiting += piece
        self._read(len(self._waiting) - _LONGEST)

    def close(self) -> Marked:
        self._read(len(self._waiting))
        return Marked("".join(self._text), tuple(self._marks))

    def _read(self, until: int) -> None:
        at = 0
        while at < until:
            at += self._step(self._waiting[at : at + _LONGEST])
        self._waiting = self._waiting[at:]

    def _step(self, ahead: str) -> int:
        """Takes what stands at the beginning of `ahead`; how many characters that was."""
        if ahead[0] == "`":
            run = len(ahead) - len(ahead.lstrip("`"))
            ticks = ahead[:run]
            if not self._code:
                self._code = ticks
            elif ticks == self._code or (ticks.startswith(_FENCE) and self._code.startswith(_FENCE)):
                self._code = ""
            return self._keep(ticks)
        if ahead[0] == "\n" and not self._code.startswith(_FENCE):
            self._code = ""
        if not self._code and ahead[0] in _OPENERS and (match := _MARK.match(ahead)):
            written = next(filter(None, match.groups()))
            if "s" in written.lower() or ahead[0] != "[" or not _INDEXED.match(self._previous):
                self._marks.append(Mark(self._length, tuple(map(int, re.findall(r"\d+", written)))))
                self._previous = "。"  # another mark may follow at once
                return match.end()
        if ahead[0] in " \t":
            self._space += ahead[0]
            self._previous = ahead[0]
            return 1
        return self._keep(ahead[0])

    def _keep(self, said: str) -> int:
        marked = bool(self._marks) and self._marks[-1].at == self._length
        if self._space and not (marked and re.match(r"[.,;:!?。，；：！？、\n]", said)):
            self._text.append(self._space)
            self._length += len(self._space)
        self._space = ""
        self._text.append(said)
        self._length += len(said)
        self._previous = said[-1]
        return len(said)


def read_marks(text: str) -> Marked:
    """The marks of a whole text."""
    reader = MarkReader()
    reader.feed(text)
    return reader.close()
