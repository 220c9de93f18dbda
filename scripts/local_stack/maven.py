"""Published jars through Maven, with their dependencies."""

import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from . import debian
from .errors import StackError
from .java import Java
from .progress import Say, Waiting

# Pinned, so that the same versions of Maven's own parts are used everywhere.
_COPY_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies"
_ATTEMPTS = 3
_TAIL_LINES = 25


def pom(coordinates: Sequence[str]) -> str:
    """A pom.xml that depends on `coordinates`, each "group:artifact:version"."""
    dependencies = "\n".join(
        f"    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>"
        f"<version>{version}</version></dependency>"
        for group, artifact, version in (coordinate.split(":") for coordinate in coordinates)
    )
    return f"""<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>local.stack</groupId><artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""


def fetch(coordinates: Sequence[str], target: Path, java: Java, say: Say) -> None:
    """Copy the jars of `coordinates` and of all they depend on into `target`.

    `java` is for a Maven that finds no Java by itself. Raises StackError when Maven cannot be had or fails.
    """
    mvn = debian.program(
        "mvn", "maven", "set ES_URL to a running Elasticsearch 9 (then nothing is started here)", say
    )
    target.mkdir(parents=True, exist_ok=True)
    (target / "pom.xml").write_text(pom(coordinates), encoding="utf-8")
    env = _environment(mvn, java)
    output = ""
    for attempt in range(1, _ATTEMPTS + 1):
        status, output = _run(
            [str(mvn), "-B", "-ntp", _COPY_GOAL, f"-DoutputDirectory={target}"], target, env
        )
        if status == 0:
            (target / "pom.xml").unlink()
            return
        say(f"maven failed (attempt {attempt} of {_ATTEMPTS})")
    shutil.rmtree(target)
    tail = "\n".join(output.splitlines()[-_TAIL_LINES:])
    raise StackError(f"maven could not fetch {', '.join(coordinates)}:\n{tail}")


def _environment(mvn: Path, java: Java) -> dict[str, str]:
    """Maven runs on the Java that the machine has set up for it: that one also trusts a company's own certificates.

    Only where it finds none does it get ours.
    """
    asked = subprocess.run([mvn, "-v"], stdin=subprocess.DEVNULL, capture_output=True)
    return dict(os.environ) if asked.returncode == 0 else {**os.environ, "JAVA_HOME": str(java.home)}


def _run(argv: Sequence[str], folder: Path, env: dict[str, str]) -> tuple[int, str]:
    waiting = Waiting("maven fetches the jars")
    log = folder / "maven.log"
    with log.open("wb") as stream:
        child = subprocess.Popen(
            list(argv), cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT
        )
        try:
            while True:
                try:
                    status = child.wait(timeout=0.5)
                    break
                except subprocess.TimeoutExpired:
                    waiting.tick("at work")
        except BaseException:
            child.kill()
            child.wait()
            raise
    waiting.done(f"{len(list(folder.glob('*.jar')))} jars" if status == 0 else f"exit code {status}")
    output = log.read_text(encoding="utf-8", errors="replace")
    log.unlink()
    return status, output
