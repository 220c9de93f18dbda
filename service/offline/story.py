"""THE OFFLINE STORY: from sources to a live generation. Read it top to bottom.

    ingest:   sources → parse → archive → rights → registry
    build:    registry → cut → analyse → embed → write → seal → check → ready
    publish:  rights → checks and gates → one alias call → live
    rollback: rights → one alias call back; rights and deletions stay as they are now
    prune:    generations that nothing points at
    repair:   what is at odds and has one right mending

Every step can be killed and run again: the archive is create-only, the registry compare-and-set, a build
fills a new generation that nobody searches, and the switch is one call. One build and one switch at a time work on
a corpus, each under a lease (work.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from service.domain.documents import IndexedChunk, RegistryEntry
from service.domain.generations import Generation, Manifest, Processors, check_corpus_name
from service.domain.jobs import Job, Slot
from service.domain.ports import Embedder, Engine, IndexSettings
from service.domain.sources import ParsedDocument, Selection, SourceItem
from service.errors import AttestError, BuildRefused, Conflict
from service.offline import rights
from service.offline.filling import Filling
from service.offline.generations import gates, switch
from service.offline.generations.checks import CheckResult, counted, faults, run_checks
from service.offline.generations.gates import Force, GateResult, Trial, without_withdrawn
from service.offline.generations.lifecycle import Lifecycle, now
from service.offline.generations.planning import is_current, planned
from service.offline.generations.repair import Actual, Finding, planned_repair
from service.offline.generations.sampling import Sample
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse, parser_versions
from service.offline.ingest.report import IngestReport
from service.offline.ingest.sources import EVERYTHING
from service.offline.intake import Intake, Progress
from service.offline.work import Desk, Work, jobs_of, new_job
from service.profiles.corpus import CorpusProfile, laid_out
from service.profiles.gates import gates_of
from service.text.analysis import ANALYZER_VERSION


def quiet(step: str, done: int, total: int) -> None:
    """Where nobody watches the progress."""


@dataclass(frozen=True, slots=True)
class Offline:
    """The offline path with the parts it works with, put together by bootstrap. `trial` asks a generation real
    questions before it goes live; without it only what needs no question is looked at."""

    engine: Engine
    embedder: Embedder
    chunker: Chunker
    mapping_version: str
    index: IndexSettings
    who: str
    trial: Trial | None = None

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

    # ── build ───────────────────────────────────────────────────────────────────────────────────────────

    def build(self, corpus: str, progress: Progress, *, job: Job | None = None) -> Manifest:
        """A new generation beside the live one: filled, sealed, checked, and ready; or failed with the reason.

        A build that was killed is found by the next one: what it had checked is gone on with, else it is thrown away
        once its vectors are taken over. Raises BuildRefused when there is nothing to build from or a check does not
        hold, Conflict while somebody else builds the same corpus.
        """
        with self._working("build", corpus, "build", progress, job) as work:
            self._lifecycle.settle(corpus)
            plan, entries = planned(self.engine, corpus, self._processors(corpus), self.index, self.who)
            left = self._lifecycle.abandoned(corpus)
            manifest = self._sealed_already(left, plan, work)
            if manifest is None:
                manifest = self._filled_and_sealed(plan, entries, left, work)
            work.progress("check", 0, 1)
            work.keep({"generation": manifest.generation})
            return manifest if manifest.state == "ready" else self._checked(manifest, work.progress)

    def is_current(self, generation_name: str) -> bool:
        """Whether a new build would have the same corpusVersion and the same corpus profile (gates aside)."""
        manifest = self._lifecycle.manifest(generation_name)
        return is_current(self.engine, manifest, self._processors(manifest.corpus))

    def _processors(self, corpus: str) -> Processors:
        profile = self.engine.registry.corpus_profile(corpus) or {}
        return Processors(
            parsers=parser_versions(),
            chunker=self._filling.version,
            analyzer=ANALYZER_VERSION,
            embedder=self.embedder.identity,
            mapping=self.mapping_version,
            tokens=self.embedder.token_identity if profile.get("token_vectors") else "",
        )

    def _sealed_already(self, left: Sequence[Manifest], plan: Manifest, work: Work) -> Manifest | None:
        """A killed build of the very same corpusVersion that only its checks, or its last word, are missing of."""
        wanted = plan.corpus_version, plan.corpus_profile
        ready = [m for m in self.engine.builds.scan(plan.corpus) if m.state == "ready"]
        for manifest in [*left, *(m for m in ready if work.took_over("build", generation=m.generation))]:
            same = (manifest.corpus_version, manifest.corpus_profile) == wanted
            if same and manifest.state != "building":
                return manifest
        return None

    def _filled_and_sealed(
        self, plan: Manifest, entries: Mapping[str, RegistryEntry], left: Sequence[Manifest], work: Work
    ) -> Manifest:
        left = [self._lifecycle.move(m, "failed", "its process ended before it was done") for m in left]
        manifest = self._lifecycle.begin(plan)
        generation, layout = _generation(manifest), laid_out(manifest.corpus_profile, self.index)
        try:
            self.engine.generations.create(generation, layout)
            filled = self._filling.fill(manifest, generation, entries, work.progress)
            for abandoned in left:
                with suppress(Conflict):  # A prune was here meanwhile.
                    self._lifecycle.drop(abandoned)
            manifest = self._lifecycle.note(
                manifest,
                chunks=filled.chunks,
                chunks_per_document=filled.chunks_per_document,
                timings=filled.figures,
            )
            work.progress("seal", 0, 1)
            self.engine.generations.seal(generation, layout)
            return self._lifecycle.move(manifest, "validating")
        except AttestError as error:
            self._failed(manifest, error.message)
            raise

    def _checked(self, manifest: Manifest, progress: Progress) -> Manifest:
        try:
            registry = self._align(manifest)  # Rights may have changed since the build read them.
            current = without_withdrawn(manifest, registry)
            chunks = self._chunks(current, progress)
            results = self._checks(current, chunks, registry)
        except AttestError as error:
            self._failed(manifest, error.message)
            raise
        checks = [result.to_json() for result in results]
        if reason := faults(results):
            self._lifecycle.move(manifest, "failed", reason, checks=checks)
            raise BuildRefused(
                f"{manifest.generation} does not pass its checks: {reason}. What is live is untouched."
            )
        return self._lifecycle.move(manifest, "ready", checks=checks)

    def _failed(self, manifest: Manifest, reason: str) -> None:
        # Where not even this can be written, the next build finds it half done and says so itself.
        with suppress(AttestError):
            self._lifecycle.move(manifest, "failed", reason)

    # ── check, gate ─────────────────────────────────────────────────────────────────────────────────────

    def check(self, generation_name: str, progress: Progress = quiet) -> list[CheckResult]:
        """The integrity checks of a generation, every chunk of it, against archive and registry as they are now."""
        manifest = self._lifecycle.manifest(generation_name)
        registry = {entry.document_id: entry for entry in self.engine.registry.scan(manifest.corpus)}
        return self._integrity(without_withdrawn(manifest, registry), registry, progress)

    def gate(
        self, corpus: str, generation_name: str | None, progress: Progress = quiet
    ) -> tuple[Manifest, list[GateResult]]:
        """What a publish would look at, each with number and limit; nothing is switched."""
        manifest = self._lifecycle.candidate(corpus, generation_name)
        return manifest, self._gates(manifest, progress)

    def _integrity(
        self, manifest: Manifest, registry: Mapping[str, RegistryEntry], progress: Progress
    ) -> list[CheckResult]:
        """What every chunk must be, and of a sample, whether it is what would be made of its document now."""
        sample = Sample(manifest)
        chunks = sample.watching(self._chunks(manifest, progress))
        results = self._checks(manifest, chunks, registry)
        cut = (self._filling.version, self.chunker.cut)
        return [*results, sample.check(self.engine.archive.get_many, cut, self.embedder)]

    def _checks(
        self, manifest: Manifest, chunks: Iterable[IndexedChunk], registry: Mapping[str, RegistryEntry]
    ) -> list[CheckResult]:
        kept = self.engine.generations.token_rights(_generation(manifest))
        return run_checks(manifest, chunks, kept, self.engine.archive.get_many, registry)

    def _chunks(self, manifest: Manifest, progress: Progress) -> Iterator[IndexedChunk]:
        chunks = self.engine.generations.scan(
            _generation(manifest), vectors=True, tokens=bool(manifest.processors.tokens)
        )
        return counted(chunks, manifest.chunks, progress)

    def _align(self, manifest: Manifest) -> dict[str, RegistryEntry]:
        registry = self._registered(manifest.corpus)
        rights.align(self.engine, _generation(manifest), registry)
        return registry

    def _registered(self, corpus: str) -> dict[str, RegistryEntry]:
        """The registry, once every change of rights has reached the chunks."""
        for entry in rights.pending(self.engine, corpus):
            rights.finish(self.engine, entry)
        return {entry.document_id: entry for entry in self.engine.registry.scan(corpus)}

    def _gates(self, manifest: Manifest, progress: Progress) -> list[GateResult]:
        live = switch.live_generation(self.engine, manifest.corpus, among_several=True)
        before = self.engine.builds.get(live) if live and live != manifest.generation else None
        # Changes of rights reach every generation by themselves: one that is not as registered is not mended here.
        registry = self._registered(manifest.corpus)
        manifest = without_withdrawn(manifest, registry)
        results = gates.standing_gates(
            manifest,
            without_withdrawn(before, registry) if before else None,
            self._integrity(manifest, registry, progress),
            gates_of(self.engine.registry.corpus_profile(manifest.corpus)),
            self._processors(manifest.corpus),
        )
        # Nothing is asked of a generation that is not whole or shows what it may not.
        if self.trial is not None and all(result.passed or result.may_be_forced for result in results):
            results += self.trial(manifest, before, progress)
        return results

    # ── publish, rollback, prune ────────────────────────────────────────────────────────────────────────

    def publish(
        self,
        corpus: str,
        generation_name: str | None,
        progress: Progress = quiet,
        *,
        force: Force | None = None,
        job: Job | None = None,
    ) -> tuple[Manifest, switch.Switched]:
        """Makes a ready generation live (the newest ready one when none is named), if every gate lets it through.

        With `force`, gates that may be forced are passed over, and the manifest says by whom and why. Run again after
        a crash, it goes by what the aliases say. Raises BuildRefused.
        """
        with self._working("switch", corpus, "publish", progress, job) as work:
            manifest = self._lifecycle.candidate(corpus, generation_name)
            if manifest.processors.embedder != self.embedder.identity:
                raise BuildRefused(
                    f"{manifest.generation} was built with {manifest.processors.embedder}, this service runs "
                    f"{self.embedder.identity}: queries and index would not speak the same language."
                )
            work.progress("gates", 0, 1)
            results = self._gates(manifest, work.progress)
            judgement = gates.judged(results, force, self.who)
            manifest = self._lifecycle.note(manifest, judgement.remark, gates=judgement.record)
            if judgement.refusal:
                raise BuildRefused(f"{manifest.generation} may not go live: {judgement.refusal}.")
            return self._switched(manifest, work, remember=True)

    def rollback(
        self, corpus: str, progress: Progress = quiet, *, job: Job | None = None
    ) -> tuple[Manifest, switch.Switched]:
        """Back to what was live before this generation was published first, by one alias call. Rights and deletions
        stay as they are now; no gate is asked, since what was live is what is wanted back."""
        with self._working("switch", corpus, "rollback", progress, job) as work:
            self._lifecycle.settle(corpus)
            live = switch.live_generation(self.engine, corpus)
            if live is None:
                raise BuildRefused(f"Corpus {corpus!r} has no live generation to roll back from.")
            if work.took_over("rollback", to=live):
                # Killed after its alias call: once more would be one too far.
                manifest = self._lifecycle.manifest(live)
                touched = self._touched(manifest, work)
                switched = switch.Switched(live, None, False, touched.withdrawn, touched.changed)
                return manifest, switched
            before = self._lifecycle.manifest(live).replaced
            if before is None or before not in self.engine.generations.names(corpus):
                raise BuildRefused(
                    f"{live} replaced no generation that still exists; there is nothing to go back to."
                )
            manifest = self._lifecycle.manifest(before)
            if manifest.processors.embedder != self.embedder.identity:
                raise BuildRefused(
                    f"{before} was built with {manifest.processors.embedder}, this service runs "
                    f"{self.embedder.identity}; start it with that embedder to go back."
                )
            work.progress("rights", 0, 1)
            self._align(manifest)
            touched = self._touched(manifest, work)
            manifest, switched = self._switched(manifest, work, remember=False)
            return manifest, replace(switched, withdrawn=touched.withdrawn, rights_changed=touched.changed)

    def _touched(self, manifest: Manifest, work: Work) -> rights.Touched:
        """What happened to the rights of a generation's documents since it was built."""
        touched = rights.changed_since(self.engine, manifest.documents, manifest.corpus, manifest.created_at)
        work.keep({"withdrawn": touched.withdrawn, "rightsChanged": touched.changed})
        return touched

    def _switched(
        self, manifest: Manifest, work: Work, *, remember: bool
    ) -> tuple[Manifest, switch.Switched]:
        """The one alias call, between the notes that let a rerun find out what it did."""
        generation = _generation(manifest)
        before = switch.live_generation(self.engine, manifest.corpus, among_several=True)
        if remember and before is not None and before != manifest.generation:
            manifest = self._lifecycle.note(manifest, replaced=before)
        work.keep({"from": before, "to": manifest.generation})
        work.still_ours()
        switched = switch.switch_to(self.engine, generation)
        settled = {m.generation: m for m in self._lifecycle.settle(manifest.corpus, "")}
        return settled[manifest.generation], switched

    def prune(
        self, corpus: str, *, keep: int, dry_run: bool, window_h: float = 0, job: Job | None = None
    ) -> tuple[str, ...]:
        """Drops failed generations and those that were live, except the `keep` newest and what was live within the
        last `window_h` hours. Never one that is live, being built, or ready and newer than live. Their names."""
        with self._working("switch", corpus, "prune", quiet, job) as work:
            manifests = self._lifecycle.settle(corpus)
            going = switch.prunable(manifests, keep, window_h, now())
            work.keep({"pruned": [manifest.generation for manifest in going], "dryRun": dry_run})
            for manifest in () if dry_run else going:
                self._lifecycle.drop(manifest)
            return tuple(manifest.generation for manifest in going)

    def repair(self, corpus: str, *, dry_run: bool, job: Job | None = None) -> tuple[Finding, ...]:
        """Mends what is at odds between aliases, indices, manifests and rights, where only one mending is right; what a
        person must decide is told and left alone."""
        with self._working("switch", corpus, "repair", quiet, job) as work:
            spreads = list(rights.pending(self.engine, corpus))
            plan = planned_repair(Actual.of(self.engine, corpus, jobs_of(self.engine.jobs, corpus)))
            findings = plan.findings
            if spreads:
                what = f"{len(spreads)} changes of rights have not reached all chunks"
                findings = (Finding(what, "spreads them"), *findings)
            work.keep({"found": [asdict(finding) for finding in findings], "dryRun": dry_run})
            if not dry_run:
                for entry in spreads:
                    rights.finish(self.engine, entry)
                if plan.restored is not None:
                    self._align(plan.restored)
                work.still_ours()
                plan.make(self.engine, self._lifecycle)
            return findings

    # ── shared by the steps ─────────────────────────────────────────────────────────────────────────────

    @property
    def _lifecycle(self) -> Lifecycle:
        return Lifecycle(self.engine, self.who)

    @property
    def _filling(self) -> Filling:
        return Filling(self.engine, self.embedder, self.chunker)

    def _working(
        self, slot: Slot, corpus: str, kind: str, progress: Progress, job: Job | None
    ) -> AbstractContextManager[Work]:
        desk = Desk(self.engine.jobs, self.who)
        return desk.working(slot, job or new_job(check_corpus_name(corpus), kind, self.who), progress)


def _generation(manifest: Manifest) -> Generation:
    generation = Generation.parse(manifest.generation)
    if generation is None:
        raise BuildRefused(f"{manifest.generation!r} is not the name of a generation.")
    return generation
