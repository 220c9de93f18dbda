"""ONNX cross-encoders: (question, passage) pairs, long passages in windows, the best window counts."""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tokenizers import Encoding

from service.errors import Misconfigured
from service.onnx.manifest import CROSS_ENCODER, load_manifest
from service.onnx.pairs import Pairing, Passage
from service.onnx.session import open_session, open_tokenizer

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}


@dataclass(frozen=True, slots=True)
class PairScore:
    """`score` is the best window's; NaN where no window gave a number. `truncated`: part of the question, the head
    or the text was not read. `timed_out`: not all windows were scored in time."""

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
        try:
            self._session = open_session(self._manifest.model, threads)
            self._tokenizer = open_tokenizer(self._manifest.tokenizer)
        except Exception as error:  # Both libraries raise what they like for a file they cannot read.
            raise Misconfigured(
                f"{self.identity}: model.onnx or tokenizer.json cannot be read: {error}"
            ) from None
        limits = self._manifest
        self._pairing = Pairing(self._tokenizer, limits.max_tokens, limits.window_tokens, limits.windows)
        self._inputs = {value.name: _TYPES.get(value.type) for value in self._session.get_inputs()}
        names = [value.name for value in self._session.get_outputs()]
        self._output = "logits" if "logits" in names else names[0]
        self._try()

    @property
    def identity(self) -> str:
        return self._manifest.identity

    def score(
        self,
        query: str,
        passages: Sequence[Passage],
        deadline: float | None = None,
        terms: Collection[str] = (),
    ) -> list[PairScore]:
        """A score per passage, in the given order. `terms`, the question's analysed ones, decide which windows of
        a very long passage are read. `deadline` is a `time.monotonic` value, looked at before each window."""
        question, cut = self._pairing.question(query)
        return [self._score(question, cut, passage, deadline, terms) for passage in passages]

    def _score(
        self, question: str, cut: bool, passage: Passage, deadline: float | None, terms: Collection[str]
    ) -> PairScore:
        if _late(deadline):  # Windows are not even cut then: that takes time as well.
            return PairScore(math.nan, 0, cut, timed_out=True)
        read = self._pairing.pairs(question, passage, terms)
        pairs, truncated = read.encodings, cut or not read.complete
        best = math.nan
        # One by one. Dynamic int8 takes its scale from the whole batch: in one with others a pair's score would tell
        # of theirs, and hang on the order. On a CPU a batch is no faster.
        for pair in pairs:
            if _late(deadline):
                return PairScore(best, len(pairs), truncated, timed_out=True)
            score = self._run(pair)
            if math.isfinite(score) and not best >= score:
                best = score
        return PairScore(best, len(pairs), truncated)

    def _run(self, pair: Encoding) -> float:
        flat = self._logits(pair).reshape(-1)
        # A model that was trained to choose between "no" and "yes" says how much more it believes in yes.
        return float(flat[1] - flat[0]) if len(flat) == 2 else float(flat[0])

    def _logits(self, pair: Encoding) -> NDArray[np.float32]:
        values = dict(zip(_INPUTS, (pair.ids, pair.attention_mask, pair.type_ids), strict=True))
        feed = {name: np.asarray([values[name]], dtype=kind) for name, kind in self._inputs.items()}
        logits: NDArray[np.float32] = self._session.run([self._output], feed)[0]
        return logits

    def _try(self) -> None:
        """One pair at the start: what does not run at all should not first be seen by a question."""
        strange = set(self._inputs) - set(_INPUTS)
        if strange or "input_ids" not in self._inputs or None in self._inputs.values():
            raise Misconfigured(
                f"{self.identity}: the graph has the inputs {', '.join(sorted(self._inputs))}; a cross-encoder has "
                "input_ids, attention_mask and perhaps token_type_ids, whole numbers. Export it as a sequence "
                "classifier (docs/rerankers.md)."
            )
        try:
            logits = self._logits(self._tokenizer.encode("问 question", "答 answer"))
        except Exception as error:  # Whatever onnxruntime raises for a graph that does not fit its tokenizer.
            raise Misconfigured(
                f"{self.identity}: the graph does not run on what its tokenizer gives (another model's tokenizer, or "
                f"a fixed batch or length): {error}"
            ) from None
        if logits.size not in (1, 2) or logits.shape[0] != 1:
            raise Misconfigured(
                f"{self.identity}: {self._output} of one pair has the shape {logits.shape}; a cross-encoder gives one "
                "logit, or two (no, yes)."
            )


def _late(deadline: float | None) -> bool:
    return deadline is not None and time.monotonic() >= deadline
