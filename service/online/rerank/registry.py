"""Finds reranker folders, reads their manifests as data, and loads only what a profile names.

A folder is `<name>/manifest.toml` with `kind`:
  "rules"          a Python file (`entry`) with `create(weights) -> Reranker`;
  "cross-encoder"  an ONNX model and its tokenizer, run by the built-in class: data only;
  "blend"          `parts`, names of folders of kind "rules" beside it, added up: data only.
Files a rules plugin reads beside its own code stand under `[files]` with their sha256.
"""

from __future__ import annotations

import importlib.util
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from service.errors import Misconfigured
from service.online.rerank.blend import Blend
from service.online.rerank.contract import CONTRACT, Reranker
from service.onnx.manifest import CROSS_ENCODER, field_problems, file_problems, listed_problems

KINDS = ("rules", "cross-encoder", "blend")
CrossEncoderLoader = Callable[[Path], Reranker]


@dataclass(frozen=True, slots=True)
class PluginManifest:
    """What a folder's manifest says of it. `entry` is the Python file of a rules plugin, `parts` are a blend's."""

    name: str
    version: str
    kind: str
    folder: Path
    entry: str | None
    licence: str
    parts: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.version}"


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every folder found: the good manifests by name, and every fault of the others by folder name."""

    plugins: Mapping[str, PluginManifest]
    faults: Mapping[str, tuple[str, ...]]


def read_catalogue(root: Path) -> Catalogue:
    """Reads all folders below `root`. Imports no code; a broken folder is a fault, not an exception."""
    plugins: dict[str, PluginManifest] = {}
    faults: dict[str, tuple[str, ...]] = {}
    for folder in sorted(
        path for path in root.iterdir() if path.is_dir() and not path.name.startswith((".", "_"))
    ):
        manifest = folder / "manifest.toml"
        if not manifest.is_file():
            faults[folder.name] = ("manifest.toml is missing; docs/rerankers.md shows one",)
            continue
        try:
            data = tomllib.loads(manifest.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            faults[folder.name] = (f"manifest.toml cannot be read: {error}",)
            continue
        problems = _problems(folder, data)
        if problems:
            faults[folder.name] = problems
        else:
            plugins[folder.name] = PluginManifest(
                data["name"],
                data["version"],
                data["kind"],
                folder,
                data.get("entry"),
                data["licence"],
                tuple(data.get("parts", ())),
            )
    return Catalogue(plugins, faults)


def _problems(folder: Path, data: Mapping[str, Any]) -> tuple[str, ...]:
    problems = [
        f"`{key}` must be a non-empty string"
        for key in ("name", "version", "kind", "licence")
        if not isinstance(data.get(key), str) or not data[key]
    ]
    if data.get("name") != folder.name:
        problems.append(f"`name` is {data.get('name')!r}, but the folder is called {folder.name!r}")
    if data.get("kind") not in KINDS:
        problems.append(f"`kind` is {data.get('kind')!r}; known kinds are {', '.join(KINDS)}")
    if data.get("contract") != CONTRACT:
        problems.append(f"`contract` is {data.get('contract')!r}; this service speaks contract {CONTRACT}")
    if data.get("kind") == "rules":
        entry = data.get("entry")
        if not isinstance(entry, str) or Path(entry).name != entry or not (folder / entry).is_file():
            problems.append("`entry` must name a Python file in the folder")
        problems += listed_problems(folder, data.get("files", {}), hashes=True)
    if data.get("kind") == "blend":
        parts = data.get("parts")
        if not isinstance(parts, list) or len(parts) < 2 or not all(isinstance(p, str) for p in parts):
            problems.append("`parts` must name two folders or more of kind rules")
    if data.get("kind") == CROSS_ENCODER:
        problems += field_problems(folder, data, CROSS_ENCODER)
        problems += file_problems(folder, data, CROSS_ENCODER, hashes=False)
    return tuple(dict.fromkeys(problems))


def load_reranker(
    name: str, root: Path, weights: Mapping[str, float], cross_encoder: CrossEncoderLoader
) -> Reranker | None:
    """The reranker a profile names; None for "none". Raises Misconfigured with the folder's faults."""
    if name == "none":
        return None
    catalogue = read_catalogue(root)
    if name in catalogue.faults:
        raise Misconfigured(f"Reranker folder {name!r}: " + "; ".join(catalogue.faults[name]))
    if name not in catalogue.plugins:
        known = ", ".join(catalogue.plugins) or "none"
        raise Misconfigured(f"There is no reranker folder {name!r} under {root.name}/; found: {known}.")
    plugin = catalogue.plugins[name]
    if plugin.kind == "cross-encoder":
        return cross_encoder(plugin.folder)
    if plugin.kind == "blend":
        parts = [_part(plugin, name, catalogue) for name in plugin.parts]
        return Blend(plugin.identity, [_created(part, weights) for part in parts])
    return _created(plugin, weights)


def _part(blend: PluginManifest, name: str, catalogue: Catalogue) -> PluginManifest:
    part = catalogue.plugins.get(name)
    if part is None or part.kind != "rules":
        why = "; ".join(catalogue.faults.get(name, ("there is no such folder of kind rules",)))
        raise Misconfigured(f"Reranker folder {blend.name!r}: its part {name!r} cannot be used: {why}.")
    return part


def _created(plugin: PluginManifest, weights: Mapping[str, float]) -> Reranker:
    created: Reranker = _module(plugin).create(weights)
    return created


def _module(plugin: PluginManifest) -> ModuleType:
    path = plugin.folder / str(plugin.entry)
    spec = importlib.util.spec_from_file_location(f"rerank_models_{plugin.name.replace('-', '_')}", path)
    if spec is None or spec.loader is None:
        raise Misconfigured(f"Reranker folder {plugin.name!r}: {plugin.entry} cannot be loaded.")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # Foreign code: name the folder instead of showing a bare traceback.
        raise Misconfigured(
            f"Reranker folder {plugin.name!r}: {plugin.entry} fails to load: {error}"
        ) from error
    if not callable(getattr(module, "create", None)):
        raise Misconfigured(f"Reranker folder {plugin.name!r}: {plugin.entry} has no `create(weights)`.")
    return module
