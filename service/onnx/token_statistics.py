"""What is known of an embedder's tokens beforehand: their mean vector, and in how many passages each occurs.

Both are files of the model's folder, made once from public texts (scripts/token-statistics) and never from a corpus: a
figure of the operator's own documents would tell of those that the caller may not see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from service.domain.retrieval import Vector
from service.onnx.manifest import ManifestError, ModelManifest
from service.text.token_vectors import VERSION

MEAN, FREQUENCIES = "token_mean.npy", "token_frequencies.npy"


@dataclass(frozen=True, slots=True, eq=False)
class TokenStatistics:
    """`mean` of unit token vectors; `frequencies` by token id, in how many of `passages` it occurs. `identity` names
    how token vectors are packed and what was taken off them."""

    identity: str
    mean: Vector
    frequencies: NDArray[np.int32]
    passages: int

    def centred(self, rows: Vector) -> Vector:
        """Unit vectors without what all tokens share: else any two are near."""
        return unit(rows - self.mean)

    def weights(self, ids: Sequence[int]) -> Vector:
        """How much each token says, by the inverse of its document frequency; they sum up to 1."""
        met = self.frequencies[np.asarray(ids, dtype=np.int64)]
        said = np.log1p((self.passages - met + 0.5) / (met + 0.5)).astype(np.float32)
        weighted: Vector = said / max(float(said.sum()), 1e-12)
        return weighted


def read_token_statistics(manifest: ModelManifest, start_token: int) -> TokenStatistics | None:
    """None where the folder has none. Every passage begins with the start token: its frequency is their number."""
    if MEAN not in manifest.files or FREQUENCIES not in manifest.files:
        return None
    try:
        mean = np.load(manifest.folder / MEAN, allow_pickle=False)
        frequencies = np.load(manifest.folder / FREQUENCIES, allow_pickle=False)
    except ValueError as error:
        raise ManifestError(f"Model folder {manifest.folder.name!r}: {error}") from None
    if mean.shape != (manifest.dimension,) or frequencies.ndim != 1:
        raise ManifestError(
            f"Model folder {manifest.folder.name!r}: {MEAN} must hold {manifest.dimension} numbers, "
            f"{FREQUENCIES} one for each token."
        )
    mark = hashlib.sha256(mean.astype("<f4").tobytes()).hexdigest()[:12]
    return TokenStatistics(
        f"{VERSION}+{mark}",
        mean.astype(np.float32),
        frequencies.astype(np.int32),
        int(frequencies[start_token]),
    )


def unit(rows: Vector) -> Vector:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.maximum(lengths, 1e-12), dtype=np.float32)
