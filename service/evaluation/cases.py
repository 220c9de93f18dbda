"""Evaluation cases: one JSON line each, strict, so that a misspelt field is an error and not a silent default."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from service.domain.answers import Reason
from service.errors import InvalidInput


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
    case_id: str
    query: str
    corpus_version: str = "live"
    principal: CasePrincipal = CasePrincipal()
    answerability: Literal["answerable", "unanswerable"]
    required_claims: tuple[RequiredClaim, ...] = ()
    forbidden_claims: tuple[str, ...] = ()
    expected_no_answer_reason: Reason | None = None
    bucket: str = "all"

    def gold_documents(self) -> frozenset[str]:
        return frozenset().union(*(claim.documents() for claim in self.required_claims))


def load_cases(path: Path) -> tuple[Case, ...]:
    """Cases of a JSONL file. Raises InvalidInput naming file, line and field of the first that does not hold."""
    cases = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            cases.append(Case.model_validate_json(line))
        except ValidationError as error:
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"])) or "line"
            raise InvalidInput(f"{path.name}:{number}: {where}: {first['msg']}") from None
    if not cases:
        raise InvalidInput(f"{path.name} holds no cases.")
    return tuple(cases)
