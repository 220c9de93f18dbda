"""Model manifests: `manifest.toml` beside a model says what it is; every fault is told at once."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.errors import AttestError

EMBEDDER, CROSS_ENCODER = "embedder", "cross-encoder"


class ManifestError(AttestError):
    code = "MODEL_MANIFEST_INVALID"


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What a model folder says of itself. `files` maps a file name to its sha256; `dimension` is 0 for a
    cross-encoder; the prefixes are put before a text by the embedder."""

    name: str
    version: str
    kind: str
    folder: Path
    max_tokens: int
    licence: str
    files: Mapping[str, str]
    dimension: int = 0
    query_prefix: str = ""
    passage_prefix: str = ""

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.version}"

    @property
    def model(self) -> Path:
        return self.folder / "model.onnx"

    @property
    def tokenizer(self) -> Path:
        return self.folder / "tokenizer.json"


def load_manifest(folder: Path, kind: str) -> ModelManifest:
    """The manifest of a folder whose model is of that kind. Raises ManifestError listing every fault."""
    path = folder / "manifest.toml"
    if not path.is_file():
        raise ManifestError(f"Model folder {folder.name!r} has no manifest.toml.")
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ManifestError(f"{folder.name}/manifest.toml cannot be read: {error}") from None
    problems = [*_field_problems(folder, data, kind), *_file_problems(folder, data)]
    if problems:
        raise ManifestError(f"Model folder {folder.name!r}: " + "; ".join(problems))
    return ModelManifest(
        name=data["name"],
        version=data["version"],
        kind=kind,
        folder=folder,
        max_tokens=data["max_tokens"],
        licence=data["licence"],
        files=data["files"],
        dimension=data.get("dimension", 0),
        query_prefix=data.get("query_prefix", ""),
        passage_prefix=data.get("passage_prefix", ""),
    )


def _field_problems(folder: Path, data: Mapping[str, Any], kind: str) -> list[str]:
    problems = [
        f"`{key}` must be a non-empty string"
        for key in ("name", "version", "licence")
        if not isinstance(data.get(key), str) or not data[key]
    ]
    if data.get("name") != folder.name:
        problems.append(f"`name` is {data.get('name')!r}, but the folder is called {folder.name!r}")
    if data.get("kind") != kind:
        problems.append(f"`kind` is {data.get('kind')!r}, expected {kind!r}")
    if type(data.get("max_tokens")) is not int or data["max_tokens"] < 16:
        problems.append("`max_tokens` must be a whole number of at least 16")
    if kind == EMBEDDER and (type(data.get("dimension")) is not int or data["dimension"] < 1):
        problems.append("`dimension` must be a positive whole number")
    problems += [
        f"`{key}` must be a string"
        for key in ("query_prefix", "passage_prefix")
        if not isinstance(data.get(key, ""), str)
    ]
    return problems


def _file_problems(folder: Path, data: Mapping[str, Any]) -> list[str]:
    """The sha256 guards against a half-copied or exchanged file: its vectors would look right and be wrong."""
    files = data.get("files")
    if not isinstance(files, dict) or not {"model.onnx", "tokenizer.json"} <= set(files):
        return ["`[files]` must give the sha256 of model.onnx and tokenizer.json"]
    problems = []
    for name, expected in files.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            problems.append(f"{name} is missing")
        elif file_sha256(path) != expected:
            problems.append(f"{name} does not have the sha256 the manifest gives")
    return problems


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
