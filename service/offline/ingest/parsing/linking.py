"""Text in pieces, some of which are links, to one line of text and where the links stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import urljoin, urlsplit

from service.domain.documents import Hyperlink, Span

Piece = tuple[str, str]  # a text and what it links to; "" where it links to nothing
_LONGEST = 2_048  # characters; what is longer holds data, or is made to be
_NO_PLACES = ("javascript:", "data:", "vbscript:")


def one_line(pieces: Iterable[Piece]) -> tuple[str, tuple[Hyperlink, ...]]:
    """The text with one space for each run of white space, and its links. A link without words is none."""
    parts: list[str] = []
    links: list[Hyperlink] = []
    length, parted, before = 0, False, ""
    for text, href in pieces:
        words = text.split()
        if not words:
            parted = parted or bool(text)
            continue
        if (parted or text[0].isspace()) and parts:
            parts.append(" ")
            length += 1
        line = " ".join(words)
        if href:
            # Words of one link that are set apart (bold, code) are one link.
            start = links.pop().span.start if href == before else length
            links.append(Hyperlink(Span(start, length + len(line)), href))
        parts.append(line)
        length, parted, before = length + len(line), text[-1].isspace(), href
    return "".join(parts), tuple(links)


def lines_of(pieces: Iterable[Piece]) -> tuple[str, tuple[Hyperlink, ...]]:
    """The text as it stands, without empty lines at its ends, and its links."""
    read = list(pieces)
    text = "".join(part for part, _ in read)
    lead, length = len(text) - len(text.lstrip("\n")), len(text.strip("\n"))
    links, at = [], -lead
    for part, href in read:
        span = Span(max(0, at), min(length, at + len(part)))
        if href and span.start < span.end:
            links.append(Hyperlink(span, href))
        at += len(part)
    return text.strip("\n"), with_words(text.strip("\n"), links)


def on_base(base: str, href: str) -> str:
    """A link of a page that says what its links start from. One into the page itself stays there: that is what is
    meant, whatever a browser makes of it."""
    if href.startswith("#"):
        return href
    try:
        if urlsplit(base).netloc:
            return urljoin(base, href)
        absolute = href.startswith("/") or urlsplit(href).scheme
    except ValueError:  # no address at all
        return href
    # A path beside the page: urljoin would take `..` for the root.
    return href if absolute else base[: base.rfind("/") + 1] + href


def moved(links: Iterable[Hyperlink], by: int) -> tuple[Hyperlink, ...]:
    """The same links of a text that stands further on."""
    return tuple(Hyperlink(Span(link.span.start + by, link.span.end + by), link.href) for link in links)


def href_of(written: object) -> str:
    """What a link leads to, as written; "" where that is no place."""
    href = written.strip() if isinstance(written, str) else ""
    return "" if len(href) > _LONGEST or href.lower().startswith(_NO_PLACES) else href


def pieces_of(text: str, links: Iterable[Hyperlink]) -> Iterator[Piece]:
    """A text and the links in it as pieces again."""
    at = 0
    for link in links:
        yield text[at : link.span.start], ""
        yield link.span.of(text), link.href
        at = link.span.end
    yield text[at:], ""


def with_words(text: str, links: Iterable[Hyperlink]) -> tuple[Hyperlink, ...]:
    """The links without the white space at their ends; one without words is none."""
    found = []
    for link in links:
        words = link.span.of(text)
        start = link.span.start + len(words) - len(words.lstrip())
        if words.strip():
            found.append(Hyperlink(Span(start, start + len(words.strip())), link.href))
    return tuple(found)
