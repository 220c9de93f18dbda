"""How long a build takes: from nothing, after one document in a hundred changed, and after as many were deleted.

Works on a copy of the documents and on a corpus that nobody else has; seconds of one run are compared with each other.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from service.domain.generations import Generation
from service.errors import InvalidInput
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile

CORPUS = "bench-builds"
# Formats to whose end a sentence can be added.
_EDITABLE = frozenset({".md", ".markdown", ".txt"})


@dataclass(frozen=True, slots=True)
class BuildTimes:
    """One build: what had changed, seconds to read the sources and to build, and what it took over."""

    what: str
    documents: int
    chunks: int
    read_seconds: float
    build_seconds: float
    fill_seconds: float
    vectors_reused: int
    terms_reused: int
    index_bytes: int


def time_builds(
    offline: Offline,
    source: Path,
    workspace: Path,
    most: int,
    progress: Callable[[str, int, int], None],
) -> list[BuildTimes]:
    """Builds the documents below `source` (at most `most`, evenly taken) three times; the first is published, so that
    the others stand beside something live."""
    files = _copied(source, workspace, most)
    some = files[:: max(1, min(100, len(files)))]
    times = [_build(offline, "from nothing", workspace, progress)]
    offline.publish(CORPUS, None)
    for path in some:
        with path.open("a", encoding="utf-8") as page:
            page.write("\n\nA sentence was added at the end of this page.\n")
    times.append(_build(offline, f"{len(some)} changed", workspace, progress))
    # As many others, and never the last.
    gone = files[1 :: max(1, min(100, len(files)))][: len(files) - 1]
    for path in gone:
        path.unlink()
    times.append(_build(offline, f"{len(gone)} deleted", workspace, progress))
    return times


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


def _build(
    offline: Offline, what: str, workspace: Path, progress: Callable[[str, int, int], None]
) -> BuildTimes:
    started = time.perf_counter()
    profile = CorpusProfile(name=CORPUS)
    offline.ingest(CORPUS, [workspace], profile, {"allow": ["*"]}, progress, most_deletions=1.0)
    read = time.perf_counter()
    manifest = offline.build(CORPUS, progress)
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
    )
