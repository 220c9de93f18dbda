"""`access.toml`: rights for everything below a folder, by glob; the nearest file speaks first."""

from __future__ import annotations

import fnmatch
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from service.errors import InvalidAccess

FILE = "access.toml"


@dataclass(slots=True)
class FolderRules:
    """Rules of one source tree; each `access.toml` is read once."""

    root: Path
    _read: dict[Path, Mapping[str, Any] | None] = field(default_factory=dict)

    def rule_for(self, path: Path) -> tuple[Mapping[str, Any] | None, str]:
        """The rule that holds for a file, and where it stands; (None, "") when no file up to the root has one.

        In the nearest `access.toml` the last matching `[[rule]]` wins over its `[default]`; a file that has
        neither for this path leaves the word to the next one up.
        """
        folder = path.parent
        while True:
            rules = self._rules(folder)
            if rules is not None:
                relative = PurePosixPath(path.relative_to(folder).as_posix())
                matching = [rule for rule in rules.get("rule", ()) if _matches(relative, str(rule["match"]))]
                if matching:
                    chosen = {key: value for key, value in matching[-1].items() if key != "match"}
                    return chosen, f"{folder.name}/{FILE} [[rule]] {matching[-1]['match']!r}"
                if "default" in rules:
                    return rules["default"], f"{folder.name}/{FILE} [default]"
            if folder == self.root or self.root not in folder.parents:
                return None, ""
            folder = folder.parent

    def _rules(self, folder: Path) -> Mapping[str, Any] | None:
        if folder not in self._read:
            path = folder / FILE
            self._read[folder] = _load(path) if path.is_file() else None
        return self._read[folder]


def _matches(relative: PurePosixPath, pattern: str) -> bool:
    """Glob over the path relative to the rule file; `**` crosses folders, `*` alone does too (fnmatch)."""
    return fnmatch.fnmatchcase(str(relative), pattern) or fnmatch.fnmatchcase(
        str(relative), pattern.replace("**/", "")
    )


def _load(path: Path) -> Mapping[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InvalidAccess(f"{path}: {error}") from None
    if set(data) - {"default", "rule"} or not isinstance(data.get("default", {}), dict):
        raise InvalidAccess(f"{path}: only [default] and [[rule]] may stand here.")
    rules = data.get("rule", [])
    if not isinstance(rules, list) or not all(
        isinstance(rule, dict) and isinstance(rule.get("match"), str) for rule in rules
    ):
        raise InvalidAccess(f"{path}: every [[rule]] needs a `match` glob.")
    return data
