"""What an engine takes: the same rules for both, checked before anything is sent.

An engine that took a chunk the other refuses would make the two disagree about a corpus, so the reasons live
here and not in either engine. Elasticsearch would refuse most of it too, in the words of its version.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from service.domain.documents import IndexedChunk
from service.domain.retrieval import KnnLeg, Leg, LegResult, Vector
from service.domain.rights import Access, Scope
from service.errors import InvalidInput
from service.text.token_vectors import token_bytes
from service.text.wellformed import storable

# Lucene's whitespace tokenizer splits a longer token in two, which tantivy does not.
MAX_TOKEN_UNITS = 255
# A Lucene term holds at most 32766 bytes. Longer anchors and sections are stored, but cannot be looked up.
MAX_NAME_BYTES = 8_000
# Longer than any Lucene term. Elasticsearch refuses a query that asks for such a name.
MAX_TERM_BYTES = 32_766
# Both fields of each term make a clause; Elasticsearch guarantees 1024 of them.
MAX_QUESTION_TERMS = 512


def refusal(chunk: IndexedChunk, dimension: int) -> str | None:
    """Why this chunk cannot be indexed, or None when it can. `dimension` is the generation's."""
    return (
        _name_fault(chunk)
        or _access_fault(chunk.access)
        or _token_fault("body", chunk.body_terms)
        or _token_fault("heading", chunk.heading_terms)
        or _vector_fault(chunk.vector, dimension)
        or _tokens_fault(chunk.tokens, dimension)
    )


def askable_terms(terms: Iterable[str]) -> tuple[str, ...]:
    """Question terms an engine can look up: each once, in order, at most MAX_QUESTION_TERMS.

    A term that no stored token can equal (blank, with white space, not encodable) is dropped.
    """
    kept = (term for term in dict.fromkeys(terms) if _fault_of_token(term) is None)
    return tuple(term for term, _ in zip(kept, range(MAX_QUESTION_TERMS), strict=False))


def askable_names(names: Iterable[str]) -> tuple[str, ...]:
    """Anchors or ids that can be looked up: each once, in order; what cannot be stored cannot be found."""
    return tuple(
        name for name in dict.fromkeys(names) if storable(name) and len(name.encode()) <= MAX_NAME_BYTES
    )


def askable_scope(scope: Scope) -> Scope:
    """The same scope without names that no document can carry: half a UTF-16 pair, or longer than any term."""
    if all(map(_carriable, (scope.tenant, *scope.labels, *scope.subjects))):
        return scope
    return Scope(
        tenant=scope.tenant if _carriable(scope.tenant) else "",
        labels=frozenset(filter(_carriable, scope.labels)),
        subjects=frozenset(filter(_carriable, scope.subjects)),
    )


def is_zero(vector: Vector) -> bool:
    """Whether a question's vector has no direction: nothing is near it, which is an answer, not a fault."""
    return not np.any(vector)


def without_asking(leg: Leg) -> LegResult | None:
    """The result of a leg that no engine has to be asked about; None for all others.

    Engines differ in what they make of a vector that is not finite; here it is a leg that failed.
    """
    if not isinstance(leg, KnnLeg):
        return None
    if not np.isfinite(leg.vector).all():
        return LegResult(leg.name, (), 0.0, "failed")
    return LegResult(leg.name, (), 0.0) if is_zero(leg.vector) else None


def vector_of(values: Iterable[float]) -> NDArray[np.float32]:
    """Stored vectors are float32 everywhere; a double would come back changed from one engine only."""
    return np.asarray(tuple(values), dtype=np.float32)


def check_storable(*texts: str) -> None:
    """Raises InvalidInput for text that has no UTF-8 form (a lone surrogate), which no store can keep."""
    for text in texts:
        if not storable(text):
            raise InvalidInput(
                "Text with a lone surrogate (half a UTF-16 pair) cannot be stored; repair the source."
            )


def _name_fault(chunk: IndexedChunk) -> str | None:
    cut = chunk.chunk
    shown = (cut.text, cut.search_prefix, cut.section, chunk.title, chunk.canonical_url)
    if not all(map(storable, (cut.chunk_id, cut.document_id, *shown, *cut.heading_path, *chunk.anchors))):
        return "text with a lone surrogate has no UTF-8 form"
    if not cut.chunk_id or not cut.document_id:
        return "chunkId and documentId must not be empty"
    if max(len(cut.chunk_id.encode()), len(cut.document_id.encode())) > MAX_NAME_BYTES:
        return f"chunkId or documentId is longer than {MAX_NAME_BYTES} bytes"
    return None


def _access_fault(access: Access) -> str | None:
    if not all(map(_carriable, (access.tenant, *access.labels, *access.allow, *access.deny))):
        return f"a name in its rights has no UTF-8 form or more than {MAX_TERM_BYTES} bytes"
    return None


def _carriable(name: str) -> bool:
    """Whether a document's rights can hold the name."""
    return storable(name) and len(name.encode()) <= MAX_TERM_BYTES


def _token_fault(field: str, terms: tuple[str, ...]) -> str | None:
    joined = " ".join(terms)
    # A field at a time, since most have no fault; no code point takes more than two UTF-16 units.
    if (
        joined.split() == list(terms)
        and storable(joined)
        and max(map(len, terms), default=0) * 2 <= MAX_TOKEN_UNITS
    ):
        return None
    for term in terms:
        if (fault := _fault_of_token(term)) is not None:
            return f"{field} token {fault}"
    return None


def _fault_of_token(term: str) -> str | None:
    if not term or any(map(str.isspace, term)):
        return "is empty or holds white space"
    if not storable(term):
        return "has no UTF-8 form"
    if len(term.encode("utf-16-le")) // 2 > MAX_TOKEN_UNITS:
        return f"is longer than {MAX_TOKEN_UNITS} characters"
    return None


def _vector_fault(values: tuple[float, ...] | None, dimension: int) -> str | None:
    if values is None:
        return None
    if len(values) != dimension:
        return f"vector has {len(values)} dimensions, the index {dimension}"
    if not all(map(math.isfinite, values)):
        return "vector holds a value that is not finite"
    if not np.any(vector_of(values)):
        return "zero vector has no direction (cosine)"
    return None


def _tokens_fault(packed: bytes | None, dimension: int) -> str | None:
    if packed and len(packed) % token_bytes(dimension):
        return f"token vectors are not whole ones of {dimension} components"
    return None
