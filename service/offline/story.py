"""THE OFFLINE STORY: from sources to a live generation. Read it top to bottom.

    ingest:   sources → parse → archive → rights → registry
    build:    registry → cut → analyse → embed → write → seal → check → ready
    publish:  check again → one alias call → live
    rollback: one alias call back; rights and deletions stay as they are now
    prune:    generations that nothing points at

Every step can be killed and run again: the archive is create-only, the registry compare-and-set, a build
fills a new generation that nobody searches, and the switch is one call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from service.domain.documents import RegistryEntry
from service.domain.generations import Generation, Manifest, Processors, check_corpus_name
from service.domain.ports import Embedder, Engine, IndexSettings
from service.domain.sources import ParsedDocument, Selection, SourceItem
from service.errors import AttestError, BuildRefused, Conflict, InvalidInput
from service.offline import rights
from service.offline.generations import identity, indexing, switch
from service.offline.generations.checks import CheckResult, faults, run_checks
from service.offline.ingest import clusters, links
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse, parser_versions
from service.offline.ingest.report import IngestReport
from service.offline.ingest.sources import EVERYTHING
from service.offline.intake import Intake, Progress
from service.profiles.corpus import CorpusProfile
from service.text.analysis import ANALYZER_VERSION

Item = TypeVar("Item")
_BATCH = 256  # chunks embedded and written together


@dataclass(frozen=True, slots=True)
class Offline:
    """The offline path with the parts it works with, put together by bootstrap."""

    engine: Engine
    embedder: Embedder
    chunker: Chunker
    mapping_version: str
    index: IndexSettings
    who: str

    def ingest(
        self,
        corpus: str,
        sources: Sequence[Path],
        profile: CorpusProfile,
        access_flag: Mapping[str, Any] | None,
        progress: Progress,
        *,
        selection: Selection = EVERYTHING,
        most_deletions: float | None = None,
        parse: Callable[[SourceItem], ParsedDocument] = parse,
    ) -> IngestReport:
        """Reads sources into archive and registry (intake.py). One bad file never stops the others: it is reported.

        Documents whose files are gone are deleted where `most_deletions` says up to which share of a folder.
        """
        check_corpus_name(corpus)
        self.engine.registry.write_corpus_profile(corpus, profile.model_dump(mode="json"))
        intake = Intake(self.engine, self.who, corpus, profile, access_flag, parse, selection, most_deletions)
        return intake.run(sources, progress)

    def build(self, corpus: str, progress: Progress) -> Manifest:
        """A new generation beside the live one: filled, sealed, checked, and ready; or failed with the reason.

        Raises BuildRefused when there is nothing to build from or a check does not hold.
        """
        manifest, entries = self._plan(corpus)
        generation = _generation(manifest)
        self.engine.generations.create(generation, self.index)
        try:
            manifest = self._fill(manifest, entries, progress)
            self.engine.generations.seal(generation, self.index)
            manifest = self._advance(manifest, state="validating")
            results = self._recheck(manifest)
        except AttestError as error:
            self._advance(manifest, state="failed", reason=error.message)
            raise
        manifest = replace(manifest, checks=[result.to_json() for result in results])
        if reason := faults(results):
            self._advance(manifest, state="failed", reason=reason)
            raise BuildRefused(
                f"{generation.name} does not pass its checks: {reason}. What is live is untouched."
            )
        return self._advance(manifest, state="ready")

    def is_current(self, generation_name: str) -> bool:
        """Whether a new build would have the same corpusVersion and the same corpus profile."""
        manifest = self._manifest(generation_name)
        documents = {
            e.document_id: e.current_version
            for e in self.engine.registry.scan(manifest.corpus)
            if not e.deleted
        }
        return (
            identity.corpus_version(documents, self._processors()) == manifest.corpus_version
            and self.engine.registry.corpus_profile(manifest.corpus) == manifest.corpus_profile
        )

    def _processors(self) -> Processors:
        return Processors(
            parsers=parser_versions(),
            chunker=self._cutting,
            analyzer=ANALYZER_VERSION,
            embedder=self.embedder.identity,
            mapping=self.mapping_version,
        )

    @property
    def _cutting(self) -> str:
        """All that decides what a chunk is, and what is known of its place among the others."""
        return "+".join((self.chunker.version, links.VERSION, clusters.VERSION))

    def _plan(self, corpus: str) -> tuple[Manifest, dict[str, RegistryEntry]]:
        profile = self.engine.registry.corpus_profile(check_corpus_name(corpus))
        entries = {e.document_id: e for e in self.engine.registry.scan(corpus) if not e.deleted}
        if profile is None or not entries:
            raise BuildRefused(f"Corpus {corpus!r} has no documents yet; read some with `attest ingest`.")
        if profile.get("single_tenant"):
            strange = sorted(name for name, e in entries.items() if e.access.tenant != profile["tenant"])
            if strange:
                raise BuildRefused(
                    f"Corpus {corpus!r} is for tenant {profile['tenant']!r} only; {strange[0]!r} belongs to another. "
                    f"Take it out with `attest access delete {corpus} {strange[0]}`."
                )
        documents = {document_id: entry.current_version for document_id, entry in entries.items()}
        processors = self._processors()
        version = identity.corpus_version(documents, processors)
        taken = {
            *self.engine.generations.names(corpus),
            *(m.generation for m in self.engine.builds.scan(corpus)),
        }
        generation = identity.next_generation(self.engine.prefix, corpus, version, taken)
        manifest = Manifest(
            generation=generation.name,
            corpus=corpus,
            corpus_version=version,
            state="building",
            processors=processors,
            documents=documents,
            chunks=0,
            chunks_per_document={},
            dimension=self.embedder.dimension,
            vector_index=self.index.vector_index,
            corpus_profile=profile,
            created_at=_now(),
            updated_at=_now(),
            updated_by=self.who,
        )
        return self.engine.builds.write(manifest), entries

    def _fill(self, manifest: Manifest, entries: Mapping[str, RegistryEntry], progress: Progress) -> Manifest:
        """cut → analyse → embed → write, in batches; then the manifest tells what went in."""
        started = time.perf_counter()
        generation = _generation(manifest)
        cut, figures = _related([self._cut(entry) for entry in entries.values()])
        pairs = [(document, chunk) for document in cut for chunk in document.chunks]
        if not pairs:
            raise BuildRefused("None of the documents has any text to index.")
        known = indexing.known_vectors(self.engine, manifest)
        done = reused = 0
        refused: list[str] = []
        for batch in _batches(pairs):
            texts = [indexing.embedded_text(owner.document.title, chunk) for owner, chunk in batch]
            vectors, again = indexing.embed(texts, self.embedder, known)
            triples = ((owner, chunk, vector) for (owner, chunk), vector in zip(batch, vectors, strict=True))
            report = self.engine.generations.write(
                generation, indexing.index_chunks(generation, self._cutting, triples)
            )
            refused += [f"{r.chunk_id}: {r.reason}" for r in report.refused]
            done, reused = done + len(batch), reused + again
            progress("build", done, len(pairs))
        if refused:
            raise BuildRefused(
                f"The engine refused {len(refused)} of {len(pairs)} chunks: " + "; ".join(refused[:5])
            )
        seconds = time.perf_counter() - started
        timings = {"fillSeconds": round(seconds, 3), "vectorsReused": float(reused)} | figures
        counts = {document.document.document_id: len(document.chunks) for document in cut}
        return self._advance(
            replace(manifest, chunks=len(pairs), chunks_per_document=counts, timings=timings),
            state="building",
        )

    def _cut(self, entry: RegistryEntry) -> indexing.CutDocument:
        key = (entry.document_id, entry.current_version)
        document = self.engine.archive.get_many([key]).get(key)
        if document is None:
            raise BuildRefused(f"{entry.document_id!r} is registered, but its version is not in the archive.")
        chunks = self.chunker.cut(
            document.document_id,
            document.document_version,
            document.canonical_text,
            document.blocks,
            document.title,
        )
        return indexing.CutDocument(document, entry.access, tuple(chunks))

    def check(self, generation_name: str) -> list[CheckResult]:
        """The integrity checks of a generation, every chunk of it, against archive and registry as they are now."""
        manifest = self._manifest(generation_name)
        registry = {entry.document_id: entry for entry in self.engine.registry.scan(manifest.corpus)}
        chunks = self.engine.generations.scan(_generation(manifest), vectors=True)
        return run_checks(manifest, chunks, self.engine.archive.get_many, registry)

    def publish(self, corpus: str, generation_name: str | None) -> tuple[Manifest, switch.Switched]:
        """Makes a ready generation live (the newest ready one when none is named). Raises BuildRefused."""
        manifest = self._manifest(generation_name) if generation_name else self._newest_ready(corpus)
        if manifest.corpus != corpus or manifest.state not in ("ready", "live", "retained"):
            raise BuildRefused(
                f"{manifest.generation} is {manifest.state} and belongs to {manifest.corpus!r}."
            )
        if manifest.processors.embedder != self.embedder.identity:
            raise BuildRefused(
                f"{manifest.generation} was built with {manifest.processors.embedder}, this service runs "
                f"{self.embedder.identity}: queries and index would not speak the same language."
            )
        if reason := faults(self._recheck(manifest)):
            raise BuildRefused(
                f"{manifest.generation} no longer passes its checks: {reason}. What is live stays."
            )
        switched = switch.switch_to(self.engine, _generation(manifest))
        for other in self.engine.builds.scan(corpus):
            if other.state == "live" and other.generation != manifest.generation:
                self._advance(other, state="retained")
        return self._advance(manifest, state="live", replaced=switched.before), switched

    def _recheck(self, manifest: Manifest) -> list[CheckResult]:
        """Rights may have changed since the build read them: bring them in line first, deletions included."""
        for entry in rights.pending(self.engine, manifest.corpus):
            rights.finish(self.engine, entry)
        registry = {entry.document_id: entry for entry in self.engine.registry.scan(manifest.corpus)}
        rights.align(self.engine, _generation(manifest), registry)
        left = {d: v for d, v in manifest.documents.items() if d in registry and not registry[d].deleted}
        counts = {d: count for d, count in manifest.chunks_per_document.items() if d in left}
        now = replace(manifest, documents=left, chunks_per_document=counts, chunks=sum(counts.values()))
        chunks = self.engine.generations.scan(_generation(manifest), vectors=True)
        return run_checks(now, chunks, self.engine.archive.get_many, registry)

    def rollback(self, corpus: str) -> tuple[Manifest, switch.Switched]:
        """Back to the generation that was live before, by one alias call. Rights and deletions stay."""
        live = switch.live_generation(self.engine, corpus)
        if live is None:
            raise BuildRefused(f"Corpus {corpus!r} has no live generation to roll back from.")
        before = self._manifest(live).replaced
        if before is None or before not in self.engine.generations.names(corpus):
            raise BuildRefused(
                f"{live} replaced no generation that still exists; there is nothing to go back to."
            )
        return self.publish(corpus, before)

    def prune(self, corpus: str, *, keep: int, dry_run: bool) -> tuple[str, ...]:
        """Drops generations that no live alias points at, except the `keep` newest. Returns their names."""
        names = switch.prunable(
            self.engine.generations.names(corpus), self.engine.generations.aliases(corpus), keep
        )
        if not dry_run:
            for name in names:
                generation = Generation.parse(name)
                if generation is not None:
                    self.engine.generations.drop(generation)
                manifest = self.engine.builds.get(name)
                if manifest is not None:
                    self._advance(manifest, state="pruned")
        return names

    # ── shared by the steps ─────────────────────────────────────────────────────────────────────────────

    def _manifest(self, generation_name: str) -> Manifest:
        manifest = self.engine.builds.get(generation_name)
        if manifest is None:
            raise InvalidInput(
                f"There is no generation {generation_name!r}; `attest generations` lists them."
            )
        return manifest

    def _newest_ready(self, corpus: str) -> Manifest:
        ready = [m for m in self.engine.builds.scan(corpus) if m.state == "ready"]
        if not ready:
            raise BuildRefused(
                f"Corpus {corpus!r} has no generation that is ready; make one with `attest build`."
            )
        return ready[-1]

    def _advance(self, manifest: Manifest, **changes: Any) -> Manifest:
        changed = replace(manifest, updated_at=_now(), updated_by=self.who, **changes)
        try:
            return self.engine.builds.write(changed)
        except Conflict as error:
            raise Conflict(
                f"Somebody else is working on {manifest.generation}; look with `attest generations`."
            ) from error


def _related(cut: list[indexing.CutDocument]) -> tuple[list[indexing.CutDocument], dict[str, float]]:
    """The documents with what only a look at all of them tells: where their chunks point, and what repeats them."""
    chunks = clusters.clustered(links.linked([(one.document, one.chunks) for one in cut]))
    related = [replace(one, chunks=tuple(own)) for one, own in zip(cut, chunks, strict=True)]
    return related, links.tally(chunks) | clusters.tally(chunks)


def _generation(manifest: Manifest) -> Generation:
    generation = Generation.parse(manifest.generation)
    if generation is None:
        raise BuildRefused(f"{manifest.generation!r} is not the name of a generation.")
    return generation


def _batches(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
