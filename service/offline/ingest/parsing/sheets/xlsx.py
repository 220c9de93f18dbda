"""XLSX and XLSM: each sheet's XML is gone through once. Formulas give the value that was kept with them; macros and
links to other files are not looked at.

Read here and not by a library: those that are fast give no number formats, so that 12% would become 0.12, and lay an
empty sheet with one cell in its last corner out in full.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date, datetime

from service.offline.ingest.parsing.officexml import Element, children, relations, scan, tree
from service.offline.ingest.parsing.sheets.formats import BUILT_IN, general, shown
from service.offline.ingest.parsing.sheets.grid import Budget, Cell, Sheet
from service.offline.ingest.parsing.zipped import Archive

_PLACE = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_ON = {"1", "true"}
_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576


def main_part(archive: Archive) -> str:
    """The workbook's name inside the archive; "" where it is no XLSX."""
    found = [name for kind, name in relations(archive, "").values() if kind == "officeDocument"]
    return next((name for name in found if name in archive.names and name.endswith(".xml")), "")


def is_workbook(root: Element | None) -> bool:
    return root is not None and root.tag == "s:workbook"


class Workbook:
    """What its sheets share. `sheets` are (name, part, hidden) in their order."""

    def __init__(self, archive: Archive, part: str, root: Element) -> None:
        self._archive = archive
        parts = relations(archive, part)
        by_kind = dict(reversed(parts.values()))
        properties = root.find("s:workbookPr")
        self._epoch_1904 = properties is not None and properties.get("date1904", "0").lower() in _ON
        self.sheets = [
            (sheet.get("name", ""), parts[ref][1], sheet.get("state", "visible") != "visible")
            for sheet in children(root.find("s:sheets"), "s:sheet")
            if (ref := sheet.get("r:id", "")) in parts and parts[ref][0] == "worksheet"
        ]
        self._strings = _strings(archive.read(by_kind.get("sharedStrings", "")))
        self._formats = _formats(tree(archive.read(by_kind.get("styles", ""))))

    def sheet(self, name: str, part: str, hidden: bool, budget: Budget) -> Sheet:
        reading = _Reading(Sheet(name, hidden=hidden), self._value, budget)
        scan(self._archive.read(part), reading.start, reading.end, reading.data)
        sheet = reading.sheet
        for kind, table_part in relations(self._archive, part).values():
            table = tree(self._archive.read(table_part)) if kind == "table" else None
            if (
                table is not None
                and table.get("headerRowCount", "1") != "0"
                and (at := _area(table.get("ref")))
            ):
                sheet.head_rows.add(at[0])
        return sheet

    def _value(self, kind: str, text: str, style: str) -> Cell | None:
        if kind == "s":
            text = self._shared(text.strip())
        elif kind == "b":
            text = "TRUE" if text.strip() in _ON else "FALSE"
        elif kind in ("n", "d"):
            return self._number(kind, text.strip(), style)
        elif kind == "inlineStr" or kind == "str":
            text = unescaped(text)
        text = " ".join(text.split())
        return Cell(text) if text else None

    def _shared(self, place: str) -> str:
        at = int(place) if place.isdecimal() and len(place) < 10 else len(self._strings)
        return self._strings[at] if at < len(self._strings) else ""

    def _number(self, kind: str, text: str, style: str) -> Cell | None:
        if not text:
            return None
        if kind == "d":
            return Cell(_iso(text), number=True)
        try:
            number = float(text)
        except ValueError:
            return Cell(text)
        code = self._formats.get(style, "")
        told = " ".join((shown(number, code, self._epoch_1904) if code else general(number)).split())
        # A format may hide a number (";;;"); hidden text is left out.
        return Cell(told, number=True) if told else None


def unescaped(text: str) -> str:
    """`_x000D_` stands for a carriage return, and so on."""
    return _ESCAPED.sub(lambda found: _character(int(found[1], 16)), text) if "_x" in text else text


def _character(code: int) -> str:
    return chr(code) if code >= 32 and not 0xD800 <= code <= 0xDFFF else " "


def _iso(text: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    return (
        date.isoformat(moment)
        if moment == datetime(moment.year, moment.month, moment.day)
        else f"{moment:%Y-%m-%d %H:%M:%S}"
    )


class _Reading:
    """Takes a sheet's XML event by event."""

    def __init__(self, sheet: Sheet, value: Callable[[str, str, str], Cell | None], budget: Budget) -> None:
        self.sheet, self._value, self._budget = sheet, value, budget
        self._row = self._column = -1
        self._kind = self._style = ""
        self._text: list[str] = []
        self._inside = self._phonetic = False  # in what has text: a value, or a piece of a text; not a hint

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == "s:c":
            self._begin(attributes)
        elif tag in ("s:v", "s:t") and not self._phonetic:
            self._inside = True
        elif tag == "s:rPh":
            self._phonetic = True
        elif tag == "s:row":
            number = attributes.get("r", "")
            self._row = min(int(number), _LAST_ROW) - 1 if _is_number(number) else self._row + 1
            self._column = -1
            if attributes.get("hidden", "0") in _ON:
                self.sheet.hidden_rows.add(self._row)
        elif tag == "s:mergeCell" and (area := _area(attributes.get("ref"))):
            self.sheet.merged.append(area)
        elif tag == "s:col" and attributes.get("hidden", "0") in _ON:
            first, last = attributes.get("min", ""), attributes.get("max", "")
            if _is_number(first) and _is_number(last):
                self.sheet.hidden_columns.update(range(int(first) - 1, min(int(last), _LAST_COLUMN)))
        elif tag == "s:autoFilter" and (area := _area(attributes.get("ref"))):
            self.sheet.head_rows.add(area[0])
        elif tag == "s:pane" and attributes.get("state", "") in ("frozen", "frozenSplit"):
            frozen = attributes.get("ySplit", "0").partition(".")[0]
            self.sheet.head_rows.update(range(min(int(frozen), 20)) if _is_number(frozen) else ())

    def data(self, text: str) -> None:
        if self._inside:
            self._text.append(text)

    def end(self, tag: str) -> None:
        if tag == "s:c":
            cell = self._value(self._kind, "".join(self._text), self._style)
            if cell is not None:
                self._budget.take(1)
                self.sheet.rows.setdefault(self._row, {})[self._column] = cell
        elif tag == "s:rPh":
            self._phonetic = False
        self._inside = False

    def _begin(self, attributes: Mapping[str, str]) -> None:
        at = _PLACE.fullmatch(attributes.get("r", ""))
        self._column += 1
        if at:
            self._row, self._column = _row(at[2]), _column(at[1])
        self._kind, self._style = attributes.get("t", "n"), attributes.get("s", "0")
        self._text.clear()


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and 0 < len(text) < 8 and int(text) > 0


def _row(digits: str) -> int:
    return min(max(int(digits), 1), _LAST_ROW) - 1


def _column(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return min(number, _LAST_COLUMN) - 1


def _area(reference: str | None) -> tuple[int, int, int, int] | None:
    first, _, second = (reference or "").partition(":")
    ends = _PLACE.fullmatch(first), _PLACE.fullmatch(second or first)
    if ends[0] is None or ends[1] is None:
        return None
    return _row(ends[0][2]), _column(ends[0][1]), _row(ends[1][2]), _column(ends[1][1])


def _strings(xml: bytes) -> list[str]:
    """The shared strings; rich text is joined, phonetic hints are left out."""
    found: list[str] = []
    pieces: list[str] = []
    inside = phonetic = False

    def start(tag: str, _: Mapping[str, str]) -> None:
        nonlocal inside, phonetic
        if tag == "s:si":
            pieces.clear()
        elif tag == "s:rPh":
            phonetic = True
        inside = tag == "s:t" and not phonetic

    def end(tag: str) -> None:
        nonlocal inside, phonetic
        if tag == "s:si":
            found.append(unescaped("".join(pieces)))
        elif tag == "s:rPh":
            phonetic = False
        inside = False

    if xml:
        scan(xml, start, end, lambda text: pieces.append(text) if inside else None)
    return found


def _formats(styles: Element | None) -> dict[str, str]:
    """Cell style → format code, where it has one."""
    if styles is None:
        return {}
    codes = {str(number): code for number, code in BUILT_IN.items()}
    for one in children(styles.find("s:numFmts"), "s:numFmt"):
        codes[one.get("numFmtId", "")] = one.get("formatCode", "")
    cells = children(styles.find("s:cellXfs"), "s:xf")
    return {str(at): code for at, one in enumerate(cells) if (code := codes.get(one.get("numFmtId", "0")))}
