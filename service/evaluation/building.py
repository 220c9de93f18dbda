"""How long builds and switches take, and what readers notice of them: a build from nothing, after one document in a
hundred changed, after as many were deleted; then the same again while readers ask.

Works on a copy of the documents and on a corpus that nobody else has; seconds of one run are compared with each other.
"""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from service.domain.generations import Generation
from service.errors import InvalidInput
from service.evaluation.readers import Asked, Headers, reading
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile

CORPUS = "bench-builds"
# Formats to whose end a sentence can be added.
_EDITABLE = frozenset({".md", ".markdown", ".txt"})
_IDLE_S = 30.0
_SENTENCE_END = re.compile(r"(?<=[。.])$", re.MULTILINE)

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class BuildTimes:
    """One build: what had changed, seconds to read the sources and to build, what it took over, and bytes on disk of
    the index and of the archive after it."""

    what: str
    documents: int
    chunks: int
    read_seconds: float
    build_seconds: float
    fill_seconds: float
    vectors_reused: int
    terms_reused: int
    index_bytes: int
    archive_bytes: int


@dataclass(frozen=True, slots=True)
class SwitchTime:
    """A publish with its gates, or a rollback."""

    what: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Bench:
    """One corpus, made of copies that are then edited."""

    offline: Offline
    workspace: Path
    files: tuple[Path, ...]
    progress: Progress

    @classmethod
    def of(cls, offline: Offline, source: Path, workspace: Path, most: int, progress: Progress) -> Bench:
        """Of the documents below `source`, at most `most`, evenly taken. Raises InvalidInput when there are not two."""
        return cls(offline, workspace, tuple(_copied(source, workspace, most)), progress)

    def alone(self) -> tuple[list[BuildTimes], list[SwitchTime]]:
        """Three builds and the switches between them, while nobody asks."""
        builds = [self._build("from nothing")]
        switches = [self._publish("first publish")]
        some = self._some(100, 0)
        _add_a_sentence(some, "A sentence was added at the end of this page.")
        builds.append(self._build(f"{len(some)} changed"))
        switches += [self._publish("publish"), self._rollback(), self._publish("publish once more")]
        gone = self._some(100, 1)[: len(self.files) - 1]
        for path in gone:
            path.unlink()
        builds.append(self._build(f"{len(gone)} deleted"))
        return builds, switches

    def asked(
        self, url: str, clients: Sequence[Headers], questions: Sequence[str]
    ) -> tuple[list[BuildTimes], list[SwitchTime], list[Asked]]:
        """The same again while readers ask, and a build of which much must be embedded; then what they met in each."""
        builds, switches, moments = [], [], []

        def during(what: str, work: Callable[[], None]) -> None:
            began = time.monotonic()
            work()
            moments.append((what, began, time.monotonic()))

        def build(what: str) -> None:
            builds.append(self._build(f"{what}, while asked"))

        def switch(told: SwitchTime) -> None:
            switches.append(told)

        with reading(url, clients, CORPUS, questions) as readers:
            during("warming up", lambda: time.sleep(_IDLE_S / 3))
            during("idle", lambda: time.sleep(_IDLE_S))
            some = self._some(100, 2)
            _add_a_sentence(some, "Another sentence was added at the end of this page.")
            during("build, one in a hundred changed", lambda: build(f"{len(some)} changed"))
            during("publish", lambda: switch(self._publish("publish, while asked")))
            during("rollback", lambda: switch(self._rollback(", while asked")))
            many = self._some(10, 3)
            for path in many:
                path.write_text(
                    _SENTENCE_END.sub(" 又及。", path.read_text(encoding="utf-8")), encoding="utf-8"
                )
            during("build, one in ten rewritten", lambda: build(f"{len(many)} rewritten"))
        return builds, switches, [readers.met(*moment) for moment in moments[1:]]

    def _some(self, one_in: int, first: int) -> list[Path]:
        step = max(1, min(one_in, len(self.files)))
        return [path for path in self.files[first % len(self.files) :: step] if path.exists()]

    def _build(self, what: str) -> BuildTimes:
        offline, started = self.offline, time.perf_counter()
        profile = CorpusProfile(name=CORPUS)
        offline.ingest(CORPUS, [self.workspace], profile, {"allow": ["*"]}, self.progress, most_deletions=1.0)
        read = time.perf_counter()
        manifest = offline.build(CORPUS, self.progress)
        built = time.perf_counter()
        generation = Generation.parse(manifest.generation)
        assert generation is not None
        return BuildTimes(
            what=what,
            documents=len(manifest.documents),
            chunks=manifest.chunks,
            read_seconds=round(read - started, 2),
            build_seconds=round(built - read, 2),
            fill_seconds=round(manifest.timings["fillSeconds"], 2),
            vectors_reused=int(manifest.timings["vectorsReused"]),
            terms_reused=int(manifest.timings["termsReused"]),
            index_bytes=offline.engine.generations.size(generation),
            archive_bytes=offline.engine.archive.size(),
        )

    def _publish(self, what: str) -> SwitchTime:
        started = time.perf_counter()
        self.offline.publish(CORPUS, None, self.progress)
        return SwitchTime(what, round(time.perf_counter() - started, 2))

    def _rollback(self, how: str = "") -> SwitchTime:
        started = time.perf_counter()
        self.offline.rollback(CORPUS, self.progress)
        return SwitchTime(f"rollback{how}", round(time.perf_counter() - started, 2))


def _add_a_sentence(files: Sequence[Path], sentence: str) -> None:
    for path in files:
        with path.open("a", encoding="utf-8") as page:
            page.write(f"\n\n{sentence}\n")


def _copied(source: Path, workspace: Path, most: int) -> list[Path]:
    found = sorted(
        path
        for path in source.rglob("*")
        if path.is_file()
        and path.suffix.lower() in _EDITABLE
        and not any(part.startswith(".") for part in path.relative_to(source).parts)
    )
    if len(found) < 2:
        raise InvalidInput(f"{source} has fewer than two files of {', '.join(sorted(_EDITABLE))}.")
    stride = max(1, -(-len(found) // most))
    copies = []
    for path in found[::stride]:
        copy = workspace / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copies.append(Path(shutil.copyfile(path, copy)))
    return copies
