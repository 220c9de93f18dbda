"""What a paragraph is by its style: a heading, a list item, hidden. Styles inherit, and users rename them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from service.offline.ingest.parsing.officexml import Element, children, within

_HEADING = re.compile(r"(?:heading|标题|標題|überschrift|titre|título|見出し)\s*([1-9])", re.I)
_TITLE = re.compile(r"title|标题|標題", re.I)
_CAPTION = re.compile(r"caption|题注|題注", re.I)
_CONTENTS = re.compile(r"toc\b.*|table of figures|目录.*|目錄.*|图表目录", re.I)
_LEVELS = set("012345678")
_OFF = {"0", "false", "off", "none"}


def value(parent: Element | None, name: str) -> str | None:
    """The `w:val` of a child; None where the child or its value is not there."""
    child = parent.find(name) if parent is not None else None
    return child.get("w:val") if child is not None else None


def on(parent: Element | None, name: str) -> bool | None:
    """A switch such as `w:vanish`; None where nothing is said."""
    child = parent.find(name) if parent is not None else None
    return None if child is None else child.get("w:val", "1").lower() not in _OFF


class Styles:
    """The styles part. A style that is not there says nothing."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, Element] = {}
        self._default = ""
        for style in children(root, "w:style"):
            self._styles[style.get("w:styleId", "")] = style
            if style.get("w:type") == "paragraph" and style.get("w:default", "0").lower() not in _OFF:
                self._default = style.get("w:styleId", "")

    def heading_level(self, properties: Element | None) -> int:
        """1 to 9; 0 for what is no heading. A level said outright goes before all styles, and 9 means body text."""
        outright = _level(properties)
        if outright is not None:
            return outright
        for style in self._chain(properties):
            level = _level(style.find("w:pPr"))
            if level is not None:
                return level
            named = _HEADING.fullmatch(_name(style))
            if named:
                return int(named[1])
            if _TITLE.fullmatch(_name(style)):
                return 1
        return 0

    def is_title(self, properties: Element | None) -> bool:
        return self._named(properties, _TITLE)

    def is_caption(self, properties: Element | None) -> bool:
        return self._named(properties, _CAPTION)

    def is_contents(self, properties: Element | None) -> bool:
        """A line of the table of contents: headings said twice, with page numbers."""
        return self._named(properties, _CONTENTS)

    def numbering(self, properties: Element | None) -> tuple[str, int] | None:
        """(numId, level from 0) of a paragraph; None where it has none, or had it taken away."""
        own = properties.find("w:numPr") if properties is not None else None
        number, level = value(own, "w:numId"), value(own, "w:ilvl")
        for style in self._chain(properties):
            if number is not None and level is not None:
                break
            inherited = within(style, "w:pPr", "w:numPr")
            number = number if number is not None else value(inherited, "w:numId")
            level = level if level is not None else value(inherited, "w:ilvl")
        if number is None or number == "0":
            return None
        return number, int(level) if level in _LEVELS else 0

    def hides(self, properties: Element | None, run: Element | None) -> bool:
        """Whether a run's text is hidden: by itself, by its character style, or by its paragraph's style."""
        said = on(run, "w:vanish")
        if said is None and run is not None:
            said = self._vanish(value(run, "w:rStyle"))
        if said is None:
            said = self._vanish(value(properties, "w:pStyle") or self._default)
        return bool(said)

    def _vanish(self, style_id: str | None) -> bool | None:
        said = (on(style.find("w:rPr"), "w:vanish") for style in self._upwards(style_id))
        return next((one for one in said if one is not None), None)

    def _named(self, properties: Element | None, pattern: re.Pattern[str]) -> bool:
        return any(pattern.fullmatch(_name(style)) for style in self._chain(properties))

    def _chain(self, properties: Element | None) -> Iterator[Element]:
        return self._upwards(value(properties, "w:pStyle") or self._default)

    def _upwards(self, style_id: str | None) -> Iterator[Element]:
        seen = set()
        while style_id and style_id not in seen and style_id in self._styles:
            seen.add(style_id)
            yield self._styles[style_id]
            style_id = value(self._styles[style_id], "w:basedOn")


def _level(properties: Element | None) -> int | None:
    said = value(properties, "w:outlineLvl")
    if said is None or not said.isdecimal():
        return None
    return int(said[:2]) + 1 if int(said[:2]) < 9 else 0


def _name(style: Element) -> str:
    return value(style, "w:name") or ""
