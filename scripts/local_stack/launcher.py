"""Compiling NodeLauncher.java, with the JDK's compiler or, where there is only a runtime, with Eclipse's."""

import hashlib
import shutil
import subprocess
from pathlib import Path

from . import maven
from .errors import StackError
from .java import OLDEST, Java
from .progress import Say

MAIN_CLASS = "NodeLauncher"
COMPILER = "org.eclipse.jdt:ecj:3.43.0"
_SOURCE = Path(__file__).with_name(f"{MAIN_CLASS}.java")


def compiled(distribution: Path, java: Java, say: Say) -> Path:
    """Folder of the launcher's classes. They run on every Java from 21 on; a changed source is compiled anew."""
    mark = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]
    target = distribution / f"launcher-{mark}"
    if target.is_dir():
        return target
    partial = distribution / "launcher-partial"
    shutil.rmtree(partial, ignore_errors=True)
    compiler = _compiler(distribution, java, say)
    # Eclipse's compiler knows no * in a class path.
    jars = ":".join(str(jar) for jar in sorted((distribution / "lib").glob("*.jar")))
    argv = [*compiler, "-cp", jars, "-d", str(partial), str(_SOURCE)]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise StackError(
            f"the launcher does not compile with {compiler[0]}:\n{(done.stdout + done.stderr)[-3000:]}"
        )
    partial.rename(target)
    return target


def _compiler(distribution: Path, java: Java, say: Say) -> list[str]:
    if java.javac is not None:
        return [str(java.javac), "--release", str(OLDEST)]
    folder = distribution / "compiler"
    jar = folder / "ecj.jar"
    if not jar.is_file():
        say("this Java has no compiler: fetching Eclipse's")
        maven.fetch((COMPILER,), folder / "fetched", java, say)
        next((folder / "fetched").glob("ecj-*.jar")).rename(jar)
        shutil.rmtree(folder / "fetched")
    return [str(java.java), "-jar", str(jar), f"-{OLDEST}"]
