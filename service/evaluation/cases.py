"""Evaluation cases: one JSON line each, strict, so that a misspelt field is an error and not a silent default.

The first line may say which set the cases are of: `{"caseSet": "handbook", "version": 2}`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from service.domain.answers import Reason
from service.errors import InvalidInput
from service.evaluation.splits import Split


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel, populate_by_name=True)


class AcceptedSpan(_Model):
    """A span of the archived canonical text, in code points: gold that outlives any chunker."""

    document_id: str
    start: int = Field(ge=0)
    end: int = Field(gt=0)


class RequiredClaim(_Model):
    """What an answer must say, and where it may be cited from. Any accepted place will do."""

    claim_id: str
    accepted_chunk_ids: tuple[str, ...] = ()
    accepted_spans: tuple[AcceptedSpan, ...] = ()
    accepted_document_ids: tuple[str, ...] = ()
    required_terms: tuple[str, ...] = ()

    def documents(self) -> frozenset[str]:
        """Every document in which this claim may be found."""
        return frozenset(
            (
                *self.accepted_document_ids,
                *(span.document_id for span in self.accepted_spans),
                *(chunk_id.rsplit("@", 1)[0] for chunk_id in self.accepted_chunk_ids),
            )
        )


class CasePrincipal(_Model):
    tenant: str = "demo"
    subject: str = "anonymous"
    groups: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


class Case(_Model):
    """`earlier` are turns of a conversation that the query goes on with; only the answer to the query is judged."""

    case_id: str
    query: str
    earlier: tuple[str, ...] = ()
    corpus_version: str = "live"
    principal: CasePrincipal = CasePrincipal()
    answerability: Literal["answerable", "unanswerable"]
    required_claims: tuple[RequiredClaim, ...] = ()
    forbidden_claims: tuple[str, ...] = ()
    expected_no_answer_reason: Reason | None = None
    bucket: str = "all"

    def gold_documents(self) -> frozenset[str]:
        return frozenset().union(*(claim.documents() for claim in self.required_claims))


class _Head(_Model):
    case_set: str = Field(min_length=1)
    version: int = Field(ge=1)
    split: Split | None = None
    rule: str = ""


@dataclass(frozen=True, slots=True)
class CaseSet:
    """Cases with what tells them from others. `sha256` is over the cases as they stand in the file, whatever version
    it claims; without a first line that names the set it is the file's name, and the version is None."""

    name: str
    version: int | None
    split: Split | None
    sha256: str
    cases: tuple[Case, ...]


def load_cases(path: Path) -> tuple[Case, ...]:
    """Cases of a JSONL file. Raises InvalidInput naming file, line and field of the first that does not hold."""
    return load_case_set(path).cases


def load_case_set(path: Path) -> CaseSet:
    """A JSONL file of cases. Raises like `load_cases`."""
    return case_set(path.read_text(encoding="utf-8").splitlines(), path.name, otherwise=path.stem)


def case_set(lines: Iterable[str], source: str, *, otherwise: str) -> CaseSet:
    """A case a line, with or without a first line that names the set; `otherwise` is its name then. Raises
    InvalidInput naming `source`, line and field of the first that does not hold."""
    head: _Head | None = None
    cases: list[Case] = []
    digest = hashlib.sha256()
    seen: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        if not cases and head is None and _is_head(line):
            head = _read(_Head, line, f"{source}:{number}")
            continue
        case = _read(Case, line, f"{source}:{number}")
        if case.case_id in seen:
            first = seen[case.case_id]
            raise InvalidInput(f"{source}:{number}: caseId: {case.case_id!r} is that of line {first}")
        seen[case.case_id] = number
        digest.update(line.strip().encode() + b"\n")
        cases.append(case)
    if not cases:
        raise InvalidInput(f"{source} holds no cases.")
    name, version, split = (head.case_set, head.version, head.split) if head else (otherwise, None, None)
    return CaseSet(name, version, split, digest.hexdigest(), tuple(cases))


_Line = TypeVar("_Line", bound=_Model)


def _read(kind: type[_Line], line: str, where: str) -> _Line:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "line"
        raise InvalidInput(f"{where}: {field}: {first['msg']}") from None


def _is_head(line: str) -> bool:
    try:
        entry = json.loads(line)
    except ValueError:
        return False
    return isinstance(entry, dict) and "caseSet" in entry
