"""What operators send and are sent."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from service.domain.jobs import Kind
from service.domain.reviews import Mark, ReviewState
from service.web.models import CorpusName, NoteText, Out, Strict, no_underscore

GenerationName = Annotated[str, Field(pattern=r"^[a-z0-9-]{1,160}$")]
# Which kinds of work take which fields; a field that would do nothing is refused.
_TAKEN_BY = {
    "generation": ("check", "gate", "publish"),
    "force": ("publish",),
    "keep": ("prune",),
    "window_hours": ("prune",),
    "dry_run": ("prune", "repair"),
}


class CorpusPath(BaseModel):
    corpus: CorpusName


class GenerationPath(CorpusPath):
    generation: GenerationName


class JobPath(BaseModel):
    job_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class DocumentsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    after: Annotated[str, Field(max_length=1000)] = Field("", description="The last page's `next`.")
    size: Annotated[int, Field(ge=1, le=1000), BeforeValidator(no_underscore)] = 100


class JobBody(Strict):
    """Work to be done on the corpus, as the command of that name does it."""

    kind: Kind = Field(description="What is to be done.")
    generation: GenerationName | None = Field(
        None,
        description="Of check, gate and publish: the generation; else the live one (check), the newest ready one.",
    )
    force: Annotated[str, Field(min_length=1, max_length=500)] | None = Field(
        None, description="Of publish: why gates that may be forced are passed over."
    )
    keep: Annotated[int, Field(ge=0, le=1000)] | None = Field(
        None, description="Of prune: retained generations to keep; 1 when left out."
    )
    window_hours: Annotated[float, Field(ge=0, le=8760)] | None = Field(
        None, description="Of prune: what was live within these hours stays; else as configured."
    )
    dry_run: bool | None = Field(
        None,
        description="Of prune and repair: only name what would go or be mended; that is so unless it is false.",
    )

    @model_validator(mode="after")
    def _fits_the_kind(self) -> JobBody:
        for name, kinds in _TAKEN_BY.items():
            if getattr(self, name) is not None and self.kind not in kinds:
                raise ValueError(f"{name} is of {' and '.join(kinds)} only")
        return self


class ReviewPath(BaseModel):
    review_id: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]


class ReviewsQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    corpus: CorpusName | None = None
    state: ReviewState | None = None


class MarkBody(Strict):
    """What a person found: whether the sources that the claim names say it."""

    verdict: Mark
    note: NoteText = Field("", description="Why, if need be.")


class GatesOut(Out):
    passed: int
    failed: list[str]
    forced: list[str]


class GenerationOut(Out):
    generation: str
    corpus: str
    corpus_version: str
    state: Literal["building", "validating", "ready", "live", "retained", "pruned", "failed"]
    documents: int
    chunks: int
    size_bytes: int | None
    aliases: list[str]
    profile: str
    processors: dict[str, Any]
    gates: GatesOut
    created_at: str
    updated_at: str
    updated_by: str
    replaced: str | None
    reason: str


class GenerationsOut(Out):
    generations: list[GenerationOut]


class ManifestOut(GenerationOut):
    dimension: int
    vector_index: str
    corpus_profile: dict[str, Any]
    timings: dict[str, Any]
    checks: list[dict[str, Any]]
    gate_results: list[dict[str, Any]]
    history: list[dict[str, Any]]


class DocumentOut(Out):
    document_id: str
    document_version: str
    chunks: int


class DocumentsOut(Out):
    documents: list[DocumentOut]
    next: str | None


class JobOut(Out):
    job_id: str
    corpus: str
    kind: str
    state: Literal["queued", "running", "done", "failed", "cancelled"]
    who: str
    arguments: dict[str, Any]
    created_at: str
    updated_at: str
    step: str
    done: int
    total: int
    cancel: bool
    result: dict[str, Any]
    reason: str
    log: list[str]


class CitedSpanOut(Out):
    document_id: str
    document_version: str
    start_offset: int
    end_offset: int


class ReviewOut(Out):
    review_id: str
    at: str
    corpus: str
    corpus_version: str
    generation: str
    trace_id: str
    claim: str
    reason: Literal["words", "order"]
    citations: list[CitedSpanOut]
    state: ReviewState
    marked_by: str
    marked_at: str
    note: str


class ReviewsOut(Out):
    reviews: list[ReviewOut]


class JobsOut(Out):
    jobs: list[JobOut]
