"""Documents, their blocks, and the chunks cut from them. Offsets are code points, half-open, into the
archived canonical text of one document version."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from service.domain.rights import Access

BlockKind = Literal[
    "heading", "paragraph", "list_item", "table", "code", "admonition", "footnote", "quote", "metadata"
]


@dataclass(frozen=True, slots=True)
class Span:
    """Code points [start, end) of a canonical text."""

    start: int
    end: int

    def of(self, text: str) -> str:
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Hyperlink:
    """Words that link somewhere, in a format whose text does not show where; `href` is as written."""

    span: Span
    href: str


@dataclass(frozen=True, slots=True)
class Block:
    """One structural piece of a document.

    `heading_path` holds the titles above the block, outermost first, without the block's own.
    `parts` are the rows of a table (head excluded); `head` is a table's head row(s);
    `caption` is text shown with a table (its title or unit line).
    `level` is a heading's level, a list item's depth, else 0. `language` is that of a code block or the kind
    of an admonition. `ids` are names that the file gives to this place, for links to it.
    """

    kind: BlockKind
    span: Span
    heading_path: tuple[str, ...] = ()
    level: int = 0
    parts: tuple[Span, ...] = ()
    head: Span | None = None
    caption: Span | None = None
    language: str | None = None
    page: int | None = None
    links: tuple[Hyperlink, ...] = ()
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ArchivedDocument:
    """One document version as it is kept for good. Written once, never changed.

    `document_version` is the sha256 of the raw bytes; a parser whose canonical form changed appends its
    revision, so that one version always names exactly one canonical text.
    """

    document_id: str
    document_version: str
    raw_sha256: str
    canonical_text: str
    canonical_sha256: str
    media_type: str
    parser_version: str
    title: str
    locale: str
    canonical_url: str
    blocks: tuple[Block, ...]
    archived_at: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document was read: the folder that was given as a source, and the path below it."""

    folder: str
    path: str


@dataclass(frozen=True, slots=True)
class Standing:
    """What the registry says of a document at one moment."""

    version: str
    access: Access
    deleted: bool


@dataclass(frozen=True, slots=True)
class RegistryChange:
    """One line of a document's audit: who changed what, when, and how it stood before and after.

    `sequence` counts a document's changes from 1; `before` is None for its registration.
    """

    corpus: str
    document_id: str
    sequence: int
    action: str
    who: str
    at: str
    before: Standing | None
    after: Standing


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """What is true of a document now: its current version, its rights, whether it was deleted.

    An entry carries its latest change itself (`action`, `before`, who and when), so that a change and its audit
    are one write. `ruled` is what its source's access rule said last: as long as that stays the same, reading
    the source again does not undo what an operator has changed. `spread_pending` says that chunks may still carry
    older rights. `place` is where it was read last, None where that was no folder. `token` is the store's
    compare-and-set mark: opaque, None for an entry not yet written.
    """

    corpus: str
    document_id: str
    current_version: str
    access: Access
    deleted: bool
    sequence: int
    updated_at: str
    updated_by: str
    action: str = "register"
    before: Standing | None = None
    ruled: Access | None = None
    spread_pending: bool = False
    place: Place | None = None
    token: str | None = None

    @property
    def standing(self) -> Standing:
        return Standing(self.current_version, self.access, self.deleted)

    @property
    def change(self) -> RegistryChange:
        """The latest change."""
        return RegistryChange(
            corpus=self.corpus,
            document_id=self.document_id,
            sequence=self.sequence,
            action=self.action,
            who=self.updated_by,
            at=self.updated_at,
            before=self.before,
            after=self.standing,
        )


LinkState = Literal["resolved", "stale", "broken", "outside"]


@dataclass(frozen=True, slots=True)
class Link:
    """Where a chunk points, as it was when its generation was built.

    `resolved`: the document is in the build, and the anchor in it. `stale`: the document is, the anchor is not.
    `broken`: there is no such document, or no such note or table. `outside`: not meant for this corpus.
    `target` is a documentId, or the link as written where there is no document; `version` that of the document.
    A state speaks of documents whoever reads the chunk may have no right to: ask the registry before showing it.
    """

    target: str
    version: str | None
    anchor: str
    state: LinkState


@dataclass(frozen=True, slots=True)
class Chunk:
    """A span of one document version, as the chunker cut it.

    `search_prefix` is what goes into the search text before the span's own text (a table's caption and head);
    it is never part of the span. `section` names the parent: chunks of one section share it.
    `cluster` is shared by near-duplicates that agree in every number, unit and negation; empty where there is none.
    """

    chunk_id: str
    document_id: str
    document_version: str
    ordinal: int
    kind: BlockKind
    heading_path: tuple[str, ...]
    span: Span
    text: str
    text_sha256: str
    search_prefix: str = ""
    section: str = ""
    page: int | None = None
    previous_id: str | None = None
    next_id: str | None = None
    links: tuple[Link, ...] = ()
    cluster: str = ""


@dataclass(frozen=True, slots=True)
class IndexedChunk:
    """A chunk with everything the searchable side needs beside it.

    `body_terms` and `heading_terms` are analysed tokens in order; `anchors` are canonical anchors;
    `vector` has the embedder's dimension and unit length, or is None when the text carries no meaning to embed.
    `tokens` are the packed vectors of its tokens, or None where the corpus keeps none.
    """

    chunk: Chunk
    corpus: str
    corpus_version: str
    generation: str
    title: str
    locale: str
    canonical_url: str
    chunker_version: str
    analyzer_version: str
    access: Access
    body_terms: tuple[str, ...]
    heading_terms: tuple[str, ...]
    anchors: tuple[str, ...]
    vector: tuple[float, ...] | None
    tokens: bytes | None = None
