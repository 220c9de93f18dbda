"""The number or sign in front of a paragraph, which a DOCX does not hold: it is counted anew by whoever shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from service.offline.ingest.parsing.docx.counting import counted
from service.offline.ingest.parsing.docx.styles import on, value
from service.offline.ingest.parsing.officexml import Element, children, within

_PLACE = re.compile(r"%([1-9])")
_PRIVATE = re.compile("[\ue000-\uf8ff]")  # signs of Wingdings and Symbol
_SYMBOLS = re.compile("wingdings|webdings|symbol", re.I)
_LEVELS = 9


@dataclass(slots=True)
class _Level:
    start: int = 1
    form: str = "decimal"
    text: str = ""
    legal: bool = False
    restart: int | None = None
    tight: bool = False


@dataclass(slots=True)
class _List:
    """What counts together: all lists made from one definition."""

    levels: list[_Level]
    counts: list[int | None] = field(default_factory=lambda: [None] * _LEVELS)


class Numbering:
    """Hands out the labels in document order; each call counts."""

    def __init__(self, root: Element | None) -> None:
        self._abstract = {one.get("w:abstractNumId", ""): one for one in children(root, "w:abstractNum")}
        self._numbers = {one.get("w:numId", ""): one for one in children(root, "w:num")}
        self._by_style = {
            style: key for key, one in self._abstract.items() if (style := value(one, "w:styleLink"))
        }
        self._lists: dict[str, _List] = {}
        self._used: dict[str, list[_Level]] = {}

    def label(self, number: str, level: int) -> str:
        """The label with the space that parts it from the text; "" for a list that is not defined."""
        one = self._numbers.get(number)
        if one is None:
            return ""
        key = self._definition(value(one, "w:abstractNumId") or "")
        counting = self._lists.setdefault(key, _List(_levels(self._abstract.get(key))))
        if number not in self._used:
            self._used[number] = _overridden(one, counting)
        levels = self._used[number]
        own = levels[level]
        count = counting.counts[level]
        counting.counts[level] = own.start if count is None else count + 1
        for deeper in range(level + 1, _LEVELS):
            after = levels[deeper].restart
            if after is None or (after and level < after):
                counting.counts[deeper] = None
        text = _label(levels, counting.counts, level)
        return text if own.tight or not text else f"{text} "

    def _definition(self, key: str) -> str:
        linked = value(self._abstract.get(key), "w:numStyleLink")
        return self._by_style.get(linked or "", key)


def _label(levels: list[_Level], counts: list[int | None], level: int) -> str:
    own = levels[level]
    if own.form == "bullet":
        # "o" is how Word draws the circle of a second level.
        sign = own.text.strip()
        return "•" if _PRIVATE.search(sign) or not sign else {"o": "◦"}.get(sign, sign)

    def place(found: re.Match[str]) -> str:
        at = int(found[1]) - 1
        other = levels[at]
        count = counts[at]
        return counted(other.start if count is None else count, "decimal" if own.legal else other.form)

    return _PLACE.sub(place, own.text).strip()


def _levels(abstract: Element | None) -> list[_Level]:
    levels = [_Level() for _ in range(_LEVELS)]
    for element in children(abstract, "w:lvl"):
        at = _whole(element.get("w:ilvl"), 0)
        if at < _LEVELS:
            levels[at] = _level(element)
    return levels


def _level(element: Element) -> _Level:
    restart = value(element, "w:lvlRestart")
    form = value(element, "w:numFmt")
    if form is None and (custom := within(element, "mc:AlternateContent", "mc:Fallback")) is not None:
        form = value(custom, "w:numFmt")
    fonts = within(element, "w:rPr", "w:rFonts")
    font = fonts.get("w:ascii", "") if fonts is not None else ""
    return _Level(
        start=_whole(value(element, "w:start"), 0 if element.find("w:start") is None else 1),
        form=form or "decimal",
        text="" if form == "bullet" and _SYMBOLS.match(font) else value(element, "w:lvlText") or "",
        legal=bool(on(element, "w:isLgl")),
        restart=None if restart is None else _whole(restart, 0),
        tight=value(element, "w:suff") == "nothing",
    )


def _overridden(number: Element, counting: _List) -> list[_Level]:
    """A list's own levels. A start of its own begins the count anew where the list is first used."""
    levels = list(counting.levels)
    for override in number.findall("w:lvlOverride"):
        at = _whole(override.get("w:ilvl"), 0)
        if at >= _LEVELS:
            continue
        own = override.find("w:lvl")
        if own is not None:
            levels[at] = _level(own)
        start = value(override, "w:startOverride")
        if start is not None:
            before = levels[at]
            levels[at] = _Level(
                _whole(start, 1), before.form, before.text, before.legal, before.restart, before.tight
            )
            counting.counts[at] = None
    return levels


def _whole(text: str | None, otherwise: int) -> int:
    return int(text) if text is not None and re.fullmatch("[0-9]{1,9}", text) else otherwise
