"""Ranking profiles: one TOML file a name, checked field by field when it is loaded.

Takes: a profile name. Returns: a frozen `RankingProfile`.
Called by: bootstrap and the evaluation.
Never does: hold numbers of its own; they live in the TOML files beside it.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from service.errors import InvalidInput, Misconfigured

FOLDER = Path(__file__).parent

Share = Annotated[float, Field(ge=0, le=1)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Legs(_Part):
    bm25_size: int = Field(ge=1, le=1000, description="Hits asked of the BM25 leg.")
    heading_boost: float = Field(ge=0, le=10, description="Weight of a heading match beside a body match.")
    anchors_size: int = Field(ge=1, le=1000, description="Hits asked of the exact-anchor leg.")
    knn_k: int = Field(ge=1, le=1000, description="Neighbours asked of the kNN leg.")
    knn_floor: float = Field(
        ge=-1, le=1, description="Least cosine for a neighbour to count as found at all."
    )
    knn_candidates: int = Field(
        ge=1, le=10_000, description="Candidates per shard; matters to approximate indices."
    )


class Fusion(_Part):
    rrf_k: int = Field(ge=1, le=1000, description="The constant of reciprocal rank fusion.")
    weights: dict[str, float] = Field(description="Weight of each leg in the sum.")
    pool: int = Field(ge=1, le=1000, description="Differing texts that go on after fusion.")


class Cosine(_Part):
    """What a cosine means depends on the languages of question and document: an unrelated passage of the same
    language lies nearer than a fitting one of another. The baseline is taken off before anything compares."""

    baseline: dict[str, float] = Field(
        description='Keys are "question>document" languages; "other" for the rest.'
    )

    prose_words: int = Field(
        ge=0, description="Texts of fewer words, and code, are measured by the question's own language."
    )

    def of(self, question: str, document: str) -> float:
        return self.baseline.get(f"{question}>{document}", self.baseline["other"])

    def baseline_for(self, question: str, document: str, words: int) -> float:
        """The baseline of a chunk with that many words of prose. Code and fragments lie near questions of every
        language alike, so they get the stricter of the two: else a log excerpt is the nearest passage to whatever
        is asked in another language."""
        baseline = self.of(question, document)
        return max(baseline, self.of(question, question)) if words < self.prose_words else baseline


class Rerank(_Part):
    model: str = Field(description="Folder under rerank_models/, or 'none' for the fused order.")
    depth: int = Field(ge=1, le=200, description="Candidates reranked.")
    deadline_s: float = Field(gt=0, le=60, description="Time the reranker may take; late means fused order.")
    weights: dict[str, float] = Field(default_factory=dict, description="Weights a rules reranker reads.")
    weights_without_tokens: dict[str, float] = Field(
        default_factory=dict,
        description="Those that hold where there are no token vectors; without this table none are asked for.",
    )


class GateWeights(_Part):
    """A logistic model of "this passage answers": sigmoid(bias + cosine·relevance + coverage·coverage +
    tokens·token_relevance)."""

    bias: float
    cosine: float = Field(description="Weight of the best candidate's cosine above its baseline.")
    coverage: float = Field(description="Weight of the share of question terms the best candidate holds.")
    tokens: float = Field(
        0.0, description="Weight of its idf-weighted MaxSim, where there are token vectors."
    )


class GateCurve(_Part):
    """What was seen when the gate was fitted: at each share of answerable questions that pass, the share of those that
    must be refused which pass with them. Read by people who want another limit, and by nothing else."""

    answered: list[Share]
    let_through: list[Share]


class Gate(_Part):
    """Evidence is enough when the model of the languages at hand gives at least `threshold`.

    Keys are "question>document" languages; "other" serves the rest.
    """

    languages: dict[str, GateWeights]
    languages_without_tokens: dict[str, GateWeights] = Field(
        default_factory=dict, description="Those that hold without token vectors, where others do."
    )
    threshold: Share = Field(description="Least probability that lets an answer out.")
    curves: dict[str, GateCurve] = Field(
        default_factory=dict, description="Of the languages that were fitted."
    )
    lexical_coverage: Share = Field(description="Least coverage when there is no kNN leg (degraded).")
    semantic_relevance: float = Field(
        description="Least cosine above its baseline without a BM25 leg (degraded)."
    )

    def weights(self, pair: str, with_tokens: bool) -> GateWeights:
        """Of a pair of languages, else of all others."""
        there = self.languages if with_tokens else {**self.languages, **self.languages_without_tokens}
        return there.get(pair, there["other"])


class Shares(_Part):
    """How the answerer's window is shared out; the rest is left free."""

    instructions: Share
    question: Share = Field(description="Question and history; what they leave goes to evidence.")
    evidence: Share
    output: Share

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.instructions + self.question + self.evidence + self.output > 1:
            raise ValueError("the shares add up to more than 1")
        return self


class Packing(_Part):
    window: int = Field(ge=64, le=1_000_000, description="Tokens the answerer reads and writes in all.")
    shares: Shares
    max_evidence: int = Field(ge=1, le=50, description="Most pieces of evidence.")
    per_document: int = Field(ge=1, le=50, description="Most pieces from one document.")
    joined: int = Field(ge=0, le=50, description="Leading pieces whose neighbours and links are looked at.")
    hops: int = Field(ge=0, le=3, description="How far links are followed.")
    links: int = Field(ge=0, le=20, description="Most pieces that come in by links.")
    link_coverage: Share = Field(description="Least share of the question that a linked piece says.")


class Reader(_Part):
    model: str = Field("none", description="Folder under service/readers/, or 'none'.")
    deadline_s: float = Field(
        2.0, gt=0, le=60, description="Time it may take; late means that nothing is read."
    )


class Answering(_Part):
    max_claims: int = Field(ge=1, le=20, description="Most verbatim pieces in an extractive answer.")
    examined_evidence: int = Field(
        ge=1, le=20, description="Pieces of evidence whose sentences are compared."
    )
    cosine: float = Field(description="Weight of a sentence's cosine with the question.")
    coverage: float = Field(description="Weight of the share of question terms in a sentence.")
    evidence_rank: float = Field(description="What each rank of the evidence below the first costs.")
    value: float = Field(description="Added when the question asks for a number and the sentence has one.")
    another_case: float = Field(
        default=0.0, ge=0, description="What a sentence costs that speaks of another case than the question."
    )
    reader: float = Field(
        default=0.0, ge=0, description="Weight of the reader's logit that a sentence holds the answer."
    )
    second_margin: float = Field(ge=0, description="A further piece may score at most this much less.")
    conflict_similarity: Share = Field(
        description="Least likeness of two sentences, numbers masked, to count as saying the same of one subject."
    )


class Answer(_Part):
    """Who writes answers. What a model writes is a proposal: each claim is proven like any other."""

    by: Literal["quotes", "model"] = Field("quotes", description="Verbatim pieces, or a language model.")
    unproven: Literal["refuse", "strip", "regenerate"] = Field(
        "refuse",
        description="What an unproven claim of a model does: refuses the answer; goes, and the rest stays; or has the "
        "model write once more, and refuses then.",
    )
    model_down: Literal["quotes", "refuse"] = Field(
        "quotes",
        description="What is given where the model gives no whole reply: quotes, marked as degraded, or an error.",
    )


class Change(_Part):
    """One version of the profile: what is different from the one before, and why."""

    version: int = Field(ge=1)
    on: str
    what: str


class RankingProfile(_Part):
    name: str
    version: int = Field(ge=1)
    legs: Legs
    fusion: Fusion
    cosine: Cosine
    rerank: Rerank
    gate: Gate
    packing: Packing
    answering: Answering
    reader: Reader = Reader()
    answer: Answer = Answer()
    base: str = Field("", description="Identity of the profile that this one changes parts of.")
    changes: list[Change] = Field(default_factory=list)

    @property
    def identity(self) -> str:
        own = f"{self.name}@{self.version}"
        return f"{own}+{self.base}" if self.base else own

    @property
    def reads_tokens(self) -> bool:
        return bool(self.rerank.weights_without_tokens)

    @property
    def without_tokens(self) -> RankingProfile:
        """The profile as it ranks where there are no token vectors; it asks for none."""
        other = {"weights": self.rerank.weights_without_tokens, "weights_without_tokens": {}}
        rerank = self.rerank.model_copy(update=other)
        return self.model_copy(update={"name": f"{self.name}, without tokens", "rerank": rerank})


def profile_names() -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml")))


def load_profile(name: str) -> RankingProfile:
    """The named profile. Raises InvalidInput for an unknown name, Misconfigured for a broken file."""
    if name not in profile_names():
        raise InvalidInput(f"There is no ranking profile of that name; known: {', '.join(profile_names())}.")
    return read_profile((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), where=f"profile {name}")


def read_profile(text: str, *, where: str) -> RankingProfile:
    """A profile from TOML text; one with a `base` has all that it does not say itself from the profile of that name.
    Raises Misconfigured naming every field that does not hold."""
    try:
        given = tomllib.loads(text)
        if "base" in given:
            given = _based(given, where)
        return RankingProfile.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise Misconfigured(f"{where} does not hold: {faults}") from None
    except tomllib.TOMLDecodeError as error:
        raise Misconfigured(f"{where} is not TOML: {error}") from None


def _based(given: dict[str, Any], where: str) -> dict[str, Any]:
    name = given["base"]
    if name not in profile_names():
        raise Misconfigured(f"{where}: there is no profile {name!r} to be its base.")
    text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
    if "base" in tomllib.loads(text):
        raise Misconfigured(f"{where}: its base {name!r} has a base itself.")
    base = read_profile(text, where=f"profile {name}")
    own = {"base": base.identity, "changes": given.get("changes", [])}
    return _changed(base.model_dump(), given) | own


def _changed(base: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """The base with what is given in its place, table by table."""
    return base | {
        name: _changed(base[name], value)
        if isinstance(value, dict) and isinstance(base.get(name), dict)
        else value
        for name, value in given.items()
    }
