"""Which lines are headings, and of which level: by the document's own outline, else by size and weight."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from service.offline.ingest.parsing.pdf.elements import Line

_LARGER = 1.12  # of the body's size
_LONGEST = 200  # characters
_LONGEST_BOLD = 120  # of a heading that is only bold
_MOST = 0.15  # share of the document's characters; what has more is no style of headings
_DEEPEST = 6
_BULLET = re.compile(r"[•●○◦▪▫■□‣➢✓*·–—-]\s+")
_NUMBERED = re.compile(
    r"(?:(?:chapter|appendix|part|section)\s+)?((?:[A-Z](?=[.:：])|\d{1,3})(?:\.\d{1,3})*)[.:：]?[\s\u3000]+\S",
    re.I,
)
_HAN_NUMBERED = re.compile(r"(?:[一二三四五六七八九十]{1,3}、|([(（][一二三四五六七八九十]{1,3}[)）]))")
_CHAPTER = re.compile(r"第[一二三四五六七八九十百零〇\d]{1,5}([编篇部章节])(?:[\s\u3000:：]|$)")
_CHAPTER_DEPTH = {"编": 1, "篇": 1, "部": 1, "章": 2, "节": 3}
_SENTENCE_END = re.compile(r"[.;,。；，、!！?？]$")
_NOT_LETTERS = re.compile(r"[\W_]+")

Look = tuple[float, bool]  # size, bold


@dataclass(frozen=True, slots=True)
class Outline:
    """Bookmarks: (level from 1, title) by page, counted from 0."""

    by_page: Mapping[int, Sequence[tuple[int, str]]]

    def level(self, page: int, text: str) -> int:
        """Of the bookmark that names this text, with or without its number; 0 where none does."""
        own = _plain(text)
        bare = _plain(_unnumbered(text))
        for level, title in self.by_page.get(page, ()):
            if own and _plain(title) in (own, bare):
                return level
            if bare and _plain(_unnumbered(title)) == bare:
                return level
        return 0


@dataclass(frozen=True, slots=True)
class Rank:
    """Of a style: its level, the fewest numbers that its headings' numbers have, and by how much numbered headings
    are below those without number that come before them."""

    level: int
    least: int = 0
    below: int = 0

    def of(self, numbers: int, last: int) -> int:
        """The level of a heading with so many numbers; `last` is that of the numbered one before it, or 0."""
        if self.least < 0:  # given by bookmarks
            return self.level
        if numbers:
            return self.level + self.below + numbers - self.least
        return last + 1 if last else self.level


@dataclass(frozen=True, slots=True)
class Headings:
    body: float
    styles: Mapping[Look, Rank]
    outline: Outline

    def candidate(self, page: int, line: Line, text: str) -> bool:
        """Whether a line looks like a heading or the first line of one."""
        if line.aside or not any(c.isalnum() for c in text) or (_BULLET.match(text) and not depth(text)):
            return False
        if _chapter(text) or self.outline.level(page, text):
            return True
        if self.outline.by_page and line.size < self.body * _LARGER:
            return False  # what is only bold and not in the outline is a label
        return look(line) in self.styles and _looks_like(line, text, self.body)

    def level(self, page: int, line: Line, text: str, last: int) -> int:
        """`last` is the level of the style's latest numbered heading, or 0."""
        named = self.outline.level(page, text)
        if not named and look(line) in self.styles:
            named = self.styles[look(line)].of(depth(text), last)
        return max(1, min(named or depth(text), _DEEPEST))


def look(line: Line) -> Look:
    return line.size, line.bold


def headings(pages: Sequence[Sequence[tuple[Line, str]]], outline: Outline) -> Headings:
    """What the text lines of each page tell of the document's headings."""
    sizes: Counter[float] = Counter()
    looks: Counter[Look] = Counter()
    for page in pages:
        for line, text in page:
            looks[look(line)] += len(text)
            if not line.mono:
                sizes[line.size] += len(text)
    body = max(sizes.items(), key=lambda s: (s[1], s[0]))[0] if sizes else 10.0
    whole = sum(looks.values())
    found = [
        own
        for own, count in looks.items()
        if (own[0] >= body * _LARGER or (own[1] and own[0] >= body * 0.98))
        and count <= max(_MOST * whole, 400)
    ]
    ranked = sorted(found, key=lambda own: (-own[0], not own[1]))
    named = _named_levels(pages, outline, ranked)
    return Headings(
        body, _by_outline(ranked, named, body) if named else _by_look(pages, ranked, body), outline
    )


def _by_outline(ranked: Sequence[Look], named: Mapping[Look, int], body: float) -> dict[Look, Rank]:
    """Styles that bookmarks name have their level; a larger style without any is above the next smaller one."""
    styles = {own: Rank(level, least=-1) for own, level in named.items()}
    for own in ranked:
        if own not in styles and own[0] >= body * _LARGER:
            smaller = [level for other, level in named.items() if other[0] < own[0]]
            styles[own] = Rank(min(smaller, default=_DEEPEST), least=-1)
    return styles


def _by_look(
    pages: Sequence[Sequence[tuple[Line, str]]], ranked: Sequence[Look], body: float
) -> dict[Look, Rank]:
    """Larger styles first; within a style, numbers give the depth."""
    numbers: defaultdict[Look, list[int]] = defaultdict(list)
    for page in pages:
        for line, text in page:
            if look(line) in ranked and _looks_like(line, text, body):
                numbers[look(line)].append(depth(text))
    styles: dict[Look, Rank] = {}
    level = 1
    for own in ranked:
        with_number = [n for n in numbers[own] if n]
        if not with_number:
            styles[own] = Rank(level)
            level += 1
            continue
        rank = Rank(level, min(with_number), 1 if numbers[own][0] == 0 else 0)
        styles[own] = rank
        level = rank.of(max(with_number), 0) + 1
    return styles


def _named_levels(
    pages: Sequence[Sequence[tuple[Line, str]]], outline: Outline, ranked: Sequence[Look]
) -> dict[Look, int]:
    """The level that most bookmarks give to a style."""
    counts: defaultdict[Look, Counter[int]] = defaultdict(Counter)
    for number, page in enumerate(pages):
        for line, text in page:
            level = outline.level(number, text) if look(line) in ranked else 0
            if level:
                counts[look(line)][level] += 1
    return {own: max(levels.items(), key=lambda c: (c[1], -c[0]))[0] for own, levels in counts.items()}


def depth(text: str) -> int:
    """How many numbers a heading's number has: 2 for `1.3 Scope` and `（一）`, 0 without any."""
    bare = unmarked(text)
    if found := _CHAPTER.match(bare):
        return _CHAPTER_DEPTH[found[1]]
    if found := _NUMBERED.match(bare):
        return found[1].count(".") + 1
    found = _HAN_NUMBERED.match(bare)
    return 0 if found is None else 2 if found[1] else 1


def unmarked(text: str) -> str:
    """Without the bullet that some headings have."""
    return _BULLET.sub("", text, count=1) if _BULLET.match(text) else text


def _chapter(text: str) -> bool:
    return bool(_CHAPTER.match(text)) and len(text) <= 40 and not _SENTENCE_END.search(text)


def _looks_like(line: Line, text: str, body: float) -> bool:
    if len(text) > _LONGEST or line.mono:
        return False
    return line.size >= body * _LARGER or (len(text) <= _LONGEST_BOLD and not _SENTENCE_END.search(text))


def _unnumbered(text: str) -> str:
    bare = unmarked(text)
    found = _NUMBERED.match(bare)
    return bare[found.end() - 1 :] if found else bare


def _plain(text: str) -> str:
    return _NOT_LETTERS.sub("", text).casefold()
