"""Model manifests: `manifest.toml` beside a model says what it is; every fault is told at once."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from service.errors import AttestError

EMBEDDER, CROSS_ENCODER, READER = "embedder", "cross-encoder", "reader"
WINDOW_TOKENS, WINDOWS = 128, 4  # of a cross-encoder that does not say
_LEAST_TOKENS = 16
_MOST_WINDOWS = 64
_BELOW = ("embedder", "model", "rows")
# What a cross-encoder's manifest may say: a misspelt name would else be a silent default.
_CROSS_ENCODER_KEYS = frozenset(
    "name version kind licence contract description max_tokens window_tokens windows files".split()
)


class ManifestError(AttestError):
    code = "MODEL_MANIFEST_INVALID"


@dataclass(frozen=True, slots=True)
class ModelManifest:
    """What a model folder says of itself. `files` maps a file name to its sha256; `dimension` is 0 for a
    cross-encoder; the prefixes are put before a text by the embedder. A cross-encoder reads a passage in at most
    `windows` windows of `window_tokens`, title and headings included. A reader takes `max_question` code points of a
    question and has its rows from `below`: the `rows` of the graph of an `embedder`, by its sha256 `model`."""

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
    window_tokens: int = WINDOW_TOKENS
    windows: int = WINDOWS
    max_question: int = 0
    below: Mapping[str, str] = field(default_factory=dict)

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
    problems = [*field_problems(folder, data, kind), *file_problems(folder, data, kind)]
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
        window_tokens=data.get("window_tokens", WINDOW_TOKENS),
        windows=data.get("windows", WINDOWS),
        max_question=data.get("max_question", 0),
        below=data.get("below", {}),
    )


def field_problems(folder: Path, data: Mapping[str, Any], kind: str) -> list[str]:
    """What the manifest says wrongly, without a look at the files."""
    problems = [
        f"`{key}` must be a non-empty string"
        for key in ("name", "version", "licence")
        if not isinstance(data.get(key), str) or not data[key]
    ]
    if data.get("name") != folder.name:
        problems.append(f"`name` is {data.get('name')!r}, but the folder is called {folder.name!r}")
    if data.get("kind") != kind:
        problems.append(f"`kind` is {data.get('kind')!r}, expected {kind!r}")
    if type(data.get("max_tokens")) is not int or data["max_tokens"] < _LEAST_TOKENS:
        problems.append(f"`max_tokens` must be a whole number of at least {_LEAST_TOKENS}")
    if kind == EMBEDDER and (type(data.get("dimension")) is not int or data["dimension"] < 1):
        problems.append("`dimension` must be a positive whole number")
    problems += [
        f"`{key}` must be a string"
        for key in ("query_prefix", "passage_prefix")
        if not isinstance(data.get(key, ""), str)
    ]
    if kind == READER:
        problems += _reader_problems(data)
    return [*problems, *_window_problems(data)] if kind == CROSS_ENCODER else problems


def _reader_problems(data: Mapping[str, Any]) -> list[str]:
    problems = []
    if type(data.get("max_question")) is not int or data["max_question"] < 1:
        problems.append("`max_question` must be a positive whole number")
    below = data.get("below")
    if not isinstance(below, dict) or any(not isinstance(below.get(key), str) for key in _BELOW):
        problems.append(f"`[below]` must give the strings {', '.join(_BELOW)}")
    return problems


def _window_problems(data: Mapping[str, Any]) -> list[str]:
    problems = []
    for key, least, most in (
        ("window_tokens", _LEAST_TOKENS, data.get("max_tokens")),
        ("windows", 1, _MOST_WINDOWS),
    ):
        value = data.get(key, least)
        if type(value) is not int or value < least or (type(most) is int and value > most):
            problems.append(f"`{key}` must be a whole number from {least} to {most}, it is {value!r}")
    for key in sorted(set(data) - _CROSS_ENCODER_KEYS):
        near = get_close_matches(key, _CROSS_ENCODER_KEYS, 1)
        problems.append(f"`{key}` means nothing here" + (f"; do you mean `{near[0]}`?" if near else ""))
    return problems


def file_problems(folder: Path, data: Mapping[str, Any], kind: str, *, hashes: bool = True) -> list[str]:
    """The sha256 guards against a half-copied or exchanged file: its vectors would look right and be wrong. Without
    `hashes` only whether the files are there is looked at: a large model takes a second to hash."""
    files = data.get("files")
    needed = ("model.onnx",) if kind == READER else ("model.onnx", "tokenizer.json")
    if not isinstance(files, dict) or not set(needed) <= set(files):
        return [f"`[files]` must give the sha256 of {' and '.join(needed)} (sha256sum FILE)"]
    problems = [
        # Weights beside the graph, as exporters of large models leave them.
        f"{path.name} stands in the folder, but not under `[files]`"
        for path in sorted(folder.glob("model.onnx?*"))
        if path.name not in files
    ]
    return [*problems, *listed_problems(folder, files, hashes=hashes)]


def listed_problems(folder: Path, files: Any, *, hashes: bool) -> list[str]:
    """What is wrong with the files that a manifest lists, name → sha256."""
    if not isinstance(files, dict):
        return ["`[files]` must give file names with their sha256"]
    problems = []
    for name, expected in files.items():
        path = folder / name
        if Path(name).name != name or not path.is_file():
            problems.append(f"{name} is missing")
        elif hashes and (found := file_sha256(path)) != expected:
            problems.append(f"{name} does not have the sha256 the manifest gives; it has {found}")
    return problems


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
