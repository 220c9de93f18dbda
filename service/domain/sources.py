"""What a source gives before it is parsed, and what a parser makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from service.domain.documents import Block


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One document as it was found. `access_rule` is the nearest rule outside the document, `access_where` its
    place for error messages. `text` is set where the source already holds canonical text (JSONL)."""

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
    says of itself (id, title, access …); `encoding` what its bytes were read in, where the format is text."""

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
