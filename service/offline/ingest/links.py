"""Where chunks point: links, anchors, footnotes and tables, looked up among the documents of one build.

A link is resolved by what its target is called: the path below the source (with or without its ending), the id
the document gave itself, or the address it is published under. It is read off the canonical text, or off the blocks
where the format's text does not show where its links lead.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from service.domain.documents import ArchivedDocument, Chunk, Hyperlink, Link, LinkState
from service.text.folding import fold

VERSION = "links-3"

_MARKDOWN = "text/markdown"
_HTML = "text/html"
_INLINE_CODE = re.compile(r"(`+)(?!`)[^\n]*?(?<!`)\1(?!`)")
_INLINE = re.compile(r"\]\(\s*(?:<([^<>\n]*)>|([^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*))")
_HREF = re.compile(r"<a\s[^>]*?\bhref\s*=\s*[\"']([^\"'\n]*)[\"']", re.I)
_DEFINITION = re.compile(r"^[ >]{0,6}\[(?!\^)([^\[\]\n]+)\]:[ \t]*<?([^\s<>]+)>?", re.M)
_REFERENCE = re.compile(r"(?<![!\]\\])\[(?!\^)([^\[\]\n]+)\](?:\[([^\[\]\n]*)\])?(?![(:])")
_NOTE = re.compile(r"\[\^([^\]\s]+)\](?!:)")
_NOTE_DEFINITION = re.compile(r"^[ >]{0,6}\[\^([^\]\s]+)\]:", re.M)
_ADDRESS = re.compile(r"https?://[^\s<>\"'`|\\，。；、）】」》]+", re.I)
_TABLE = re.compile(
    r"(?:[见如参考照据在]|列于)\s*表\s*(\d+(?:[-.–]\d+)*)|\b(?:see|in|from|to)\s+table\s+(\d+(?:[-.–]\d+)*)"
)
_TABLE_TITLE = re.compile(r"(?:[\s*_【\[(（]|<[^>]*>)*(?:续?表|table)\s*(\d+(?:[-.–]\d+)*)", re.I)
_SCHEME = re.compile(r"[a-z][a-z0-9+.\-]*:", re.I)
_OWN_ANCHOR = re.compile(r"\{#([^}\s]+)\}|<[a-z][^>]*?\b(?:id|name)\s*=\s*[\"']([^\"'\n]+)[\"']", re.I)
_HEADING_ID = re.compile(r"\s*\{#[^}\n]*\}\s*$")
_ENDING = re.compile(r"\.(?:md|mdx|markdown|html?|xhtml|txt|text|pdf|docx|xlsx|pptx|rst|csv|tsv)$", re.I)
_INDEX = re.compile(r"(?:^|/)(?:index|readme|_index)$", re.I)


@dataclass(frozen=True, slots=True)
class _Target:
    document_id: str
    version: str
    anchors: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Known:
    """What the chunks of one document share."""

    names: dict[str, _Target]
    definitions: dict[str, str]
    tables: frozenset[str]
    hyperlinks: Sequence[Hyperlink]  # in text order


def linked(documents: Sequence[tuple[ArchivedDocument, Sequence[Chunk]]]) -> list[list[Chunk]]:
    """The documents' chunks with their links, in the same order."""
    names = _names(document for document, _ in documents)
    done = []
    for document, chunks in documents:
        hyperlinks = sorted((link for b in document.blocks for link in b.links), key=_start)
        known = _Known(names, _definitions(document), _tables(document), hyperlinks)
        done.append([replace(c, links=tuple(_links(document, c, known))) for c in chunks])
    return done


def tally(chunks: Sequence[Sequence[Chunk]]) -> dict[str, float]:
    """How many links of each state, named as in a manifest."""
    states = [link.state for own in chunks for chunk in own for link in chunk.links]
    return {
        f"links{state.capitalize()}": float(states.count(state))
        for state in ("resolved", "stale", "broken", "outside")
    }


def _links(document: ArchivedDocument, chunk: Chunk, known: _Known) -> Iterator[Link]:
    seen: set[Link] = set()
    for link in _found(document, chunk, known):
        if link not in seen:
            seen.add(link)
            yield link


def _found(document: ArchivedDocument, chunk: Chunk, known: _Known) -> Iterator[Link]:
    first = bisect_left(known.hyperlinks, chunk.span.start, key=_start)
    hyperlinks = known.hyperlinks[first : bisect_left(known.hyperlinks, chunk.span.end, key=_start)]
    if chunk.kind == "code":
        # What looks like a link in code is an example; what the file itself links is one.
        for hyperlink in hyperlinks:
            yield _resolve(hyperlink.href, document, known.names)
        return
    text = _INLINE_CODE.sub(lambda code: " " * len(code.group()), chunk.text)
    own = document.document_id, document.document_version
    carriers = [(h.span.start - chunk.span.start, h.span.end - chunk.span.start) for h in hyperlinks]
    if document.media_type == _MARKDOWN:
        for href in _markdown(text, known.definitions):
            yield _resolve(href, document, known.names)
        for note in _NOTE.finditer(text):
            name = f"[^{note[1].lower()}]"
            yield Link(*own, anchor=name, state="resolved" if name in known.definitions else "broken")
        carriers += [(_opening(text, found.start()), found.start()) for found in _INLINE.finditer(text)]
    for hyperlink in hyperlinks:
        yield _resolve(hyperlink.href, document, known.names)
    # Addresses within links are found again; the same link is told once.
    for address in _ADDRESS.finditer(text):
        yield _resolve(address.group().rstrip(".,;:!?)]*_"), document, known.names)
    for mention in _TABLE.finditer(fold(text)):
        if any(start < mention.end() and mention.start() < end for start, end in carriers):
            continue  # where it leads is told by the link
        number = mention[1] or mention[2]
        state: LinkState = "resolved" if number in known.tables else "broken"
        yield Link(*own, anchor=f"table {number}", state=state)


def _start(link: Hyperlink) -> int:
    return link.span.start


def _markdown(text: str, definitions: dict[str, str]) -> Iterator[str]:
    """What the links of a Markdown passage point at, as written. Images are no links."""
    for found in _INLINE.finditer(text):
        href = found[1] if found[1] is not None else found[2]
        if href and not _is_image(text, found.start()):
            yield href
    for found in _HREF.finditer(text):
        if found[1].strip():
            yield found[1].strip()
    for found in _REFERENCE.finditer(text):
        href = definitions.get(_label(found[2] or found[1]))
        if href is not None:
            yield href


def _is_image(text: str, closing: int) -> bool:
    at = _opening(text, closing)
    return text[max(0, at - 1) : at] == "!"


def _opening(text: str, closing: int) -> int:
    """Where the bracket opens that closes there; there itself when none does."""
    depth = 0
    for at in range(closing, -1, -1):
        depth += (text[at] == "]") - (text[at] == "[")
        if depth == 0:
            return at
    return closing


def _resolve(href: str, document: ArchivedDocument, names: dict[str, _Target]) -> Link:
    path, _, fragment = href.partition("#")
    fragment = unquote(fragment).strip()
    path = path.partition("?")[0]
    if not path:
        return _at(names[document.document_id], fragment)
    if path.startswith("//") or _SCHEME.match(path):
        known = names.get(_address(path))
        return _at(known, fragment) if known else Link(href, None, fragment, "outside")
    path = unquote(path)
    # A path from the root is one from the source's root.
    beside = posixpath.dirname(document.document_id)
    tried = [path.lstrip("/")] if path.startswith("/") else [posixpath.join(beside, path), path]
    for name in map(posixpath.normpath, tried):
        for spelled in (name, _stem(name), _own_id(name)):
            if spelled in names:
                return _at(names[spelled], fragment)
    ending = posixpath.splitext(path)[1]
    document_like = not ending or _ENDING.search(path) is not None
    return Link(href, None, fragment, "broken" if document_like else "outside")


def _at(target: _Target, fragment: str) -> Link:
    there = not fragment or fragment.lower() in target.anchors
    return Link(target.document_id, target.version, fragment, "resolved" if there else "stale")


def _names(documents: Iterator[ArchivedDocument]) -> dict[str, _Target]:
    """Every name of every document. A full name beats a short one; a short one shared by two names neither."""
    full: dict[str, _Target] = {}
    short: dict[str, set[str]] = {}
    for document in documents:
        target = _Target(document.document_id, document.document_version, _anchors(document))
        full[document.document_id] = target
        if document.canonical_url:
            full.setdefault(_address(document.canonical_url), target)
        stem = _stem(document.document_id)
        if stem == document.document_id and "/" not in stem:
            full[_own_id(stem)] = target
        for name in {stem, _INDEX.sub("", stem)} - {""}:
            short.setdefault(name, set()).add(document.document_id)
    for name, owners in short.items():
        if len(owners) == 1:
            full.setdefault(name, full[next(iter(owners))])
    return full


def _stem(name: str) -> str:
    return _ENDING.sub("", name)


def _own_id(path: str) -> str:
    """Under which a document that gave itself an id is found by the name of its file."""
    return "\x00" + _stem(posixpath.basename(path))


def _address(url: str) -> str:
    """An address without scheme, fragment and the last slash; its host in lower case."""
    rest = re.sub(r"^(?:https?:)?//", "", url.partition("#")[0].partition("?")[0], flags=re.I)
    host, slash, path = rest.partition("/")
    return "//" + (host.lower() + slash + path).rstrip("/")


def _anchors(document: ArchivedDocument) -> frozenset[str]:
    """Anchors as GitHub and most site generators make them of headings, and those the document gives itself."""
    found = {given.lower() for block in document.blocks for given in block.ids}
    found |= {f"page={block.page}" for block in document.blocks if block.page}  # RFC 8118
    if document.media_type == _HTML:
        found.add("top")  # of every page
    counts: dict[str, int] = {}
    text = document.canonical_text
    for block in document.blocks:
        if block.kind == "heading":
            slug = _slug(block.span.of(text))
            repeated = counts.get(slug, 0)
            counts[slug] = repeated + 1
            found.add(f"{slug}-{repeated}" if repeated else slug)
    for own in _OWN_ANCHOR.finditer(text):
        found.add((own[1] or own[2]).lower())
    return frozenset(found)


def _slug(heading: str) -> str:
    title = _HEADING_ID.sub("", heading).strip().strip("#=").strip()
    title = re.sub(r"\n\s*[=\-]+\s*$", "", title)
    title = re.sub(r"!?\[([^\[\]]*)\]\([^()]*\)|(?<!\\)<[^>]*>", lambda m: m[1] or "", title)
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", title.lower()))


def _definitions(document: ArchivedDocument) -> dict[str, str]:
    """Link labels and what they stand for, and the labels of footnotes."""
    if document.media_type != _MARKDOWN:
        return {}
    text = document.canonical_text
    notes = {f"[^{note[1].lower()}]": "" for note in _NOTE_DEFINITION.finditer(text)}
    found: dict[str, str] = {}
    for one in _DEFINITION.finditer(text):
        found.setdefault(_label(one[1]), one[2])
    return found | notes


def _label(written: str) -> str:
    return " ".join(written.lower().split())


def _tables(document: ArchivedDocument) -> frozenset[str]:
    """Numbers of the tables that have a title with one."""
    text = document.canonical_text
    titles = (
        block.span.of(text) for block in document.blocks if block.kind not in ("heading", "code", "table")
    )
    return frozenset(found[1] for title in titles if (found := _TABLE_TITLE.match(fold(title[:200]))))
