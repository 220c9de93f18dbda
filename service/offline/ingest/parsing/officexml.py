"""The XML parts of Office files: without document types, so without entities; namespaces as short, fixed prefixes.

Nothing is fetched: expat reads no external part, and a file that declares any is refused.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree
from xml.parsers import expat

from service.errors import SourceUnreadable
from service.offline.ingest.parsing.zipped import Archive

Element = ElementTree.Element
# What programs write where nobody gave a title.
_NO_TITLE = re.compile(
    r"(?:microsoft )?(?:word|excel)[ -].*|word (?:document|文档)|document\d*|(?:book|工作簿|文档)\s*\d*"
    r"|新建.*(?:文档|工作表)|untitled.*|无标题.*|title|标题"
    r"|.*\.(?:docx?|docm|dotx?|xlsx?|xlsm|rtf|wps|pdf|txt)|[\W\d_]*",
    re.I | re.S,
)
_LONGEST_TITLE = 300
_DEEPEST = 250  # nested elements; Word itself stops at a tenth of it
# The ISO "strict" form of a format has other names for the same things.
_PREFIXES = {
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main": "w",
    "http://purl.oclc.org/ooxml/wordprocessingml/main": "w",
    "http://schemas.openxmlformats.org/spreadsheetml/2006/main": "s",
    "http://purl.oclc.org/ooxml/spreadsheetml/main": "s",
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships": "r",
    "http://purl.oclc.org/ooxml/officeDocument/relationships": "r",
    "http://schemas.openxmlformats.org/package/2006/relationships": "rel",
    "http://schemas.openxmlformats.org/officeDocument/2006/math": "m",
    "http://purl.oclc.org/ooxml/officeDocument/math": "m",
    "http://schemas.openxmlformats.org/markup-compatibility/2006": "mc",
    "http://purl.org/dc/elements/1.1/": "dc",
    "urn:oasis:names:tc:opendocument:xmlns:office:1.0": "office",
    "urn:oasis:names:tc:opendocument:xmlns:table:1.0": "table",
    "urn:oasis:names:tc:opendocument:xmlns:text:1.0": "text",
    "urn:oasis:names:tc:opendocument:xmlns:style:1.0": "style",
}
_Start = Callable[[str, Mapping[str, str]], object]


def scan(xml: bytes, start: _Start, end: Callable[[str], object], data: Callable[[str], object]) -> None:
    """Reads a part once, from start to end. Names are `prefix:local`; in unknown namespaces `?:local`."""
    short: dict[str, str] = {}
    depth = 0

    def name(long: str) -> str:
        uri, apart, local = long.rpartition("}")
        found = short[long] = f"{_PREFIXES.get(uri, '?')}:{local}" if apart else local
        return found

    def opens(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise SourceUnreadable("its XML is nested too deeply")
        start(short.get(tag) or name(tag), {short.get(key) or name(key): v for key, v in attributes.items()})

    def closes(tag: str) -> None:
        nonlocal depth
        depth -= 1
        end(short[tag])

    def declares(*_: Any) -> None:
        raise SourceUnreadable("its XML declares a document type or entities, as no Office program writes")

    parser = expat.ParserCreate(namespace_separator="}")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = opens, closes
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = data, declares
    try:
        parser.Parse(xml, True)
    except (expat.ExpatError, ValueError, LookupError):
        raise SourceUnreadable("it is damaged: one of its parts is no valid XML") from None


def tree(xml: bytes) -> Element | None:
    """A part's root; None where there is no such part."""
    if not xml:
        return None
    builder = ElementTree.TreeBuilder()
    scan(xml, lambda tag, attributes: builder.start(tag, dict(attributes)), builder.end, builder.data)
    return builder.close()


def within(element: Element | None, *names: str) -> Element | None:
    """The first child of that name, its first child of the next name, and so on."""
    for name in names:
        element = element.find(name) if element is not None else None
    return element


def children(element: Element | None, name: str) -> list[Element]:
    return element.findall(name) if element is not None else []


def relations(archive: Archive, part: str) -> dict[str, tuple[str, str]]:
    """Of a part ("" is the package): id → (kind, name of the part it leads to). Links to the outside are left out."""
    folder = posixpath.dirname(part)
    found = {}
    for one in _listed(archive, part):
        target = one.get("Target", "")
        if one.get("TargetMode") == "External" or not target:
            continue
        place = posixpath.normpath(posixpath.join("/", folder, unquote(target)))
        found[one.get("Id", "")] = (one.get("Type", "").rpartition("/")[2], place.lstrip("/"))
    return found


def outside(archive: Archive, part: str) -> dict[str, str]:
    """Of a part: id → where a link to the outside leads, as written."""
    listed = _listed(archive, part)
    return {one.get("Id", ""): one.get("Target", "") for one in listed if one.get("TargetMode") == "External"}


def _listed(archive: Archive, part: str) -> list[Element]:
    folder, name = posixpath.split(part)
    root = tree(archive.read(posixpath.join(folder, "_rels", f"{name}.rels")))
    return list(root) if root is not None else []


def related(archive: Archive, part: str, kind: str) -> str:
    """The name of the first part of a kind ("styles", "officeDocument" …) that a part leads to; "" where none is."""
    return next((name for found, name in relations(archive, part).values() if found == kind), "")


def core_title(archive: Archive) -> str:
    """The title in the document's properties; "" where there is none, or only what a program put there."""
    core = tree(archive.read(related(archive, "", "core-properties") or "docProps/core.xml"))
    said = " ".join((core.findtext("dc:title") or "").split()) if core is not None else ""
    return "" if len(said) > _LONGEST_TITLE or _NO_TITLE.fullmatch(said) else said
