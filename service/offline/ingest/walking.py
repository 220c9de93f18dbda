"""The files below a folder, without following links to folders and without going into hidden ones."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Walk:
    """What there is below a folder. Paths are relative and in name order; `closed` are folders that could not be
    listed, with the reason."""

    files: list[Path] = field(default_factory=list)
    closed: list[tuple[str, str]] = field(default_factory=list)
    linked_folders: int = 0
    hidden: int = 0


def walk(root: Path) -> Walk:
    found, folders = Walk(), [Path()]
    while folders:  # no recursion: folders may be nested deeper than the stack
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as entries:
                listed = list(entries)
        except OSError as error:
            found.closed.append((folder.as_posix(), error.strerror or "it cannot be listed"))
            continue
        for entry in listed:
            path = folder / entry.name
            if entry.name.startswith("."):
                found.hidden += 1
            elif entry.is_dir(follow_symlinks=False):
                folders.append(path)
            elif entry.is_symlink() and _leads_to_folder(entry):
                found.linked_folders += 1
            else:
                found.files.append(path)
    found.files.sort(key=lambda path: path.as_posix())
    return found


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False
