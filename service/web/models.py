"""Request and response models. Requests are strict: unknown fields and wrong types are refused, not guessed at."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from service.domain.generations import check_corpus_name
from service.errors import InvalidInput

QUESTION_MAX = 2000
_ID = r"^[A-Za-z0-9._:-]{1,100}$"
# C0 and C1 controls but tab and line feed, bidirectional controls, lone surrogates, and non-characters.
_FORBIDDEN_SET = r"\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufffe\uffff"
_FORBIDDEN = re.compile(rf"[{_FORBIDDEN_SET}\ud800-\udfff]")
# The same rules for readers of the OpenAPI document; the validators below are what decides. Surrogates are left
# out there: not every reader's regular expressions know them.
_QUESTION_PATTERN = rf"^[^{_FORBIDDEN_SET}]*[^{_FORBIDDEN_SET}\s][^{_FORBIDDEN_SET}]*$"
_CORPUS_PATTERN = r"^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$"


def _plain(text: str) -> str:
    if _FORBIDDEN.search(text):
        raise ValueError("must not contain control characters")
    return text


def _question(text: str) -> str:
    _plain(text)
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _corpus(name: str) -> str:
    try:
        return check_corpus_name(name)
    except InvalidInput:
        raise ValueError(
            "must be 1 to 40 lower-case letters, digits and hyphens, neither first nor last a hyphen"
        ) from None


QuestionText = Annotated[
    str,
    Field(min_length=1, max_length=QUESTION_MAX, json_schema_extra={"pattern": _QUESTION_PATTERN}),
    AfterValidator(_question),
]
NoteText = Annotated[
    str,
    Field(max_length=1000, json_schema_extra={"pattern": rf"^[^{_FORBIDDEN_SET}]*$"}),
    AfterValidator(_plain),
]
CorpusName = Annotated[str, Field(json_schema_extra={"pattern": _CORPUS_PATTERN}), AfterValidator(_corpus)]


ConversationId = Annotated[str, Field(pattern=r"^(new|[A-Za-z0-9_-]{32})$")]
_CONVERSATION = (
    '"new" begins a conversation; an id of yours goes on with it. Answers are never looked back at.'
)


class Strict(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        alias_generator=to_camel,
        validate_by_name=False,
        validate_by_alias=True,
    )


class QuestionBody(Strict):
    """A question. The principal comes from the token, never from here."""

    text: QuestionText = Field(description=f"The question, 1 to {QUESTION_MAX} characters.")
    corpus: CorpusName = Field(description="The corpus to ask.")
    allowed_corpus_version: Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,100}$")] = Field(
        "live", description='A corpusVersion, or "live".'
    )
    query_id: Annotated[str, Field(pattern=_ID)] | None = Field(
        None, description="Your own id of the question."
    )
    profile: Annotated[str, Field(pattern=r"^[a-z0-9-]{1,40}$")] | None = Field(
        None, description="Ranking profile."
    )
    locale: Annotated[str, Field(pattern=r"^[A-Za-z]{2}(-[A-Za-z]{2})?$")] | None = None
    explain: bool = Field(False, description="Raw BM25 scores in search results; needs the role inspect.")


class AnswerBody(QuestionBody):
    """A question, or a turn of a conversation."""

    conversation_id: ConversationId | None = Field(None, description=_CONVERSATION)


class SearchBody(QuestionBody):
    size: Annotated[int, Field(ge=1, le=50)] = Field(10, description="Hits wanted.")


class ChatBody(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    question: QuestionText
    corpus: CorpusName
    conversation_id: ConversationId | None = Field(None, description=_CONVERSATION)


class SourcePath(BaseModel):
    document_id: Annotated[str, Field(min_length=1, max_length=1000)]
    version: Annotated[str, Field(pattern=r"^[0-9a-f]{64}(\.[0-9]{1,4})?$")]


def no_underscore(value: object) -> object:
    """Python reads 1_0 as ten; nobody else does."""
    if isinstance(value, str) and "_" in value:
        raise ValueError("must be a whole number")
    return value


class SourceQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    start: Annotated[int, Field(ge=0), BeforeValidator(no_underscore)] | None = Field(
        None, description="First code point."
    )
    end: Annotated[int, Field(gt=0), BeforeValidator(no_underscore)] | None = Field(
        None, description="One past the last code point."
    )
    quote_sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = Field(
        None, alias="quoteSha256", description="Hash of the quote that the span must be."
    )


class TracePath(BaseModel):
    trace_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class Out(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, validate_by_name=True)


class CitationOut(Out):
    source_id: str
    document_id: str
    document_version: str
    chunk_id: str
    start_offset: int
    end_offset: int
    quote: str
    quote_sha256: str = Field(alias="quoteSha256")
    heading_path: list[str]
    page: int | None


class InputOut(Out):
    text: str
    citation: int
    start_offset: int
    end_offset: int
    observed_at: str


class ClaimOut(Out):
    text: str
    kind: Literal["extracted", "generated", "derived"]
    rule: str | None
    inputs: list[InputOut]
    value: str | None
    citations: list[CitationOut]


class SourceOut(Out):
    source_id: str
    document_id: str
    document_version: str
    chunk_id: str
    title: str
    heading_path: list[str]
    page: int | None
    canonical_url: str
    start_offset: int
    end_offset: int
    excerpt: str
    role: Literal["main", "auxiliary"]


class RetrievalOut(Out):
    corpus_version: str
    generation: str
    candidate_chunk_ids: list[str]
    selected_chunk_ids: list[str]


class GapOut(Out):
    part: str
    missing: str
    anchors: list[str]
    tried: list[str]
    suggestion: str


class AnswerOut(Out):
    status: Literal["answered", "no_answer"]
    answer: str | None
    mode: str
    claims: list[ClaimOut]
    sources: list[SourceOut]
    retrieval: RetrievalOut
    reason_code: str | None
    gap: GapOut | None
    degraded: list[str]
    engine: str
    profile: str
    trace_id: str
    conversation_id: str | None
    resolved_question: str | None


class HitOut(Out):
    rank: int
    chunk_id: str
    document_id: str
    document_version: str
    title: str
    heading_path: list[str]
    start_offset: int
    end_offset: int
    excerpt: str
    canonical_url: str
    page: int | None
    score: float
    legs: dict[str, int]
    features: dict[str, float]


class SearchOut(Out):
    hits: list[HitOut]
    retrieval: RetrievalOut
    degraded: list[str]
    engine: str
    profile: str
    trace_id: str


class ChatClaimOut(BaseModel):
    text: str
    source_ids: list[str]


class ChatSourceOut(BaseModel):
    id: str
    document_id: str
    document_version: str
    heading: str
    excerpt: str


class ChatOut(BaseModel):
    answer: str
    refused: bool
    refusal_reason: str | None
    claims: list[ChatClaimOut]
    sources: list[ChatSourceOut]
    trace_id: str
    conversation_id: str | None
    resolved_question: str | None


class SourceTextOut(Out):
    document_id: str
    document_version: str
    title: str
    canonical_url: str
    status: Literal["current", "superseded", "damaged"]
    start_offset: int
    end_offset: int
    text: str
    text_sha256: str = Field(alias="textSha256")
    heading_path: list[str]
    page: int | None
    before: str
    after: str
    note: str


class TraceOut(BaseModel):
    """Stages with counts, ranks, scores and times; ids and numbers, no text."""

    model_config = ConfigDict(extra="allow")

    stages: list[dict[str, Any]]


class ErrorBody(BaseModel):
    code: str
    message: str
    field: str | None = None


class ErrorOut(BaseModel):
    error: ErrorBody
