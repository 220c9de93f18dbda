"""The text of a paragraph as it is shown: tracked changes accepted, hidden text left out, results of fields in place
of their codes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from service.domain.documents import Hyperlink, Span
from service.offline.ingest.parsing.docx.counting import counted
from service.offline.ingest.parsing.docx.fields import Field, field_href
from service.offline.ingest.parsing.docx.styles import Styles
from service.offline.ingest.parsing.linking import href_of
from service.offline.ingest.parsing.officexml import Element, within

GONE = {"w:del", "w:moveFrom"}  # what a tracked change takes away
THROUGH = {
    "w:ins", "w:moveTo", "w:smartTag", "w:customXml", "w:sdt", "w:sdtContent", "w:hyperlink", "w:fldSimple", "w:bdo",
    "w:dir", "w:subDoc",
}  # fmt: skip
_SIGNS = {"w:tab": "\t", "w:ptab": "\t", "w:br": "\n", "w:cr": "\n", "w:noBreakHyphen": "-"}
_PICTURES = {"w:drawing", "w:pict", "w:object"}
_NOTES = {"w:footnoteReference": "footnote", "w:endnoteReference": "endnote"}
# What stands for letters in the font Symbol, from U+F020 on; a blank is a sign of no meaning to a reader.
_SYMBOL = (
    " !∀#∃%&∋()∗+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_ αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
    + " " * 34 + "ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…"
)  # fmt: skip
_WINGDINGS = {0xFC: "✓", 0xFE: "☑", 0xA8: "□", 0x6F: "□", 0xFB: "✗", 0xFD: "☒", 0xE0: "→", 0xDF: "←", 0xE8: "→",
              0xB7: "•", 0x6C: "●", 0x6E: "■", 0xD8: "➢", 0x75: "◆", 0x4A: "☺"}  # fmt: skip


@dataclass(slots=True)
class Line:
    """A paragraph's text, with what hangs on it: text boxes, notes as (kind, id, mark), links, names of bookmarks."""

    text: str = ""
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str, str]] = field(default_factory=list)
    links: list[Hyperlink] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    joins_next: bool = False  # its paragraph mark was deleted


class Runs:
    """Reads paragraphs in document order: fields run over several, and notes are counted. `targets` are what links
    lead to, by the part they stand in and their id."""

    def __init__(self, styles: Styles, targets: Mapping[str, Mapping[str, str]]) -> None:
        self._styles, self._all_targets = styles, targets
        self._targets: Mapping[str, str] = {}
        self._fields: list[Field] = []  # those that are open
        self._counts = {"footnote": 0, "endnote": 0}

    def line(self, paragraph: Element, part: str = "") -> Line:
        """`part` is "" for the document, else the kind of a note."""
        line, parts = Line(), list[str]()
        self._targets = self._all_targets.get(part, {})
        properties = paragraph.find("w:pPr")
        self._walk(paragraph, properties, line, parts)
        # A field whose result never began would swallow the rest of the document.
        self._fields = [field for field in self._fields if field.begun]
        line.text = "".join(parts)
        mark = properties.find("w:rPr") if properties is not None else None
        line.joins_next = mark is not None and any(mark.find(gone) is not None for gone in GONE)
        return line

    def _walk(self, element: Element, properties: Element | None, line: Line, parts: list[str]) -> None:
        for child in element:
            if child.tag == "w:r":
                self._run(child, properties, line, parts)
            elif child.tag in ("m:oMath", "m:oMathPara"):
                parts.append(_formula(child))
            elif child.tag == "mc:AlternateContent":
                for branch in chosen(child):
                    self._walk(branch, properties, line, parts)
            elif child.tag == "w:bookmarkStart":
                line.ids.append(child.get("w:name", ""))
            elif child.tag in THROUGH:
                start = len(parts)
                self._walk(child, properties, line, parts)
                if href := self._href(child):
                    _link(line, parts, start, href)

    def _href(self, link: Element) -> str:
        if link.tag == "w:fldSimple":
            return field_href(link.get("w:instr", ""))
        if link.tag != "w:hyperlink":
            return ""
        anchor = link.get("w:anchor", "")
        return href_of(self._targets.get(link.get("r:id", ""), "") + (f"#{anchor}" if anchor else ""))

    def _run(self, run: Element, properties: Element | None, line: Line, parts: list[str]) -> None:
        own = run.find("w:rPr")
        hidden = self._styles.hides(properties, own)
        for child in run:
            if child.tag == "w:fldChar":
                self._field(child.get("w:fldCharType"))
            elif child.tag == "w:instrText" and self._fields:
                self._fields[-1].more(child.text or "")
            elif not hidden and all(field.begun for field in self._fields):
                start = len(parts)
                self._piece(child, properties, line, parts)
                if href := next((field.href for field in reversed(self._fields) if field.href), ""):
                    _link(line, parts, start, href)

    def _field(self, step: str | None) -> None:
        if step == "begin":
            self._fields.append(Field())
        elif step == "separate" and self._fields:
            self._fields[-1].begin()
        elif step == "end" and self._fields:
            self._fields.pop()

    def _piece(self, child: Element, properties: Element | None, line: Line, parts: list[str]) -> None:
        if child.tag == "w:t":
            parts.append(child.text or "")
        elif child.tag in _SIGNS:
            parts.append(_SIGNS[child.tag])
        elif child.tag == "w:sym":
            parts.append(_symbol(child))
        elif child.tag in _NOTES:
            parts.append(self._note(child, line))
        elif child.tag in _PICTURES:
            line.boxes += _boxes(child)
        elif child.tag == "mc:AlternateContent":
            for branch in chosen(child):
                for inner in branch:
                    self._piece(inner, properties, line, parts)
        elif child.tag == "w:ruby" and (base := child.find("w:rubyBase")) is not None:
            self._walk(base, properties, line, parts)

    def _note(self, reference: Element, line: Line) -> str:
        kind, mark = _NOTES[reference.tag], ""
        # A mark of the author's own stands in the run itself and does not count.
        if not _said(reference, "w:customMarkFollows"):
            self._counts[kind] += 1
            number = counted(self._counts[kind], "lowerRoman" if kind == "endnote" else "decimal")
            mark = f"[^{number}]"
        line.notes.append((kind, reference.get("w:id", ""), mark))
        return mark


def _link(line: Line, parts: Sequence[str], start: int, href: str) -> None:
    """The parts from there on link; side by side with what leads there too, they are one link."""
    before, words = len("".join(parts[:start])), len("".join(parts[start:]))
    if line.links and (line.links[-1].span.end, line.links[-1].href) == (before, href):
        before, words = line.links[-1].span.start, before + words - line.links.pop().span.start
    line.links.append(Hyperlink(Span(before, before + words), href))


def _said(element: Element, name: str) -> bool:
    return element.get(name, "0").lower() in ("1", "true", "on")


def chosen(alternatives: Element) -> list[Element]:
    """The same content in two forms is read once: in the first that has text, the newer one where both have."""
    branches = [*alternatives.findall("mc:Choice"), *alternatives.findall("mc:Fallback")]
    with_text = [one for one in branches if next(one.iter("w:t"), None) is not None]
    return (with_text or branches)[:1]


def _boxes(picture: Element) -> Iterator[Element]:
    """The text boxes of a drawing, outermost ones, in order."""
    for child in chosen(picture) if picture.tag == "mc:AlternateContent" else picture:
        if child.tag == "w:txbxContent":
            yield child
        else:
            yield from _boxes(child)


def _symbol(element: Element) -> str:
    code = element.get("w:char", "")
    if not re.fullmatch("[0-9A-Fa-f]{1,5}", code):
        return ""
    point, font = int(code, 16), element.get("w:font", "").lower()
    low = point - 0xF000 if 0xF000 <= point <= 0xF0FF else point
    if font == "symbol" and 0x20 <= low < 0x20 + len(_SYMBOL):
        return _SYMBOL[low - 0x20].strip()
    if font.startswith("wingdings"):
        return _WINGDINGS.get(low, "")
    return "" if 0xD800 <= point <= 0xF8FF or point < 0x20 else chr(point)


_BETWEEN = {"m:f": ("m:num", "/", "m:den"), "m:sSup": ("m:e", "^", "m:sup"), "m:sSub": ("m:e", "_", "m:sub")}


def _formula(element: Element) -> str:
    """A formula on one line: fractions with a stroke, powers with a caret."""
    if element.tag in ("m:t", "w:t"):
        return element.text or ""
    if element.tag in GONE or element.tag.endswith("Pr"):
        return ""
    if element.tag in _BETWEEN:
        first, sign, second = _BETWEEN[element.tag]
        return sign.join(_grouped(element.find(part)) for part in (first, second))
    if element.tag == "m:rad":
        degree, inner = element.find("m:deg"), element.find("m:e")
        return f"{_formula(degree) if degree is not None else ''}√{_grouped(inner)}"
    if element.tag == "m:d":
        ends = _sign(element, "m:begChr", "("), _sign(element, "m:endChr", ")")
        return f"{ends[0]}{''.join(map(_formula, element))}{ends[1]}"
    return "".join(map(_formula, element))


def _sign(element: Element, name: str, otherwise: str) -> str:
    found = within(element, "m:dPr", name)
    return otherwise if found is None else found.get("m:val", otherwise)


def _grouped(element: Element | None) -> str:
    text = _formula(element) if element is not None else ""
    return text if re.fullmatch(r"\w*", text) else f"({text})"
