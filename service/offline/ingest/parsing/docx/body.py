"""Goes through a Word document in order and writes what a reader of its final form sees."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from service.domain.documents import Hyperlink, Span
from service.offline.ingest.parsing.docx.numbering import Numbering
from service.offline.ingest.parsing.docx.runs import GONE, THROUGH, Line, Runs, chosen
from service.offline.ingest.parsing.docx.styles import Styles, value
from service.offline.ingest.parsing.docx.tables import Cell, lone_cell, read_table
from service.offline.ingest.parsing.linking import Piece, moved, one_line, pieces_of, with_words
from service.offline.ingest.parsing.officexml import Element, within
from service.offline.ingest.parsing.writing import Writer

_CAPTION = re.compile(r"(?:续表|附?表|table|tab\.)\s*[\d一二三四五六七八九十A-Z]|.{0,80}[:：]\Z", re.I)
_UNIT = re.compile(r"[(（【\[]?.{0,40}(?:单位|單位|\bunits?)\s*[:：]", re.I)
_LONGEST_CAPTION = 120  # characters; a longer paragraph is prose that happens to name a table
_LONGEST_HEADING = 300  # characters; a longer paragraph only has the look of a heading


class Body:
    """One reading of one document. `notes` gives the element of a note by (kind, id), `targets` what a link leads to
    by its part and id."""

    def __init__(
        self,
        styles: Styles,
        numbering: Numbering,
        notes: Mapping[tuple[str, str], Element],
        targets: Mapping[str, Mapping[str, str]],
    ) -> None:
        self.writer = Writer()
        self.title = ""
        self._styles, self._numbering, self._notes = styles, numbering, notes
        self._runs = Runs(styles, targets)
        self._titled = False
        self._held = Line()
        self._ids: list[str] = []  # of bookmarks, for the block to come
        self._captions: set[int] = set()  # places of blocks in the style of captions

    def read(self, body: Element) -> None:
        self._content(body)
        self._block(self._held, None)

    def _content(self, elements: Element) -> None:
        _each(elements, self._paragraph, self._table)

    def _paragraph(self, paragraph: Element) -> None:
        line = self._runs.line(paragraph)
        if self._held.text or self._held.boxes or self._held.notes:
            line = Line(
                self._held.text + line.text,
                self._held.boxes + line.boxes,
                self._held.notes + line.notes,
                [*self._held.links, *moved(line.links, len(self._held.text))],
                self._held.ids + line.ids,
                line.joins_next,
            )
            self._held = Line()
        if line.joins_next:
            self._held = line
        else:
            self._block(line, paragraph.find("w:pPr"))

    def _block(self, line: Line, properties: Element | None) -> None:
        if self._styles.is_contents(properties):
            return
        level = self._styles.heading_level(properties)
        numbered = self._styles.numbering(properties)
        # An empty paragraph of a list is counted as well: it is shown with its number.
        label = self._numbering.label(*numbered) if numbered else ""
        text = label + line.text.strip() if line.text.strip() else ""
        lead = len(line.text) - len(line.text.lstrip())
        links: tuple[Hyperlink, ...] = moved(with_words(line.text, line.links), len(label) - lead)
        self._ids += line.ids
        ids = tuple(dict.fromkeys(filter(None, self._ids)))
        if text:
            self._ids.clear()
        if level and text and len(text) <= _LONGEST_HEADING:
            text, links = one_line(pieces_of(text, links))
            self.writer.heading(level, text, links, ids=ids)
            is_title = self._styles.is_title(properties)
            if not self.title or (is_title and not self._titled):
                self.title, self._titled = text, is_title
        elif numbered and not level:
            self.writer.add("list_item", text, links=links, ids=ids, level=numbered[1] + 1)
        elif self.writer.add("paragraph", text, links=links, ids=ids) and self._styles.is_caption(properties):
            self._captions.add(len(self.writer.blocks) - 1)
        for box in line.boxes:
            self._content(box)
        self._write_notes(line.notes)

    def _write_notes(self, notes: Iterable[tuple[str, str, str]]) -> None:
        for kind, note_id, mark in notes:
            note = self._notes.get((kind, note_id))
            text, links = self._flat(note, part=kind) if note is not None else ("", ())
            lead = f"{mark}: " if mark and text else ""
            self.writer.add("footnote", lead + text, links=moved(links, len(lead)))

    def _table(self, table: Element) -> None:
        cell = lone_cell(table)
        if cell is not None:
            self._content(cell)
            return
        notes: list[tuple[str, str, str]] = []
        read = read_table(table, lambda cell: self._flat(cell, notes))
        self.writer.table(read.lines, read.heads, caption=self._caption(), links=read.links)
        self._write_notes(notes)

    def _caption(self) -> Span | None:
        """The line above that titles the table; a unit line may stand between, and counts where there is none."""
        blocks = self.writer.blocks
        unit = None
        for back in (1, 2):
            if back > len(blocks) or blocks[-back].kind not in ("paragraph", "list_item"):
                break
            text = self.writer.shown(back)
            if len(text) > _LONGEST_CAPTION:
                break
            if len(blocks) - back in self._captions or _CAPTION.match(text):
                return blocks[-back].span
            if unit is not None or not _UNIT.match(text):
                break
            unit = blocks[-back].span
        return unit

    def _flat(
        self, element: Element, notes: list[tuple[str, str, str]] | None = None, part: str = ""
    ) -> Cell:
        """All of a cell's or a note's text on one line, with its links. A table inside is told cell by cell."""
        pieces: list[Piece] = []

        def paragraph(one: Element) -> None:
            line = self._runs.line(one, part)
            numbered = self._styles.numbering(one.find("w:pPr"))
            label = self._numbering.label(*numbered) if numbered else ""
            if line.text.strip():
                pieces.append((label, ""))
                pieces.extend(pieces_of(line.text, line.links))
                pieces.append(("" if line.joins_next else " ", ""))
            for box in line.boxes:
                pieces.extend((*pieces_of(*self._flat(box, notes, part)), (" ", "")))
            if notes is not None:
                notes.extend(line.notes)

        def table(one: Element) -> None:
            for row_place, row in enumerate(read_table(one, lambda cell: self._flat(cell, notes, part)).rows):
                pieces.append(("; " if row_place else "", ""))
                for place, cell in enumerate(cell for cell in row if cell[0]):
                    pieces.append((", " if place else "", ""))
                    pieces.extend(pieces_of(*cell))
            pieces.append((" ", ""))

        _each(element, paragraph, table)
        return one_line(pieces)


def _each(
    elements: Iterable[Element], paragraph: Callable[[Element], None], table: Callable[[Element], None]
) -> None:
    """Calls the one for each paragraph and the other for each table, in order, through whatever wraps them."""
    for element in elements:
        if element.tag == "w:p":
            paragraph(element)
        elif element.tag == "w:tbl":
            table(element)
        elif element.tag == "mc:AlternateContent":
            for branch in chosen(element):
                _each(branch, paragraph, table)
        elif element.tag in THROUGH and element.tag not in GONE and not _is_contents(element):
            _each(element, paragraph, table)


def _is_contents(element: Element) -> bool:
    gallery = value(within(element, "w:sdtPr", "w:docPartObj"), "w:docPartGallery")
    return gallery == "Table of Contents"
