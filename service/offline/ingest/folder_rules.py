"""Rights that stand beside documents: a sidecar for one file, `access.toml` for all below a folder, by glob.

A file that is there and cannot be meant, read or trusted refuses its documents: what it says is not known, and a
wider rule may not stand in for it.
"""

from __future__ import annotations

import fnmatch
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from service.access.policy import normalise_name
from service.errors import InvalidAccess

FILE = "access.toml"
SIDECAR = ".access.toml"  # behind a document's whole name: report.pdf → report.pdf.access.toml


@dataclass(frozen=True, slots=True)
class _Listing:
    """What stands in a folder, by the one spelling of names: what is nearly the name of a rights file is found too."""

    names: Mapping[str, frozenset[str]]
    files: frozenset[str]
    stems: frozenset[str]


@dataclass(slots=True)
class FolderRules:
    """Rules of one source tree; each folder is listed, and each `access.toml` read, once."""

    root: Path
    _read: dict[Path, Mapping[str, Any] | None] = field(default_factory=dict)
    _listed: dict[Path, _Listing] = field(default_factory=dict)

    def rule_for(self, path: Path) -> tuple[Mapping[str, Any] | None, str]:
        """The rule that holds for a file, and where it stands; (None, "") when nothing up to the root gives one.

        The file's sidecar goes before every `access.toml`. In the nearest of those the last matching `[[rule]]`
        wins over its `[default]`; one that has neither for this path leaves the word to the next one up.
        """
        beside = self._sidecar(path)
        if beside is not None:
            return _toml(beside), beside.name
        folder = path.parent
        while True:
            rules = self._rules(folder)
            if rules is not None:
                relative = PurePosixPath(path.relative_to(folder).as_posix())
                matching = [rule for rule in rules.get("rule", ()) if matches(relative, str(rule["match"]))]
                if matching:
                    chosen = {key: value for key, value in matching[-1].items() if key != "match"}
                    return chosen, f"{folder.name}/{FILE} [[rule]] {matching[-1]['match']!r}"
                if "default" in rules:
                    return rules["default"], f"{folder.name}/{FILE} [default]"
            if folder == self.root or self.root not in folder.parents:
                return None, ""
            folder = folder.parent

    def has_sidecar(self, path: Path) -> bool:
        """Whether a rights file stands beside this file. Raises InvalidAccess as `rule_for` does."""
        return self._sidecar(path) is not None

    def belongs_to_nothing(self, sidecar: Path) -> bool:
        """Whether a file with a sidecar's name stands beside no file that it could be meant for."""
        owner = normalise_name(normalise_name(sidecar.name).removesuffix(SIDECAR))
        here = self._listing(sidecar.parent)
        return owner not in here.files and owner not in here.stems

    def _sidecar(self, path: Path) -> Path | None:
        wanted, stem = path.name + SIDECAR, normalise_name(path.stem)
        here = self._listing(path.parent)
        # `report.access.toml` beside `report.pdf` means it too, unless it is the sidecar of a file `report`.
        if stem not in here.files and (short := here.names.get(normalise_name(path.stem + SIDECAR))):
            raise InvalidAccess(f"its rights stand in {min(short)!r}; the name must be {wanted!r}.")
        return self._spelt(path.parent, wanted)

    def _rules(self, folder: Path) -> Mapping[str, Any] | None:
        if folder not in self._read:
            path = self._spelt(folder, FILE)
            self._read[folder] = None if path is None else _load(path)
        return self._read[folder]

    def _spelt(self, folder: Path, wanted: str) -> Path | None:
        """The rights file of that name, or None. Raises InvalidAccess where it is spelt otherwise, or no file here."""
        found = self._listing(folder).names.get(normalise_name(wanted), frozenset())
        for other in sorted(found - {wanted}):
            raise InvalidAccess(f"its rights stand in {other!r}; the name must be {wanted!r}.")
        if not found:
            return None
        path = folder / wanted
        if not below(self.root.resolve(), path):
            raise InvalidAccess(f"{path}: a link that leads out of the source is not followed.")
        if not path.is_file():
            raise InvalidAccess(f"{path}: its rights should stand there, and it is no file.")
        return path

    def _listing(self, folder: Path) -> _Listing:
        if folder not in self._listed:
            self._listed[folder] = _list(folder)
        return self._listed[folder]


def is_sidecar(name: str) -> bool:
    """Whether a file of this name is meant as a sidecar, however it is spelt."""
    return normalise_name(name).endswith(SIDECAR)


def names_rights(name: str) -> bool:
    """Whether a file of this name is meant to say who may see others, however it is spelt."""
    return is_sidecar(name) or normalise_name(name) == FILE


def below(real_root: Path, path: Path) -> bool:
    """Whether the path leads, through whatever links, to a place below the root."""
    try:
        return real_root in path.resolve().parents
    except (OSError, RuntimeError, ValueError):  # a link to itself; a NUL in the name
        return False


def _list(folder: Path) -> _Listing:
    names: dict[str, frozenset[str]] = {}
    files = []
    for found in os.scandir(folder) if folder.is_dir() else ():
        key = normalise_name(found.name)
        names[key] = names.get(key, frozenset()) | {found.name}
        # A link may lead to itself: what it is, is asked where that is no error.
        if not (Path(found.path).is_dir() if found.is_symlink() else found.is_dir()):
            files.append(found.name)
    return _Listing(
        names,
        frozenset(map(normalise_name, files)),
        frozenset(normalise_name(Path(name).stem) for name in files if not is_sidecar(name)),
    )


def matches(relative: PurePosixPath, pattern: str) -> bool:
    """Glob over a path relative to a folder; `**` crosses folders, `*` alone does too (fnmatch)."""
    return fnmatch.fnmatchcase(str(relative), pattern) or fnmatch.fnmatchcase(
        str(relative), pattern.replace("**/", "")
    )


def _load(path: Path) -> Mapping[str, Any]:
    data = _toml(path)
    if set(data) - {"default", "rule"} or not isinstance(data.get("default", {}), dict):
        raise InvalidAccess(f"{path}: only [default] and [[rule]] may stand here.")
    rules = data.get("rule", [])
    if not isinstance(rules, list) or not all(
        isinstance(rule, dict) and isinstance(rule.get("match"), str) for rule in rules
    ):
        raise InvalidAccess(f"{path}: every [[rule]] needs a `match` glob.")
    return data


def _toml(path: Path) -> Mapping[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InvalidAccess(f"{path}: {error}.") from None
    except OSError as error:
        raise InvalidAccess(f"{path}: cannot be read ({error.strerror}).") from None
