"""Markdown: CommonMark with GFM tables, front matter, admonitions. The canonical text is the source itself.

Only the block structure is parsed: a quote is shown as it stands in the source, so inline markup needs no tree.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import marko.block
import yaml
from marko import Markdown
from marko.ext.gfm import GFM
from marko.ext.gfm.elements import Table
from marko.parser import Parser
from marko.source import Source

from service.domain.documents import Block, BlockKind, Span
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import plain

_FRONT_MATTER = re.compile(r"\A\s*^---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.S | re.M)
# Opened and never closed: what stands before the first empty line is taken for what was meant.
_OPEN_FRONT_MATTER = re.compile(r"\A\s*^---[ \t]*\n((?:[^\n]*\S[^\n]*(?:\n|\Z))+)", re.M)
# A rule that is there but cannot be read must not give way to a wider one.
_ACCESS_KEY = re.compile(r"""(?:^|[{,])[ \t]*["']?access["']?[ \t]*:""", re.M | re.I)
_HEADING = re.compile(r"\s{0,3}#{1,6}[ \t]*(.*?)[ \t]*#*[ \t]*(?:\{#[^}\n]*\})?[ \t]*", re.S)
_SETEXT = re.compile(r"(.*?)\n[ \t]{0,3}(?:=+|-+)[ \t]*", re.S)
_NOTE = re.compile(
    r"(?:>\s*)*(?:\[!(?P<gfm>\w+)\]|\*{0,2}(?P<bold>注意|警告|提示|说明|建议|重要|危险|Note|Warning|Tip|Important|Caution)"
    r"\s*[：:]?\s*\*{0,2}\s*[：:]?\s*(?:\n|$))",
    re.I,
)
_CONTAINER = re.compile(r":::\s*(\w+)")
# Of MkDocs, also the kind that folds; what belongs to it is indented, and after an empty line looks like code.
_INDENTED_NOTE = re.compile(r"(?:!!!|\?\?\?\+?)[ \t]+(\w+)")
_FOOTNOTE = re.compile(r"\[\^[^\]\s]+\]:")
_TAG_OR_COMMENT = re.compile(r"<!--.*?-->|<[^>]*>", re.S)
_CAPTION = re.compile(r"[:：]\s*$")
# Nested quotes or lists on one line; deeper input is an attack on the parser and is read as plain paragraphs.
_DEEPEST = 40
_MARKERS = re.compile(r"(?:[-*+][ \t]+){40}")


class _BlockParser(Parser):
    """marko's parser without its inline pass: positions of blocks and of table rows are all we use."""

    def parse_inline(self, element: Any, source: Source) -> None:
        return None


_MARKDOWN = Markdown(parser=_BlockParser, extensions=[GFM])


def read(text: str) -> tuple[tuple[Block, ...], str, Mapping[str, Any]]:
    """Blocks in text order, the title (first heading of level 1), and the front matter."""
    front, body_start = _front_matter(text)
    # Blanked out, so that marko sees neither a rule nor a heading there and every offset stays.
    blanked = re.sub(r"[^\n]", " ", text[:body_start]) + text[body_start:]
    walk = _Walk(text)
    if body_start:
        walk.blocks.append(Block("metadata", _trim(text, 0, body_start)))
    if _too_deep(blanked):
        walk.blocks += [b for b in plain.read(text) if b.span.start >= body_start]
    else:
        try:
            walk.children(_MARKDOWN.parse(blanked).children, 0)
        except RecursionError:
            walk.blocks = [b for b in plain.read(text) if b.span.start >= body_start]
    title = next((walk.titles[b.span.start] for b in walk.blocks if b.kind == "heading" and b.level == 1), "")
    return tuple(walk.blocks), title, front


def bare(text: str) -> object:
    """What the library does on its own, the measure of our overhead."""
    return _MARKDOWN.parse(text)


def front_matter(text: str) -> Mapping[str, Any]:
    """The front matter alone, without parsing what follows."""
    return _front_matter(text)[0]


def _front_matter(text: str) -> tuple[Mapping[str, Any], int]:
    found = _FRONT_MATTER.match(text)
    if found is None:
        begun = _OPEN_FRONT_MATTER.match(text)
        if begun and _ACCESS_KEY.search(begun.group(1)):
            raise SourceUnreadable(
                "its front matter has no closing `---`, so the `access` in it cannot be read"
            )
        return {}, 0
    try:
        data = yaml.safe_load(found.group(1))
    except (yaml.YAMLError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        # Other people's front matter need not be ours to read; PyYAML lets impossible dates and numbers
        # through as whatever its constructors raise.
        if _ACCESS_KEY.search(found.group(1)):
            raise SourceUnreadable(
                "its front matter is no valid YAML, so the `access` in it cannot be read; a value with a colon "
                "needs quotes"
            ) from None
        return {}, found.end()
    return (data if isinstance(data, dict) else {}), found.end()


def _too_deep(text: str) -> bool:
    return any(line[: 8 * _DEEPEST].count(">") > _DEEPEST for line in text.split("\n")) or bool(
        _MARKERS.search(text)
    )


def _trim(text: str, start: int, end: int) -> Span:
    """The span without white space around it."""
    piece = text[start:end]
    lead = len(piece) - len(piece.lstrip())
    return Span(start + lead, start + max(lead, len(piece.rstrip())))


class _Walk:
    """Collects blocks while going through marko's tree, with the headings above each."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks: list[Block] = []
        self.titles: dict[int, str] = {}
        self._path: list[tuple[int, str]] = []

    def children(self, elements: Any, depth: int) -> None:
        left = list(elements)
        while left:
            element = left.pop(0)
            name = self._note_name(element)
            if name is None:
                self._element(element, depth)
                continue
            last = element
            while left and isinstance(left[0], marko.block.CodeBlock | marko.block.BlankLine):
                following = left.pop(0)
                last = following if isinstance(following, marko.block.CodeBlock) else last
            self._add("admonition", (element.source_span[0], last.source_span[1]), language=name)

    def _note_name(self, element: Any) -> str | None:
        if not isinstance(element, marko.block.Paragraph):
            return None
        start, end = element.source_span or (0, 0)
        found = _INDENTED_NOTE.match(self.text[start:end].lstrip())
        return found[1].lower() if found else None

    def _element(self, element: Any, depth: int) -> None:
        span = element.source_span
        if isinstance(element, marko.block.Heading | marko.block.SetextHeading):
            self._heading(element)
        elif isinstance(element, Table):
            self._table(element)
        elif isinstance(element, marko.block.List):
            for item in element.children:
                self._list_item(item, depth + 1)
        elif isinstance(element, marko.block.FencedCode | marko.block.CodeBlock):
            self._add("code", span, language=str(getattr(element, "lang", "") or "") or None)
        elif isinstance(element, marko.block.Quote):
            self._quote(span)
        elif isinstance(element, marko.block.HTMLBlock):
            if any(map(str.isalnum, _TAG_OR_COMMENT.sub("", self.text[span[0] : span[1]]))):
                self._add("paragraph", span)
        elif isinstance(element, marko.block.Paragraph):
            self._paragraph(span, depth)

    def _add(self, kind: BlockKind, span: tuple[int, int], **more: Any) -> None:
        trimmed = _trim(self.text, *span)
        if trimmed.start < trimmed.end:
            self.blocks.append(Block(kind, trimmed, tuple(title for _, title in self._path), **more))

    def _heading(self, element: Any) -> None:
        source = self.text[element.source_span[0] : element.source_span[1]].rstrip("\n")
        pattern = _HEADING if isinstance(element, marko.block.Heading) else _SETEXT
        found = pattern.fullmatch(source)
        title = " ".join((found.group(1) if found else source).split())
        while self._path and self._path[-1][0] >= element.level:
            self._path.pop()
        self._add("heading", element.source_span, level=element.level)
        if self.blocks:
            self.titles[self.blocks[-1].span.start] = title
        if title:
            self._path.append((element.level, title))

    def _table(self, element: Any) -> None:
        rows = [_trim(self.text, *row.source_span) for row in element.children]
        before = self.blocks[-1] if self.blocks else None
        introduced = (
            before is not None
            and before.kind in ("paragraph", "list_item")
            and _CAPTION.search(before.span.of(self.text)) is not None
        )
        caption = before.span if before is not None and introduced else None
        self._add("table", element.source_span, head=rows[0], parts=tuple(rows[1:]), caption=caption)

    def _list_item(self, item: Any, depth: int) -> None:
        """The item's first paragraph with its marker is the item; whatever else it holds keeps its own kind."""
        start = item.source_span[0]
        rest = list(item.children)
        if rest and isinstance(rest[0], marko.block.Paragraph):
            first = rest.pop(0)
            self._add("list_item", (start, first.source_span[1]), level=depth)
        self.children(rest, depth)

    def _quote(self, span: tuple[int, int]) -> None:
        note = _NOTE.match(self.text, *span)
        if note is None:
            self._add("quote", span)
        else:
            self._add("admonition", span, language=(note["gfm"] or note["bold"]).lower())

    def _paragraph(self, span: tuple[int, int], depth: int) -> None:
        source = self.text[span[0] : span[1]].lstrip()
        container = _CONTAINER.match(source)
        if container:
            self._add("admonition", span, language=container[1].lower())
        elif _FOOTNOTE.match(source):
            self._add("footnote", span)
        elif depth:
            self._add("list_item", span, level=depth)
        else:
            self._add("paragraph", span)
