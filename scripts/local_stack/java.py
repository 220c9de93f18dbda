"""Finding a Java that can run Elasticsearch 9: version 21 or newer, proven by asking it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

OLDEST = 21
# Set to 1 to pretend that this machine has no Java, which exercises the runtime from PyPI.
SKIP_SEARCH = "STACK_SKIP_JAVA_SEARCH"
_JVM_FOLDERS = ("usr/lib/jvm/*", "usr/java/*", "opt/java*", "opt/java*/*", "opt/*jdk*")
_VECTOR_MODULE = "jdk.incubator.vector"
_ASK_SECONDS = 20


@dataclass(frozen=True)
class Java:
    """A Java installation that has answered. `vector`: has the module that makes Lucene's vectors fast."""

    home: Path
    version: int
    vector: bool

    @property
    def java(self) -> Path:
        """The java program."""
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path | None:
        """The compiler, None in a runtime without one."""
        compiler = self.home / "bin" / "javac"
        return compiler if os.access(compiler, os.X_OK) else None


def find(environment: Mapping[str, str]) -> Java | None:
    """The first suitable Java of JAVA_HOME, the system's alternatives, the default, its neighbours, usual folders."""
    if environment.get(SKIP_SEARCH) == "1":
        return None
    return first_suitable(_candidates(environment))


def first_suitable(homes: Iterable[Path]) -> Java | None:
    """The first of `homes` that answers with version 21 or newer."""
    seen: set[Path] = set()
    for home in homes:
        real = home.resolve()
        if real in seen:
            continue
        seen.add(real)
        found = inspect(real)
        if found is not None and found.version >= OLDEST:
            return found
    return None


def inspect(home: Path) -> Java | None:
    """What the Java in `home` says of itself; None when there is none or it does not answer."""
    said = _ask(home, "-version")
    version = None if said is None else major_version(said)
    if version is None:
        return None
    modules = _ask(home, "--list-modules") if version >= OLDEST else None
    return Java(home, version, _VECTOR_MODULE in (modules or ""))


def major_version(said: str) -> int | None:
    """The major version in the output of `java -version`: 25 for "25.0.3", 8 for "1.8.0_402"."""
    match = re.search(r'version "(\d+)(?:\.(\d+))?', said)
    if match is None:
        return None
    first = int(match[1])
    return int(match[2]) if first == 1 and match[2] else first


def _ask(home: Path, question: str) -> str | None:
    program = home / "bin" / "java"
    if not os.access(program, os.X_OK):
        return None
    try:
        done = subprocess.run(
            [program, question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=_ASK_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _candidates(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    yield from _alternatives()
    default = shutil.which("java")
    if default is not None:
        home = Path(default).resolve().parent.parent
        yield home
        yield from _newest_first(home.parent.glob("*"))
    for pattern in _JVM_FOLDERS:
        yield from _newest_first(Path("/").glob(pattern))


def _alternatives() -> Iterator[Path]:
    lister = shutil.which("update-java-alternatives")
    if lister is None:
        return
    done = subprocess.run(
        [lister, "-l"], stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace"
    )
    for line in done.stdout.splitlines():
        # name, priority, folder
        fields = line.split()
        if len(fields) >= 3:
            yield Path(fields[2])


def _newest_first(folders: Iterable[Path]) -> list[Path]:
    return sorted(folders, key=lambda folder: [int(n) for n in re.findall(r"\d+", folder.name)], reverse=True)
