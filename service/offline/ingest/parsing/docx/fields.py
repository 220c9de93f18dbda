"""Where Word's fields lead: HYPERLINK, and references to bookmarks that are links."""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.offline.ingest.parsing.linking import href_of

_WORD = re.compile(r'\\(?P<switch>[a-z*#@!])|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<plain>[^\s"]+)', re.I)
_WITH_VALUE = "lot"  # switches of HYPERLINK that have one: place, tip, window
_LONGEST = 8_192  # characters of a code


@dataclass(slots=True)
class Field:
    """A field that is open: its code as far as it is read, then where it leads while its result is read."""

    code: str = ""
    begun: bool = False
    href: str = ""

    def more(self, code: str) -> None:
        self.code = (self.code + code)[:_LONGEST]

    def begin(self) -> None:
        self.begun, self.href = True, field_href(self.code)


def field_href(code: str) -> str:
    """What the result of a field leads to; "" where it is no link."""
    name, _, rest = code.strip().partition(" ")
    words = [(found.lastgroup, found[found.lastgroup or 0]) for found in _WORD.finditer(rest)]
    if name.upper() in ("REF", "PAGEREF", "NOTEREF"):
        is_link = ("switch", "h") in words
        return href_of(f"#{words[0][1]}") if is_link and words[0][0] != "switch" else ""
    if name.upper() != "HYPERLINK":
        return ""
    target, place, switch = "", "", ""
    for kind, word in words:
        if kind == "switch":
            switch = word.lower()
            continue
        written = re.sub(r"\\(.)", r"\1", word) if kind == "quoted" else word
        if switch == "l":
            place = place or written
        elif switch not in _WITH_VALUE or not switch:
            target = target or written
        switch = ""
    if "://" not in target:
        target = target.replace("\\", "/")
    return href_of(target + (f"#{place}" if place else ""))
