"""Vectors of a text's tokens in four bits a component.

A token takes `dimension / 2 + 2` bytes: a float16 scale, then two components a byte. The low half of a byte is a
component of the vector's first half, the high half the one that stands as far into the second: so both halves are
multiplied as they lie, and nothing is put back in order first.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

VERSION = "int4@1"
_STEPS = 7  # codes run from -7 to 7, kept as 1 to 15
_MIDDLE = 8
_SCALE_BYTES = 2

Matrix = NDArray[np.float32]
Bytes = NDArray[np.uint8]


def token_bytes(dimension: int) -> int:
    return dimension // 2 + _SCALE_BYTES


def encode(vectors: Matrix) -> bytes:
    """(tokens, dimension), the dimension even. A component comes back within half a step of its token, which is a
    seventh of the token's largest component."""
    half = vectors.shape[1] // 2
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    scales = (largest / _STEPS).astype("<f2")
    steps = np.where(scales > 0, scales, 1).astype(np.float32)[:, None]
    codes = (np.clip(np.rint(vectors / steps), -_STEPS, _STEPS) + _MIDDLE).astype(np.uint8)
    packed = codes[:, :half] | (codes[:, half:] << 4)
    return np.hstack([scales.view(np.uint8).reshape(-1, _SCALE_BYTES), packed]).tobytes()


def unpack(packed: bytes, dimension: int) -> tuple[Bytes, Matrix]:
    """Codes (tokens, dimension / 2), two in a byte, and scales (tokens,). Raises ValueError for a broken length."""
    rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, token_bytes(dimension))
    scales = np.ascontiguousarray(rows[:, :_SCALE_BYTES]).view("<f2")[:, 0].astype(np.float32)
    return rows[:, _SCALE_BYTES:], scales


def decode(packed: bytes, dimension: int) -> Matrix:
    codes, scales = unpack(packed, dimension)
    both = np.hstack([codes & 0x0F, codes >> 4]).astype(np.float32) - _MIDDLE
    decoded: Matrix = both * scales[:, None]
    return decoded
