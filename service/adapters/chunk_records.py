"""Indexed chunks as flat JSON records, and back, with everything that a query or a scan returns.

`body` and `heading` hold the analysed tokens, separated by one space. A chunk without any gets NO_TERMS
instead of an empty field: Lucene's BM25 counts only the documents that have the field, tantivy's counts all,
so an empty field would give the two engines different averages and document frequencies.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from service.access.rules import from_json, to_json
from service.adapters.acceptance import vector_of
from service.domain.documents import Chunk, IndexedChunk, Link, Span
from service.domain.ports import TokenRights
from service.domain.retrieval import FoundChunk
from service.domain.rights import Access

# A private-use code point: no analyser takes it for a letter, so no question term can be equal to it.
NO_TERMS = "\ue000"

# What FoundChunk needs; all else (tokens, vector, rights) stays in the engine when a query is answered.
FOUND_FIELDS = (
    "chunkId",
    "documentId",
    "documentVersion",
    "ordinal",
    "kind",
    "headingPath",
    "startOffset",
    "endOffset",
    "text",
    "textSha256",
    "searchPrefix",
    "section",
    "page",
    "previousId",
    "nextId",
    "title",
    "locale",
    "canonicalUrl",
    "anchors",
    "links",
    "cluster",
)


def found_record(indexed: IndexedChunk) -> dict[str, Any]:
    """The FOUND_FIELDS of a chunk."""
    chunk = indexed.chunk
    record: dict[str, Any] = {
        "chunkId": chunk.chunk_id,
        "documentId": chunk.document_id,
        "documentVersion": chunk.document_version,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "headingPath": list(chunk.heading_path),
        "startOffset": chunk.span.start,
        "endOffset": chunk.span.end,
        "text": chunk.text,
        "textSha256": chunk.text_sha256,
        "searchPrefix": chunk.search_prefix,
        "section": chunk.section,
        "page": chunk.page,
        "previousId": chunk.previous_id,
        "nextId": chunk.next_id,
        "title": indexed.title,
        "locale": indexed.locale,
        "canonicalUrl": indexed.canonical_url,
        "anchors": list(indexed.anchors),
        "links": [
            {"target": link.target, "version": link.version, "anchor": link.anchor, "state": link.state}
            for link in chunk.links
        ],
    }
    if chunk.cluster:
        record["cluster"] = chunk.cluster
    return record


def indexed_record(indexed: IndexedChunk) -> dict[str, Any]:
    """Every field of a chunk, as the chunks mapping has them; `vector`, an array, is left out when there is none."""
    record = found_record(indexed) | {
        "corpus": indexed.corpus,
        "corpusVersion": indexed.corpus_version,
        "generation": indexed.generation,
        "chunkerVersion": indexed.chunker_version,
        "analyzerVersion": indexed.analyzer_version,
        "access": access_record(indexed.access),
        "body": field_text(indexed.body_terms),
        "heading": field_text(indexed.heading_terms),
    }
    if indexed.vector is not None:
        record["vector"] = vector_of(indexed.vector)
    return record


def tokens_record(indexed: IndexedChunk, packed: bytes) -> dict[str, Any]:
    """The packed token vectors of a chunk as a record of their own, under the rights of the chunk."""
    return {
        "tokensOf": indexed.chunk.chunk_id,
        "documentId": indexed.chunk.document_id,
        "access": access_record(indexed.access),
        "tokens": base64.b64encode(packed).decode("ascii"),
    }


def token_rights_from_record(record: Mapping[str, Any]) -> TokenRights:
    return TokenRights(record["tokensOf"], record["documentId"], _access(record["access"]))


def tokens_from_record(record: Mapping[str, Any]) -> bytes:
    return base64.b64decode(record["tokens"])


def access_record(access: Access) -> dict[str, Any]:
    """Rights as the chunks mapping has them; `labelCount` is what lets a query ask for all of the labels."""
    return to_json(access) | {"labelCount": len(access.labels)}


def _access(record: Mapping[str, Any]) -> Access:
    """Stored rights. A count that is not that of the labels would let a query ask for fewer of them: such rights are
    damaged, have no label, and so fail the check against the registry."""
    access = from_json(record)
    whole = record.get("labelCount", len(access.labels)) == len(access.labels)
    return access if whole else replace(access, labels=frozenset())


def field_text(terms: tuple[str, ...]) -> str:
    return " ".join(terms) if terms else NO_TERMS


def field_terms(text: str) -> tuple[str, ...]:
    return () if text == NO_TERMS else tuple(text.split(" "))


def found_from_record(record: Mapping[str, Any]) -> FoundChunk:
    return FoundChunk(
        chunk_id=record["chunkId"],
        document_id=record["documentId"],
        document_version=record["documentVersion"],
        ordinal=record["ordinal"],
        kind=record["kind"],
        heading_path=tuple(record.get("headingPath") or ()),
        span=Span(record["startOffset"], record["endOffset"]),
        text=record["text"],
        text_sha256=record["textSha256"],
        search_prefix=record["searchPrefix"],
        section=record["section"],
        page=record.get("page"),
        previous_id=record.get("previousId"),
        next_id=record.get("nextId"),
        title=record["title"],
        locale=record["locale"],
        canonical_url=record["canonicalUrl"],
        anchors=tuple(record.get("anchors") or ()),
        # Generations of earlier releases have none.
        links=tuple(Link(**link) for link in record.get("links") or ()),
        cluster=record.get("cluster") or "",
    )


def indexed_from_record(record: Mapping[str, Any]) -> IndexedChunk:
    """The reverse of `indexed_record`; `vector` is None where the record has none."""
    found = found_from_record(record)
    vector = record.get("vector")
    return IndexedChunk(
        chunk=Chunk(
            chunk_id=found.chunk_id,
            document_id=found.document_id,
            document_version=found.document_version,
            ordinal=found.ordinal,
            kind=found.kind,
            heading_path=found.heading_path,
            span=found.span,
            text=found.text,
            text_sha256=found.text_sha256,
            search_prefix=found.search_prefix,
            section=found.section,
            page=found.page,
            previous_id=found.previous_id,
            next_id=found.next_id,
            links=found.links,
            cluster=found.cluster,
        ),
        corpus=record["corpus"],
        corpus_version=record["corpusVersion"],
        generation=record["generation"],
        title=found.title,
        locale=found.locale,
        canonical_url=found.canonical_url,
        chunker_version=record["chunkerVersion"],
        analyzer_version=record["analyzerVersion"],
        access=_access(record["access"]),
        body_terms=field_terms(record["body"]),
        heading_terms=field_terms(record["heading"]),
        anchors=found.anchors,
        vector=None if vector is None else tuple(np.asarray(vector, dtype=np.float32).tolist()),
    )
