"""The ports: what the two paths need from an engine, a cache, an embedder. Adapters implement them.

A port exists only where there are two implementations or a fake; each engine passes the same contract tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from service.domain.conversations import Owner
from service.domain.documents import ArchivedDocument, IndexedChunk, RegistryChange, RegistryEntry
from service.domain.generations import Generation, Manifest
from service.domain.jobs import Job, Lease, Slot
from service.domain.retrieval import FoundChunk, Leg, LegResult, PassageVectors, QuestionVectors, Vector
from service.domain.reviews import Review
from service.domain.rights import Access, RightsInUse, Scope


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """How a generation's index is laid out. `dimension` of the vectors; the rest is scale."""

    dimension: int
    shards: int = 1
    replicas: int = 0
    vector_index: str = "flat"
    force_merge: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """One chunk the engine would not take, and why."""

    chunk_id: str
    document_id: str
    reason: str


@dataclass(frozen=True, slots=True)
class BulkReport:
    """What a bulk write did, item by item. `written + len(refused)` is what was sent."""

    written: int
    refused: tuple[Refused, ...] = ()
    retried: int = 0


class Archive(Protocol):
    """Document versions, create-only."""

    def put(self, document: ArchivedDocument) -> bool:
        """True when it was created, False when that version was already there (and is left untouched)."""
        ...

    def get_many(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], ArchivedDocument]:
        """Real-time. Keys are (documentId, documentVersion); missing ones are absent from the result."""
        ...

    def size(self) -> int:
        """Bytes that all documents take, copies included; 0 before the first. May be some seconds old."""
        ...


class Registry(Protocol):
    """The authority on current versions, rights and deletions."""

    def get_many(self, corpus: str, document_ids: Sequence[str]) -> dict[str, RegistryEntry]:
        """Real-time multi-get, deleted entries included; unknown ids are absent."""
        ...

    def write(self, entry: RegistryEntry) -> RegistryEntry:
        """Create (token None) or replace (token as read). Returns it with its new token. Raises Conflict."""
        ...

    def scan(self, corpus: str) -> Iterator[RegistryEntry]:
        """Every entry of a corpus, deleted ones included, ordered by documentId; sees every finished write."""
        ...

    def corpora(self) -> tuple[str, ...]:
        """Names of corpora that have a profile, sorted. Real-time."""
        ...

    def corpus_profile(self, corpus: str) -> dict[str, Any] | None: ...

    def write_corpus_profile(self, corpus: str, profile: Mapping[str, Any]) -> None: ...

    def epoch(self) -> int:
        """The access epoch: raised by every change of rights or deletion. Real-time."""
        ...

    def raise_epoch(self) -> int:
        """Adds one, atomically; returns the new value."""
        ...


class Audit(Protocol):
    """What documents' registry entries no longer say: their earlier changes, append-only."""

    def append(self, change: RegistryChange) -> None:
        """Keeps the change; the one already kept under that document and sequence is left untouched."""
        ...

    def scan(self, corpus: str, document_id: str | None = None) -> Iterator[RegistryChange]:
        """Kept changes, of one document when named, ordered by document and sequence."""
        ...


@dataclass(frozen=True, slots=True)
class TokenRights:
    """Of the token vectors of one chunk: what they may be seen by."""

    chunk_id: str
    document_id: str
    access: Access


class Generations(Protocol):
    """The searchable side: physical indices and the aliases that point at them."""

    def create(self, generation: Generation, settings: IndexSettings) -> None:
        """Raises Conflict when it exists."""
        ...

    def write(self, generation: Generation, chunks: Iterable[IndexedChunk]) -> BulkReport:
        """Bulk write; items refused for good are named in the report, the rest is written."""
        ...

    def seal(self, generation: Generation, settings: IndexSettings) -> None:
        """Makes everything written searchable, adds replicas, and stops further writes except rights."""
        ...

    def scan(
        self, generation: Generation, *, vectors: bool = False, tokens: bool = False
    ) -> Iterator[IndexedChunk]:
        """Every chunk, ordered by chunkId; `vector` and `tokens` are None unless asked for."""
        ...

    def token_rights(self, generation: Generation) -> Iterator[TokenRights]:
        """Whose token vectors are kept, and under which rights: what `scan` does not tell, since an engine may keep
        them apart from their chunk."""
        ...

    def spread_access(self, generation: Generation, document_id: str, access: Access | None) -> int:
        """Writes new rights onto a document's chunks, or removes the chunks (None). Number touched."""
        ...

    def names(self, corpus: str) -> tuple[str, ...]:
        """Physical generations of a corpus, sorted."""
        ...

    def aliases(self, corpus: str) -> dict[str, tuple[str, ...]]:
        """Alias name → the generations behind it, as the engine says now."""
        ...

    def switch(self, add: Mapping[str, str], remove: Sequence[tuple[str, str]]) -> None:
        """One atomic call: `remove` pairs (alias, generation) must exist, else Conflict and nothing changes."""
        ...

    def live(self) -> dict[str, tuple[str, ...]]:
        """Corpus → the generations behind its live alias, of every corpus that has one; sorted. More than one is a
        fault."""
        ...

    def size(self, generation: Generation) -> int:
        """Bytes on disk, copies included. Raises GenerationGone."""
        ...

    def drop(self, generation: Generation) -> None: ...


class Retrieval(Protocol):
    """Queries against one pinned generation. None can be asked without a Scope."""

    def resolve(self, corpus: str, corpus_version: str) -> Generation | None:
        """The generation behind the alias ("live" or a corpusVersion). Unavailable when it has two."""
        ...

    def search(
        self, generation: Generation, legs: Sequence[Leg], scope: Scope, timeout_s: float
    ) -> tuple[LegResult, ...]:
        """All legs in one round trip, in the given order, the scope inside each.

        A leg that fails comes back with `error`; Unavailable only when the engine as a whole does not answer,
        GenerationGone when the index is no longer there.
        """
        ...

    def similarities(
        self, generation: Generation, vector: Vector, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, float]:
        """Cosine in [-1, 1] of the vector with each named chunk that the scope may see and has a vector."""
        ...

    def token_vectors(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, bytes]:
        """Packed token vectors of each named chunk that the scope may see and that has any."""
        ...

    def any_visible(self, generation: Generation, scope: Scope, timeout_s: float) -> bool:
        """Whether the scope may see at least one chunk of the generation."""
        ...

    def rights_in_use(self, generation: Generation, tenant: str, timeout_s: float) -> RightsInUse | None:
        """What rights this tenant's chunks carry; None when they are too many to list.

        The one question without a Scope: for cache keys only, its answer is never shown.
        """
        ...

    def fetch(
        self, generation: Generation, chunk_ids: Sequence[str], scope: Scope, timeout_s: float
    ) -> dict[str, FoundChunk]:
        """Named chunks that the scope may see."""
        ...


class Builds(Protocol):
    """Manifests of generations, compare-and-set."""

    def get(self, generation_name: str) -> Manifest | None: ...

    def write(self, manifest: Manifest) -> Manifest:
        """Create (token None) or replace (token as read). Raises Conflict."""
        ...

    def scan(self, corpus: str) -> Iterator[Manifest]:
        """Newest generation number last."""
        ...


class Jobs(Protocol):
    """Long work and its leases, compare-and-set and read in real time."""

    def get(self, job_id: str) -> Job | None: ...

    def write(self, job: Job) -> Job:
        """Create (token None) or replace (token as read). Raises Conflict."""
        ...

    def scan(self, corpus: str) -> Iterator[Job]:
        """Newest last."""
        ...

    def lease(self, corpus: str, slot: Slot) -> Lease | None: ...

    def write_lease(self, lease: Lease) -> Lease:
        """Create (token None) or replace (token as read). Raises Conflict."""
        ...


class Traces(Protocol):
    """Short-lived records of requests: ids and numbers, no text."""

    def save(self, trace_id: str, record: Mapping[str, Any]) -> None: ...

    def get(self, trace_id: str) -> dict[str, Any] | None: ...

    def citing(self, corpus: str, most: int) -> list[dict[str, Any]]:
        """Records of this corpus with citations in their `outcome`, the newest first; sees every finished write."""
        ...


class Reviews(Protocol):
    """Claims that could not be decided. Written by compare-and-set, as jobs; read in real time, the oldest first. Kept
    as long as traces: what is older goes at the next new one and the next scan."""

    def get(self, review_id: str) -> Review | None: ...
    def write(self, review: Review) -> Review: ...
    def scan(self, corpus: str) -> Iterator[Review]: ...


class Cache(Protocol):
    """Bytes by key. A cache that is down answers None and drops writes; it never raises."""

    name: str

    @property
    def failing(self) -> bool:
        """Whether what was asked of it last did not succeed: its part in a request is missing."""
        ...

    def get(self, key: str) -> bytes | None: ...

    def set(self, key: str, value: bytes, ttl_s: int) -> None: ...

    def healthy(self) -> bool: ...


class Conversations(Protocol):
    """The last questions of each conversation, by owner: another owner's are not there. Raises Unavailable."""

    name: str

    def get(self, owner: Owner, conversation_id: str) -> tuple[str, ...] | None:
        """The questions, the newest last; None where there is no such conversation of this owner, or it expired."""
        ...

    def keep(self, owner: Owner, conversation_id: str, questions: tuple[str, ...], ttl_s: int) -> None:
        """Replaces what is kept; it expires that many seconds after the last turn."""
        ...


class RateLimiter(Protocol):
    """How often each key may pass. One that has lost its shared counts goes on with its own; it never raises."""

    name: str

    def take(self, key: str) -> float:
        """Counts one request and lets it pass (0.0), or counts nothing and says after how many seconds one would."""
        ...


class Embedder(Protocol):
    """Turns text into unit vectors. `identity` is name@version, `token_identity` how its token vectors are made, empty
    where it gives none; both are part of corpusVersion."""

    @property
    def identity(self) -> str: ...

    @property
    def token_identity(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed_question(self, text: str) -> QuestionVectors: ...

    def embed_passages(self, texts: Sequence[str]) -> Vector:
        """(n, dimension), in the given order; a text without meaning gives a zero row."""
        ...

    def embed_passages_with_tokens(self, texts: Sequence[str]) -> list[PassageVectors]:
        """The same vectors with those of their tokens, from the same pass of the model."""
        ...


@dataclass(frozen=True, slots=True)
class Engine:
    """One search engine with all its stores, as bootstrap puts it together."""

    name: str
    prefix: str
    archive: Archive
    registry: Registry
    audit: Audit
    generations: Generations
    retrieval: Retrieval
    builds: Builds
    jobs: Jobs
    traces: Traces
    reviews: Reviews
    ready: ReadyCheck
    facts: Facts
    # Removes everything under this prefix; for experiments and tests on a prefix of their own.
    erase: Callable[[], None]


class ReadyCheck(Protocol):
    def __call__(self) -> dict[str, str]:
        """Part → "ok" or what is wrong, for /readyz and doctor."""
        ...


class Facts(Protocol):
    def __call__(self) -> dict[str, str]:
        """Part → finding on what the engine stands on (nodes, disks, copies, clocks), for doctor; never raises. A
        finding begins with "ok" or "degraded", or says what is wrong and what helps."""
        ...


@dataclass(frozen=True, slots=True)
class Message:
    role: Literal["system", "user"]
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a language model is asked. `schema` is a JSON schema for the reply, None for plain text."""

    messages: tuple[Message, ...]
    schema: Mapping[str, Any] | None
    most_tokens: int


class Generator(Protocol):
    """A language model. What it says is a proposal: nothing of it is believed."""

    @property
    def identity(self) -> str:
        """The model's name, for traces and cache keys."""
        ...

    def reply(self, prompt: Prompt, timeout_s: float) -> str:
        """The whole reply. Raises GenerationFailed; returns or raises within the time, and holds no more text than it
        may, whatever the server sends."""
        ...
