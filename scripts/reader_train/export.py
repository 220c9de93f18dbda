"""A trained reader as a folder of the service: its own upper layers, which read on from the embedder's lower ones."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import torch
from embedder_build.graph import OPSET, quantise
from embedder_build.manifest import file_sha256

from reader_train.model import FROZEN, MOST_QUESTION, MOST_TOKENS, Reader

# The rows that the embedder's graph has after its frozen half, as its exporter named them.
_READS = f"/b/encoder/layer.{FROZEN - 1}/output/LayerNorm/LayerNormalization_output_0"
_INPUTS, _OUTPUTS = ("hidden", "sides"), ("answers", "spans")


class Upper(torch.nn.Module):
    """(1, tokens, hidden) rows and (1, tokens) sides → `answers` (1,), logit that the passage answers, and `spans`
    (1, tokens, 2), that the answer begins and ends at a token, the first token standing for none. No mask: the service
    reads one pair at a time."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, hidden: torch.Tensor, sides: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        first, last, there = self.reader.upper(hidden, torch.ones_like(sides), None, sides)
        return there, torch.stack([first, last], -1)


def export(reader: Reader, embedder: Path, out: Path) -> None:
    """Writes graph and manifest; what else stands in the folder (card, golden readings) is left."""
    out.mkdir(parents=True, exist_ok=True)
    own = reader.bert.encoder.layer[FROZEN:]
    with tempfile.TemporaryDirectory(prefix=".exporting-", dir=out.parent) as name:
        work = Path(name)
        _graph(Upper(reader.eval()), reader.bert.config.hidden_size, work / "fp32.onnx")
        quantise(work / "fp32.onnx", work / "model.onnx", len(own))
        (work / "model.onnx").replace(out / "model.onnx")
    (out / "manifest.toml").write_text(_manifest(embedder, out), encoding="utf-8")


def _graph(model: Upper, hidden: int, path: Path) -> None:
    values = (torch.zeros(1, 9, hidden), torch.tensor([[0, 0, 0, 0, 0, 1, 1, 1, 0]]))
    with warnings.catch_warnings():
        # Of branches frozen while tracing; the golden readings run other lengths.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            values,
            str(path),
            input_names=list(_INPUTS),
            output_names=list(_OUTPUTS),
            dynamic_axes={name: {1: "tokens"} for name in (*_INPUTS, "spans")},
            opset_version=OPSET,
            dynamo=False,
        )


def _manifest(embedder: Path, out: Path) -> str:
    return f"""\
# Made by scripts/train-reader; card.md says of what, what it tells and what not.
name = "{out.name}"
version = "1"
kind = "reader"
licence = "CC-BY-SA-4.0"
description = "Whether a passage answers a question, and where: multilingual-e5-small over both, upper half trained."
max_tokens = {MOST_TOKENS} # of question and passage
max_question = {MOST_QUESTION} # code points

# The lower half is the embedder's: this folder has the layers above the rows named here.
[below]
embedder = "{embedder.name}"
model = "{file_sha256(embedder / "model.onnx")}"
rows = "{_READS}"

[files]
"model.onnx" = "{file_sha256(out / "model.onnx")}"
"""
