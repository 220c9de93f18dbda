"""Generations, their names, and the manifest that says what went into one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

from service.errors import InvalidInput

LIVE = "live"

# Corpus names become part of index and alias names, so they obey the strictest rule of the engines.
_CORPUS = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?")
_GENERATION = re.compile(
    r"(?P<prefix>.+)-chunks-(?P<corpus>.+)-(?P<version>cv[0-9a-f]{12})-g(?P<number>\d{4,})"
)

State = Literal["building", "validating", "ready", "live", "retained", "pruned", "failed"]
TRANSITIONS: dict[State, frozenset[State]] = {
    "building": frozenset(("validating", "failed")),
    "validating": frozenset(("ready", "failed")),
    "ready": frozenset(("live", "failed", "pruned")),
    "live": frozenset(("retained",)),
    "retained": frozenset(("live", "pruned")),
    "failed": frozenset(("pruned",)),
    "pruned": frozenset(),
}


def check_corpus_name(name: str) -> str:
    """The name itself when it may be used. Raises InvalidInput."""
    if not _CORPUS.fullmatch(name):
        raise InvalidInput(
            "A corpus name has 1 to 40 lower-case letters, digits and hyphens, and neither begins nor ends "
            f"with a hyphen; got {name[:60]!r}."
        )
    return name


@dataclass(frozen=True, slots=True)
class Generation:
    """One physical index, built for one corpusVersion of one corpus."""

    prefix: str
    corpus: str
    corpus_version: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.prefix}-chunks-{self.corpus}-{self.corpus_version}-g{self.number:04d}"

    @classmethod
    def parse(cls, name: str) -> Generation | None:
        found = _GENERATION.fullmatch(name)
        if found is None:
            return None
        return cls(found["prefix"], found["corpus"], found["version"], int(found["number"]))


def live_alias(prefix: str, corpus: str) -> str:
    return f"{prefix}-{corpus}@{LIVE}"


def version_alias(prefix: str, corpus: str, corpus_version: str) -> str:
    return f"{prefix}-{corpus}@{corpus_version}"


@dataclass(frozen=True, slots=True)
class Processors:
    """Everything that turns a document into chunks; any change makes another corpusVersion. `tokens` is how token
    vectors are made, empty where the corpus keeps none."""

    parsers: dict[str, str]
    chunker: str
    analyzer: str
    embedder: str
    mapping: str
    tokens: str = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """What went into a generation, how, and where it stands. `documents` maps documentId to documentVersion.

    `corpus_profile` is the corpus's own settings (title, out-of-scope rules …) as data, so that a request
    replayed on this generation meets the rules that were in force for it. `replaced` is what was live before its first
    publish. `history` has each transition: state, when, who, why; `gates` what the last look before a publish found.
    """

    generation: str
    corpus: str
    corpus_version: str
    state: State
    processors: Processors
    documents: dict[str, str]
    chunks: int
    chunks_per_document: dict[str, int]
    dimension: int
    vector_index: str
    corpus_profile: dict[str, Any]
    created_at: str
    updated_at: str
    updated_by: str
    reason: str = ""
    replaced: str | None = None
    timings: dict[str, float] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    gates: list[dict[str, Any]] = field(default_factory=list)
    history: list[dict[str, Any]] = field(default_factory=list)
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Pin:
    """The one generation a request speaks of, from its first query to its last citation."""

    generation: Generation
    manifest: Manifest
