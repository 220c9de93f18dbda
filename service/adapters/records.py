"""Domain values as flat JSON records, and back: one form for both engines.

Keys are camelCase and equal the fields of the mapping files. Nested values that are never searched (blocks,
profiles, manifests) are one JSON string each, so that no store has to know their shape.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from service.access.rules import from_json, to_json
from service.domain.documents import (
    ArchivedDocument,
    Block,
    Hyperlink,
    Place,
    RegistryChange,
    RegistryEntry,
    Span,
    Standing,
)
from service.domain.generations import Manifest, Processors
from service.domain.jobs import Job, Lease
from service.domain.reviews import CitedSpan, Review, Undecided


def to_text(value: Any) -> str:
    """Canonical JSON: equal values give equal text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def archived_to_record(document: ArchivedDocument) -> dict[str, Any]:
    return {
        "documentId": document.document_id,
        "documentVersion": document.document_version,
        "rawSha256": document.raw_sha256,
        "canonicalText": document.canonical_text,
        "canonicalSha256": document.canonical_sha256,
        "mediaType": document.media_type,
        "parserVersion": document.parser_version,
        "title": document.title,
        "locale": document.locale,
        "canonicalUrl": document.canonical_url,
        "blocks": to_text([_block_to_json(block) for block in document.blocks]),
        "archivedAt": document.archived_at,
    }


def archived_from_record(record: Mapping[str, Any]) -> ArchivedDocument:
    return ArchivedDocument(
        document_id=record["documentId"],
        document_version=record["documentVersion"],
        raw_sha256=record["rawSha256"],
        canonical_text=record["canonicalText"],
        canonical_sha256=record["canonicalSha256"],
        media_type=record["mediaType"],
        parser_version=record["parserVersion"],
        title=record["title"],
        locale=record["locale"],
        canonical_url=record["canonicalUrl"],
        blocks=tuple(_block_from_json(block) for block in json.loads(record["blocks"])),
        archived_at=record["archivedAt"],
    )


def entry_to_record(entry: RegistryEntry) -> dict[str, Any]:
    """Without `token`: the store gives it."""
    return {
        "corpus": entry.corpus,
        "documentId": entry.document_id,
        "currentVersion": entry.current_version,
        "access": to_json(entry.access),
        "deleted": entry.deleted,
        "sequence": entry.sequence,
        "updatedAt": entry.updated_at,
        "updatedBy": entry.updated_by,
        "change": to_text(
            {
                "action": entry.action,
                "before": _standing_to_json(entry.before),
                "ruled": to_json(entry.ruled) if entry.ruled else None,
                "place": [entry.place.folder, entry.place.path] if entry.place else None,
            }
        ),
        "spreadPending": entry.spread_pending,
    }


def entry_from_record(record: Mapping[str, Any], token: str) -> RegistryEntry:
    # Entries written before changes were kept have none.
    change = json.loads(record.get("change", '{"action":"register","before":null,"ruled":null}'))
    return RegistryEntry(
        corpus=record["corpus"],
        document_id=record["documentId"],
        current_version=record["currentVersion"],
        access=from_json(record["access"]),
        deleted=record["deleted"],
        sequence=record["sequence"],
        updated_at=record["updatedAt"],
        updated_by=record["updatedBy"],
        action=change["action"],
        before=_standing_from_json(change["before"]),
        ruled=from_json(change["ruled"]) if change["ruled"] else None,
        spread_pending=record.get("spreadPending", False),
        place=Place(*change["place"]) if change.get("place") else None,
        token=token,
    )


def change_to_record(change: RegistryChange) -> dict[str, Any]:
    return {
        "corpus": change.corpus,
        "documentId": change.document_id,
        "sequence": change.sequence,
        "action": change.action,
        "who": change.who,
        "at": change.at,
        "before": to_text(_standing_to_json(change.before)),
        "after": to_text(_standing_to_json(change.after)),
    }


def change_from_record(record: Mapping[str, Any]) -> RegistryChange:
    after = _standing_from_json(json.loads(record["after"]))
    assert after is not None
    return RegistryChange(
        corpus=record["corpus"],
        document_id=record["documentId"],
        sequence=record["sequence"],
        action=record["action"],
        who=record["who"],
        at=record["at"],
        before=_standing_from_json(json.loads(record["before"])),
        after=after,
    )


def manifest_to_text(manifest: Manifest) -> str:
    """The whole manifest but its token, which is the store's."""
    return _without_token(manifest)


def manifest_from_text(text: str, token: str) -> Manifest:
    record = json.loads(text)
    record["processors"] = Processors(**record["processors"])
    return Manifest(**record, token=token)


def job_to_text(job: Job) -> str:
    return _without_token(job)


def job_from_text(text: str, token: str) -> Job:
    record = json.loads(text)
    record["log"] = tuple(record["log"])
    return Job(**record, token=token)


def lease_to_text(lease: Lease) -> str:
    return _without_token(lease)


def lease_from_text(text: str, token: str) -> Lease:
    return Lease(**json.loads(text), token=token)


def review_to_text(review: Review) -> str:
    return _without_token(review)


def review_from_text(text: str, token: str) -> Review:
    record = json.loads(text)
    said = record["undecided"]
    citations = [CitedSpan(**{**cited, "span": Span(**cited["span"])}) for cited in said["citations"]]
    undecided = Undecided(said["claim"], said["reason"], tuple(citations), tuple(said["documents"]))
    return Review(**{**record, "undecided": undecided}, token=token)


def _without_token(value: Manifest | Job | Lease | Review) -> str:
    record = dataclasses.asdict(value)
    del record["token"]
    return to_text(record)


def _standing_to_json(standing: Standing | None) -> dict[str, Any] | None:
    if standing is None:
        return None
    return {"version": standing.version, "access": to_json(standing.access), "deleted": standing.deleted}


def _standing_from_json(value: Mapping[str, Any] | None) -> Standing | None:
    if value is None:
        return None
    return Standing(value["version"], from_json(value["access"]), value["deleted"])


def _span_to_json(span: Span | None) -> list[int] | None:
    return None if span is None else [span.start, span.end]


def _span_from_json(value: list[int] | None) -> Span | None:
    return None if value is None else Span(*value)


def _block_to_json(block: Block) -> dict[str, Any]:
    record = {
        "kind": block.kind,
        "span": _span_to_json(block.span),
        "headingPath": list(block.heading_path),
        "level": block.level,
        "parts": [_span_to_json(part) for part in block.parts],
        "head": _span_to_json(block.head),
        "caption": _span_to_json(block.caption),
        "language": block.language,
        "page": block.page,
        "links": [[link.span.start, link.span.end, link.href] for link in block.links],
        "ids": list(block.ids),
    }
    # Most blocks have none of the optional parts; a long document has tens of thousands of blocks.
    return {key: value for key, value in record.items() if value not in (None, [], 0) or key == "span"}


def _block_from_json(record: Mapping[str, Any]) -> Block:
    return Block(
        kind=record["kind"],
        span=Span(*record["span"]),
        heading_path=tuple(record.get("headingPath", ())),
        level=record.get("level", 0),
        parts=tuple(Span(*part) for part in record.get("parts", ())),
        head=_span_from_json(record.get("head")),
        caption=_span_from_json(record.get("caption")),
        language=record.get("language"),
        page=record.get("page"),
        links=tuple(Hyperlink(Span(start, end), href) for start, end, href in record.get("links", ())),
        ids=tuple(record.get("ids", ())),
    )
