"""Corpus profiles: what a corpus says of itself, in `corpus.toml` at the root of its folder or beside its file."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from service.access.policy import normalise_name
from service.domain.generations import check_corpus_name
from service.domain.ports import IndexSettings
from service.errors import InvalidInput
from service.profiles.gates import GateSettings, with_cases
from service.profiles.ranking import profile_names
from service.settings import VectorIndex

FILE = "corpus.toml"


class OutOfScopeRule(BaseModel):
    """Questions this corpus does not answer whatever its documents say. The pattern meets folded text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str = Field(min_length=1)
    pattern: str = Field(min_length=1)
    note: str = ""
    unless: str = ""

    @field_validator("pattern", "unless")
    @classmethod
    def _compiles(cls, value: str) -> str:
        try:
            re.compile(value)
        except re.error as error:
            raise ValueError(f"not a regular expression: {error}") from None
        return value


class IndexLayout(BaseModel):
    """How the index of a generation of this corpus is laid out; what is left out is as the service is set."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shards: int | None = Field(None, ge=1, le=64, description="Primary shards; else ATTEST_ES_SHARDS.")
    replicas: int | None = Field(None, ge=0, le=8, description="Copies of each; else ATTEST_ES_REPLICAS.")
    vector_index: VectorIndex | None = Field(None, description="Vector index type; else ATTEST_VECTOR_INDEX.")


class CorpusProfile(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str = ""
    locale: str = ""
    tenant: str = "demo"
    single_tenant: bool = Field(
        False, description="Refuses documents of another tenant, so that its indices hold this one only."
    )
    default_access: dict[str, Any] | None = Field(
        None,
        description="Rights of documents without a rule of their own; without it such documents are refused.",
    )
    out_of_scope: tuple[OutOfScopeRule, ...] = ()
    token_vectors: bool = Field(
        False,
        description="Keeps the vectors of every chunk's tokens, some 20 KB a chunk, which late interaction needs.",
    )
    profile: str = Field(
        "",
        description="Ranking profile of questions that name none. It goes live, and back, with the generation.",
    )
    index: IndexLayout = IndexLayout()
    gates: GateSettings = GateSettings()
    rollback_window_hours: float | None = Field(
        None,
        ge=0,
        le=8760,
        description="Hours for which what was live is kept from `prune`; ATTEST_ROLLBACK_WINDOW_HOURS when left out.",
    )

    @field_validator("profile")
    @classmethod
    def _known(cls, value: str) -> str:
        if value and value not in profile_names():
            raise ValueError(f"there is no ranking profile {value!r}; known: {', '.join(profile_names())}")
        return value

    @field_validator("name")
    @classmethod
    def _name(cls, value: str) -> str:
        return check_corpus_name(value)

    @field_validator("tenant")
    @classmethod
    def _tenant(cls, value: str) -> str:
        if not normalise_name(value):
            raise ValueError("must not be empty")
        return normalise_name(value)

    @model_validator(mode="after")
    def _one_tenant_is_named(self) -> CorpusProfile:
        if self.single_tenant and "tenant" not in self.model_fields_set:
            raise ValueError("single_tenant needs `tenant`, the one that the corpus is kept for")
        return self


def kept_with_generation(profile: Mapping[str, Any]) -> dict[str, Any]:
    """What of a stored profile a generation is built under: all but the gates and the window, which hold as they are
    now."""
    return {name: value for name, value in profile.items() if name not in ("gates", "rollback_window_hours")}


def laid_out(stored: Mapping[str, Any], otherwise: IndexSettings) -> IndexSettings:
    """The layout of the corpus's next index, by its profile as it is stored (by earlier releases without any)."""
    own = IndexLayout.model_validate(stored.get("index") or {})
    return replace(otherwise, **own.model_dump(exclude_none=True))


def rollback_window_h(stored: Mapping[str, Any] | None, otherwise: float) -> float:
    """Hours for which a prune keeps what was live, by a corpus profile as it is stored."""
    own = (stored or {}).get("rollback_window_hours")
    return otherwise if own is None else float(own)


def read_corpus_profile(folder: Path) -> CorpusProfile | None:
    """The profile in the folder's `corpus.toml`, or None. Raises InvalidInput naming every field at fault, and for
    a file that is nearly called so: its tenant and default rights would be passed over."""
    path = folder / FILE
    near = sorted(found.name for found in folder.iterdir() if normalise_name(found.name) == FILE)
    if not near:
        return None
    if near != [FILE] or not path.is_file():
        raise InvalidInput(f"{folder / near[0]}: the corpus profile must be one file called {FILE!r}.")
    try:
        return CorpusProfile.model_validate(
            with_cases(tomllib.loads(path.read_text(encoding="utf-8")), folder)
        )
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidInput(f"{path}: {error}") from None
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise InvalidInput(f"{path}: {faults}") from None
