"""What an ingest did."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from service.domain.sources import ParsedDocument, Survey


@dataclass(slots=True)
class IngestReport:
    """What an ingest did with every source it met. Documents are named by id, what was refused by its source."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    returned: list[str] = field(default_factory=list)  # had been deleted as missing; their files are back
    refused: list[tuple[str, str]] = field(default_factory=list)
    unfinished: list[tuple[str, str]] = field(
        default_factory=list
    )  # new rights not yet on every chunk, and why
    gone: list[str] = field(default_factory=list)  # their files are no longer there
    deleted: list[str] = field(default_factory=list)  # of those, the ones that were taken out
    stopped: str = ""  # why none was, where they were to be
    same: list[tuple[str, str]] = field(default_factory=list)  # new content that another document has too
    renamed: list[tuple[str, str]] = field(default_factory=list)  # the same, and the other's file is gone
    encodings: Counter[str] = field(default_factory=Counter)  # of the texts that were read anew
    other_encodings: list[tuple[str, str, float]] = field(
        default_factory=list
    )  # those not in UTF-8; how sure
    warnings: list[tuple[str, str]] = field(
        default_factory=list
    )  # what of a document that was read anew could not be
    origins: dict[str, str] = field(default_factory=dict)  # documentId → the source it came from
    survey: Survey = field(default_factory=Survey)

    def note(self, parsed: ParsedDocument) -> None:
        """How sure the reading of a document is, and what of it is missing."""
        self.warnings += ((parsed.document_id, warning) for warning in parsed.warnings)
        if parsed.encoding:
            self.encodings[parsed.encoding] += 1
            if parsed.encoding != "utf-8":
                self.other_encodings.append((parsed.document_id, parsed.encoding, parsed.confidence))

    def relate(self, arrived: list[str], hashes: dict[str, str]) -> None:
        """Fills in `same` and `renamed`: `arrived` are documents with new content, `hashes` all documents' contents."""
        wanted = {hashes[document_id] for document_id in arrived}
        holders: dict[str, list[str]] = {}
        for document_id, content in hashes.items():
            if content in wanted:
                holders.setdefault(content, []).append(document_id)
        gone, to_come = set(self.gone), set(arrived)
        for document_id in arrived:
            to_come.discard(
                document_id
            )  # of two that came together, the later one is the same as the earlier
            others = [
                other
                for other in holders[hashes[document_id]]
                if other != document_id and other not in to_come
            ]
            left = next((other for other in others if other in gone), None)
            if left is not None:
                gone.discard(left)  # one file cannot have become two
                self.renamed.append((document_id, left))
            elif others:
                self.same.append((document_id, others[0]))
