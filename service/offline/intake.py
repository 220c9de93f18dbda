"""THE FIRST STEP OF THE OFFLINE STORY: sources into archive and registry. Read it top to bottom.

    source → look (id, version, front matter) → rights → the same as registered? then nothing
           → parse → archive → registry
    at the end: what is gone from the folders, what has the same content

A document that is unchanged costs a hash and a look at its front matter; it is never parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from service.domain.documents import ArchivedDocument, RegistryEntry
from service.domain.ports import Engine
from service.domain.rights import Access
from service.domain.sources import Front, ParsedDocument, Selection, SourceFault, SourceItem
from service.errors import AttestError, Conflict, InvalidInput, SourceUnreadable
from service.offline import rights
from service.offline.ingest.parsing import look
from service.offline.ingest.report import IngestReport
from service.offline.ingest.sources import read_sources, resolve_access, selected
from service.profiles.corpus import CorpusProfile
from service.text.spans import sha256_text

Progress = Callable[[str, int, int], None]  # step, done, total (0 when unknown)


@dataclass(frozen=True, slots=True)
class Intake:
    """One reading of sources into a corpus. `most_deletions` is the share of a folder's documents that may be deleted
    because their files are gone; None deletes none."""

    engine: Engine
    who: str
    corpus: str
    profile: CorpusProfile
    access_flag: Mapping[str, Any] | None
    parse: Callable[[SourceItem], ParsedDocument]
    selection: Selection
    most_deletions: float | None
    report: IngestReport = field(default_factory=IngestReport)
    _known: dict[str, RegistryEntry] = field(default_factory=dict)
    _arrived: list[str] = field(default_factory=list)
    _hashes: dict[str, str] = field(default_factory=dict)

    def run(self, sources: Sequence[Path], progress: Progress) -> IngestReport:
        """One bad file never stops the others: it is reported."""
        for registered in self.engine.registry.scan(self.corpus):
            entry = self._finished(registered)
            self._known[entry.document_id] = entry
            if not entry.deleted:
                self._hashes[entry.document_id] = _content(entry.current_version)
        items = read_sources(sources, self.selection, self.report.survey)
        for count, item in enumerate(items, 1):
            progress("ingest", count, 0)
            if isinstance(item, SourceFault):
                self.report.refused.append((item.origin, item.reason))
                continue
            try:
                self._take(item)
            except (SourceUnreadable, InvalidInput, Conflict) as error:
                self.report.refused.append((item.origin, error.message))
        self._find_gone()
        self.report.relate(self._arrived, self._hashes)
        return self.report

    def _finished(self, entry: RegistryEntry) -> RegistryEntry:
        """The entry, once the chunks carry its rights: a run that was killed may have left the spread undone."""
        if not entry.spread_pending:
            return entry
        try:
            return rights.finish(self.engine, entry)[0]
        except AttestError as error:
            self.report.unfinished.append((entry.document_id, error.message))
            return entry

    def _take(self, item: SourceItem) -> None:
        front = look(item)
        access = resolve_access(front, item, self.access_flag, self.profile)
        document_id = front.document_id
        if (other := self.report.origins.get(document_id, item.origin)) != item.origin:
            raise SourceUnreadable(f"its id {document_id!r} is that of {other} too")
        known = self._known.get(document_id)
        if known is None:
            self._register(item, front, access)
        else:
            self._compare(item, front, access, known)
        self.report.origins[document_id] = item.origin

    def _register(self, item: SourceItem, front: Front, access: Access) -> None:
        self._archive(item)
        entry = RegistryEntry(
            self.corpus, front.document_id, front.version, access, False, 1, _now(), self.who
        )
        self.engine.registry.write(replace(entry, ruled=access, place=item.place))
        self.report.added.append(front.document_id)
        self._arrives(front)

    def _compare(self, item: SourceItem, front: Front, access: Access, known: RegistryEntry) -> None:
        if known.access.tenant != access.tenant:
            raise SourceUnreadable(
                f"{known.document_id!r} belongs to another tenant in this corpus; give it another id."
            )
        if known.deleted and not rights.only_missing(self.engine, known):
            raise _withdrawn(known)
        if _read_again(known, item, front, access) == known:
            self.report.unchanged.append(known.document_id)
            return
        if front.version != known.current_version:
            self._archive(item)
        self._change(item, front, access, known)

    def _change(self, item: SourceItem, front: Front, access: Access, known: RegistryEntry) -> None:
        def change(entry: RegistryEntry) -> RegistryEntry:
            # Somebody may have deleted it since this run began; only what was seen to be missing comes back.
            if entry.deleted and entry.sequence != known.sequence:
                raise _withdrawn(entry)
            return _read_again(entry, item, front, access)

        changed = rights.change_rights(
            self.engine,
            self.corpus,
            known.document_id,
            change,
            action="ingest",
            who=self.who,
            now=_now(),
        )
        if changed.unfinished:
            self.report.unfinished.append((known.document_id, changed.unfinished))
        if known.deleted:
            self.report.returned.append(known.document_id)
        elif replace(_read_again(known, item, front, access), place=known.place) == known:
            self.report.unchanged.append(known.document_id)  # it only lies elsewhere
        else:
            self.report.updated.append(known.document_id)
        if front.version != known.current_version:
            self._arrives(front)
        elif known.deleted:
            self._hashes[known.document_id] = _content(front.version)

    def _archive(self, item: SourceItem) -> None:
        parsed = self.parse(item)
        self.engine.archive.put(archived(parsed, item, self.profile))
        self.report.note(parsed)

    def _arrives(self, front: Front) -> None:
        self._arrived.append(front.document_id)
        self._hashes[front.document_id] = _content(front.version)

    def _find_gone(self) -> None:
        """Documents of the folders, as far as these were looked at, whose files are no longer there."""
        living: dict[str, int] = {}
        gone: dict[str, list[str]] = {}
        for entry in self._known.values():
            place = entry.place
            if place is None or entry.deleted or not selected(self.selection, place.path):
                continue
            if place.folder not in self.report.survey.present:
                continue
            living[place.folder] = living.get(place.folder, 0) + 1
            if self.report.survey.is_gone(place) and entry.document_id not in self.report.origins:
                gone.setdefault(place.folder, []).append(entry.document_id)
        self.report.gone += [document_id for ids in gone.values() for document_id in ids]
        if self.most_deletions is None:
            return
        for folder, ids in gone.items():
            if len(ids) > self.most_deletions * living[folder]:
                self.report.stopped = (
                    f"{len(ids)} of {living[folder]} documents of {folder} are no longer there, more than "
                    f"{self.most_deletions:.0%}; nothing was deleted. If that is right, repeat it with "
                    "--max-deletions 100%."
                )
                return
        for document_id in self.report.gone:
            self._delete(document_id)

    def _delete(self, document_id: str) -> None:
        seen = self._known[document_id].place
        changed = rights.change_rights(
            self.engine,
            self.corpus,
            document_id,
            # Read from elsewhere meanwhile, it is not gone.
            lambda entry: replace(entry, deleted=entry.deleted or entry.place == seen),
            action=rights.MISSING,
            who=self.who,
            now=_now(),
        )
        self.report.deleted.append(document_id)
        if changed.unfinished:
            self.report.unfinished.append((document_id, changed.unfinished))


def _read_again(known: RegistryEntry, item: SourceItem, front: Front, access: Access) -> RegistryEntry:
    entry = rights.after_reading(known, front.version, access)
    return replace(entry, deleted=False, place=item.place or known.place)


def _withdrawn(entry: RegistryEntry) -> SourceUnreadable:
    return SourceUnreadable(
        f"{entry.document_id!r} was withdrawn; `attest access restore {entry.corpus} {entry.document_id}` lets it "
        "in again."
    )


def _content(version: str) -> str:
    """The sha256 of the bytes, without the form of the reader."""
    return version.partition(".")[0]


def archived(parsed: ParsedDocument, item: SourceItem, profile: CorpusProfile) -> ArchivedDocument:
    """The document version as it is kept for good."""
    return ArchivedDocument(
        document_id=parsed.document_id,
        document_version=parsed.version,
        raw_sha256=parsed.raw_sha256,
        canonical_text=parsed.canonical_text,
        canonical_sha256=sha256_text(parsed.canonical_text),
        media_type=item.media_type,
        parser_version=parsed.parser_version,
        title=parsed.title,
        # What its letters do not tell, the corpus may.
        locale=profile.locale if parsed.locale == "other" and profile.locale else parsed.locale,
        canonical_url=item.canonical_url,
        blocks=parsed.blocks,
        archived_at=_now(),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
