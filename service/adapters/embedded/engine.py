"""The embedded engine put together as one Engine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from service.adapters.disk import disk_finding, used_percent
from service.adapters.embedded.archive import EmbeddedArchive
from service.adapters.embedded.audit import EmbeddedAudit
from service.adapters.embedded.builds import EmbeddedBuilds
from service.adapters.embedded.folders import Folders
from service.adapters.embedded.generations import EmbeddedGenerations
from service.adapters.embedded.jobs import EmbeddedJobs
from service.adapters.embedded.registry import EmbeddedRegistry
from service.adapters.embedded.retrieval import EmbeddedRetrieval
from service.adapters.embedded.reviews import EmbeddedReviews
from service.adapters.embedded.traces import EmbeddedTraces
from service.domain.ports import Engine
from service.errors import AttestError

NAME = "embedded"


def assemble(root: Path, prefix: str) -> Engine:
    """All stores over one folder."""
    folders = Folders(root)
    return Engine(
        name=NAME,
        prefix=prefix,
        archive=EmbeddedArchive(folders.stores),
        registry=EmbeddedRegistry(folders.stores),
        audit=EmbeddedAudit(folders.stores),
        generations=EmbeddedGenerations(folders),
        retrieval=EmbeddedRetrieval(folders),
        builds=EmbeddedBuilds(folders.stores),
        jobs=EmbeddedJobs(folders.stores),
        traces=EmbeddedTraces(folders.stores),
        reviews=EmbeddedReviews(folders.stores),
        ready=lambda: {NAME: _state(folders)},
        facts=lambda: {"data folder": _disk(folders.root)},
        erase=lambda: _erase(folders),
    )


def _state(folders: Folders) -> str:
    """ "ok" or what is wrong."""
    try:
        with folders.stores.reading() as stores:
            stores.execute("SELECT count(*) FROM alias").fetchone()
    except AttestError as error:
        return error.message
    return "ok" if os.access(folders.root, os.W_OK) else "the data folder is read-only"


def _disk(root: Path) -> str:
    """How full the disk under the data folder is. The folder is made by the first write: until then the nearest one
    above it tells."""
    there = next(folder for folder in (root, *root.absolute().parents) if folder.exists())
    try:
        disk = shutil.disk_usage(there)
    except OSError as error:
        return f"the data folder {root} cannot be looked at ({type(error).__name__})"
    return disk_finding(used_percent(disk.total, disk.free), disk.free, f"the disk under {root}")


def _erase(folders: Folders) -> None:
    folders.forget_all()
    shutil.rmtree(folders.root, ignore_errors=True)
