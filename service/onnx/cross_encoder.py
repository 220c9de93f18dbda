"""ONNX cross-encoders: (question, passage) pairs, long passages in windows, the best window counts."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from service.errors import Misconfigured
from service.onnx.manifest import CROSS_ENCODER, load_manifest
from service.onnx.session import open_session, open_tokenizer, pad_id

_BATCH_PAIRS = 8
_OVERLAP = 0.25  # share of a window that the next one repeats, so that no sentence is only ever seen cut


@dataclass(frozen=True, slots=True)
class PairScore:
    """`score` is the best window's (minus infinity when none is a number). `truncated`: part of the question was
    cut; the passage never is, it is read in `windows`. `timed_out`: not all windows were scored in time."""

    score: float
    windows: int
    truncated: bool = False
    timed_out: bool = False


class OnnxCrossEncoder:
    """Runs a folder that holds only data: manifest, `model.onnx` with one or two logits, `tokenizer.json`.

    BERT and XLM-R graphs both work: `token_type_ids` are fed where the graph asks for them; the pair is built
    by the tokenizer's own post-processor.
    """

    def __init__(self, folder: Path, threads: int = 2) -> None:
        self._manifest = load_manifest(folder, CROSS_ENCODER)
        self._session = open_session(self._manifest.model, threads)
        self._tokenizer = open_tokenizer(self._manifest.tokenizer)
        self._pad = pad_id(self._tokenizer)
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._output = self._session.get_outputs()[0].name
        strange = self._inputs - {"input_ids", "attention_mask", "token_type_ids"}
        if strange or "input_ids" not in self._inputs:
            raise Misconfigured(
                f"{self.identity}: the graph has inputs {sorted(self._inputs)}; not a cross-encoder."
            )

    @property
    def identity(self) -> str:
        return self._manifest.identity

    def score(self, query: str, passages: Sequence[str], deadline: float | None = None) -> list[PairScore]:
        """A score per passage, in the given order. `deadline` is a `time.monotonic` value in seconds; it is
        looked at between batches."""
        question, truncated = self._question(query)
        pairs = [(place, pair) for place, text in enumerate(passages) for pair in self._pairs(question, text)]
        # Longest last: neighbours of one length waste no padding.
        pairs.sort(key=lambda item: len(item[1].ids))
        best = [-math.inf] * len(passages)
        done = [0] * len(passages)
        total = [0] * len(passages)
        for place, _ in pairs:
            total[place] += 1
        for start in range(0, len(pairs), _BATCH_PAIRS):
            if deadline is not None and time.monotonic() >= deadline:
                break
            batch = pairs[start : start + _BATCH_PAIRS]
            for (place, _), score in zip(batch, self._run([pair for _, pair in batch]), strict=True):
                done[place] += 1
                best[place] = max(best[place], score) if not math.isnan(score) else best[place]
        return [PairScore(best[p], total[p], truncated, done[p] < total[p]) for p in range(len(passages))]

    def _question(self, query: str) -> tuple[str, bool]:
        """The question, cut to half the model's room when it is longer; then there is always room to read."""
        encoded = self._tokenizer.encode(query, add_special_tokens=False)
        room = self._manifest.max_tokens // 2
        if len(encoded.ids) <= room:
            return query, False
        return query[: encoded.offsets[room - 1][1]], True

    def _pairs(self, question: str, passage: str) -> list[Encoding]:
        """The pair, or one pair a window of the passage, each within `max_tokens`, specials included."""
        whole = self._tokenizer.encode(question, passage)
        if len(whole.ids) <= self._manifest.max_tokens:
            return [whole]
        encoded = self._tokenizer.encode(passage, add_special_tokens=False)
        room = self._manifest.max_tokens - (len(whole.ids) - len(encoded.ids))
        step = max(1, int(room * (1 - _OVERLAP)))
        windows = []
        for start in range(0, len(encoded.ids), step):
            spans = encoded.offsets[start : start + room]
            windows.append(self._tokenizer.encode(question, passage[spans[0][0] : spans[-1][1]]))
            if start + room >= len(encoded.ids):
                break
        return windows

    def _run(self, pairs: Sequence[Encoding]) -> list[float]:
        # A window's text may tokenize to a token more than it was cut from; the limit holds all the same.
        limit = self._manifest.max_tokens
        longest = min(limit, max(len(pair.ids) for pair in pairs))
        feed = {
            name: np.full((len(pairs), longest), self._pad if name == "input_ids" else 0, dtype=np.int64)
            for name in self._inputs
        }
        for row, pair in enumerate(pairs):
            values = {
                "input_ids": pair.ids,
                "attention_mask": pair.attention_mask,
                "token_type_ids": pair.type_ids,
            }
            for name in self._inputs:
                kept = values[name][:longest]
                feed[name][row, : len(kept)] = kept
        logits: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        flat = logits.reshape(len(pairs), -1)
        return [float(row[1] - row[0]) if len(row) == 2 else float(row[0]) for row in flat]
