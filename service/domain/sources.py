"""What a source gives before it is parsed, and what a parser makes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from service.domain.documents import Block, Place


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One document as it was found. `access_rule` is the nearest rule outside the document, `access_where` its
    place for error messages. `text` is set where the source already holds canonical text (JSONL), `place` where
    the document is a file below a folder."""

    document_id: str
    raw: bytes
    media_type: str
    origin: str
    title: str = ""
    locale: str = ""
    canonical_url: str = ""
    text: str | None = None
    access_rule: Mapping[str, Any] | None = None
    access_where: str = ""
    place: Place | None = None


@dataclass(frozen=True, slots=True)
class SourceFault:
    """Something that was found and not read, with a sentence that says why."""

    origin: str
    reason: str


@dataclass(frozen=True, slots=True)
class Front:
    """What an item tells before its body is read: who it is, and what it says of itself."""

    document_id: str
    version: str
    front_matter: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """Canonical text and its blocks. `version` and `raw_sha256` are hex; `front_matter` is what the document
    says of itself (id, title, access …); `encoding` what its bytes were read in, where the format is text;
    `warnings` are sentences about what of it could not be read."""

    document_id: str
    version: str
    raw_sha256: str
    canonical_text: str
    blocks: tuple[Block, ...]
    title: str
    locale: str
    parser_version: str
    front_matter: Mapping[str, Any] = field(default_factory=dict)
    encoding: str = ""
    confidence: float = 1.0
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Selection:
    """What of a folder is looked at, and what it is called. `include` and `exclude` are globs over the path below the
    folder, as in access.toml; exclude wins. `stand_ins` names, for a folder that holds the files of a `commit`, the
    folder that they are of."""

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    url_template: str = ""
    commit: str = ""
    stand_ins: Mapping[Path, Path] = field(default_factory=dict)

    def url_of(self, path: str) -> str:
        named = quote(path, safe="/", errors="surrogateescape")
        return self.url_template.replace("{path}", named).replace("{commit}", self.commit)


@dataclass(slots=True)
class Survey:
    """What a walk met beside documents: by folder the paths of all files in view, and of folders that could not be
    listed; how many files of other kinds there were, and how many hidden files and folders."""

    present: dict[str, set[str]] = field(default_factory=dict)
    closed: dict[str, set[str]] = field(default_factory=dict)
    other_kinds: Counter[str] = field(default_factory=Counter)
    hidden: int = 0

    def is_gone(self, place: Place) -> bool:
        """Whether that place was looked for and nothing is there."""
        if place.folder not in self.present or place.path in self.present[place.folder]:
            return False
        closed = self.closed.get(place.folder, set())
        return "." not in closed and not any(place.path.startswith(f"{folder}/") for folder in closed)
