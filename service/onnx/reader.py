"""Extractive readers: whether a passage answers a question, and where. They read on from an embedder's lower layers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import onnx

from service.domain.reading import Reading
from service.errors import Misconfigured
from service.onnx.manifest import READER, file_sha256, load_manifest
from service.onnx.session import open_session, open_tokenizer
from service.text.folding import fold_width

_REMEMBERED = 256  # readings kept: what the gate has read is read again for the answer
_WINDOWS = 3  # of a passage that is too long for one; what lies behind them is not read
_STRIDE = 0.75  # of a window's room


class OnnxReader:
    """A folder with the upper layers of a reader, over the lower ones of the embedder that its manifest names: word
    vectors are most of a small model, and these two share them. Thread-safe."""

    def __init__(self, folder: Path, embedders: Path, threads: int = 2) -> None:
        self._manifest = load_manifest(folder, READER)
        below = embedders / self._manifest.below["embedder"]
        file = below / "model.onnx"
        if not file.is_file() or file_sha256(file) != self._manifest.below["model"]:
            raise Misconfigured(
                f"{self.identity} reads on from another {below.name} than the one that stands here: its layers would "
                "give numbers that mean nothing. Train it again (scripts/train-reader)."
            )
        try:
            self._lower = open_session(
                _lower_half(below / "model.onnx", self._manifest.below["rows"]), threads
            )
            self._upper = open_session(self._manifest.model, threads)
            self._tokenizer = open_tokenizer(below / "tokenizer.json")
        except Exception as error:  # The libraries raise what they like for a file they cannot read.
            raise Misconfigured(f"{self.identity}: it or its embedder cannot be read: {error}") from None
        self._read = lru_cache(maxsize=_REMEMBERED)(self._read_pair)

    @property
    def identity(self) -> str:
        return self._manifest.identity

    def read(self, question: str, passage: str) -> Reading:
        """A passage that is too long for one window is read in up to three; the best of them counts."""
        return self._read(self._cut(fold_width(question[: self._manifest.max_question])), passage)

    def _cut(self, question: str) -> str:
        """At most half of the room is the question's: signs that are a token or more each would leave none."""
        offsets = self._tokenizer.encode(question, add_special_tokens=False).offsets
        most = self._manifest.max_tokens // 2
        return question if len(offsets) <= most else question[: offsets[most][0]]

    def _read_pair(self, asked: str, passage: str) -> Reading:
        parts = [self._window(asked, passage, start, end) for start, end in self._windows(asked, passage)]
        return Reading(
            max(part.answers for part in parts),
            np.concatenate([part.places for part in parts]),
            np.concatenate([part.begins for part in parts]),
            np.concatenate([part.ends for part in parts]),
        )

    def _windows(self, question: str, passage: str) -> Iterator[tuple[int, int]]:
        """Where each window of the passage begins and ends."""
        offsets = self._tokenizer.encode(fold_width(passage), add_special_tokens=False).offsets
        room = self._manifest.max_tokens - len(self._tokenizer.encode(question, "").ids)
        for number in range(_WINDOWS):
            first = int(number * room * _STRIDE)
            own = offsets[first : first + room]
            yield (own[0][0], own[-1][1]) if own else (0, len(passage))
            if first + room >= len(offsets):
                return

    def _window(self, question: str, passage: str, start: int, end: int) -> Reading:
        pair = self._tokenizer.encode(question, fold_width(passage[start:end]))
        ids = np.asarray([pair.ids[: self._manifest.max_tokens]], dtype=np.int64)
        read = np.array([side == 1 for side in pair.sequence_ids[: ids.shape[1]]])
        rows = self._lower.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
        sides = read.astype(np.int64)[None, :]
        answers, spans = self._upper.run(["answers", "spans"], {"hidden": rows, "sides": sides})
        above = spans[0] - spans[0, 0]
        places = np.asarray(pair.offsets[: ids.shape[1]], dtype=np.int64)[read] + start
        return Reading(float(answers[0]), places, above[read, 0], above[read, 1])


def _lower_half(path: Path, rows: str) -> bytes:
    """The graph up to the node that gives `rows`, as its only output."""
    model = onnx.load(str(path))
    last = next(place for place, node in enumerate(model.graph.node) if rows in node.output)
    del model.graph.node[last + 1 :]
    del model.graph.output[:]
    model.graph.output.append(onnx.ValueInfoProto(name=rows))
    lower: bytes = model.SerializeToString()
    return lower
