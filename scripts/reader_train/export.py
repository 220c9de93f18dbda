"""A trained reader as a reranker's folder: graph, tokenizer, manifest. Its logit says that the passage answers."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path

import torch
from embedder_build.graph import OPSET, quantise
from embedder_build.manifest import file_sha256
from embedder_build.vocabulary import SPECIAL
from tokenizers import Tokenizer

from reader_train.model import MOST_TOKENS, Reader

WINDOW_TOKENS, WINDOWS = 224, 2  # of title, headings and text: a chunk of the usual size is one window
_NAMES = ("input_ids", "token_type_ids")
_FILES = ("model.onnx", "tokenizer.json")


class Exported(torch.nn.Module):
    """(1, tokens) of ids and types → `logits` (1, 1), that there is an answer, and `spans` (1, tokens, 2), that it
    begins and ends at a token, the first token standing for none. No mask: the service runs one pair at a time."""

    def __init__(self, reader: Reader) -> None:
        super().__init__()
        self.reader = reader

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        side = types * (ids != SPECIAL.index("</s>"))
        first, last, there = self.reader(ids, None, side)
        return there.unsqueeze(-1), torch.stack([first, last], -1)


def export(reader: Reader, tokenizer: Tokenizer, out: Path) -> None:
    """Writes the folder's files; what else stands in it (card, golden scores) is left."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".exporting-", dir=out.parent) as name:
        work = Path(name)
        _graph(Exported(reader.eval()), tokenizer, work / "fp32.onnx")
        quantise(work / "fp32.onnx", work / "model.onnx", reader.bert.config.num_hidden_layers)
        tokenizer.save(str(work / "tokenizer.json"))
        for file in _FILES:
            shutil.move(work / file, out / file)
    (out / "manifest.toml").write_text(_manifest(out), encoding="utf-8")


def _graph(model: Exported, tokenizer: Tokenizer, path: Path) -> None:
    pair = tokenizer.encode("质保多久？", "质保期为两年。")
    values = (torch.tensor([pair.ids]), torch.tensor([pair.type_ids]))
    axes = {name: {1: "tokens"} for name in (*_NAMES, "spans")}
    with warnings.catch_warnings():
        # Of branches frozen while tracing; the golden scores run other lengths.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            values,
            str(path),
            input_names=list(_NAMES),
            output_names=["logits", "spans"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def _manifest(out: Path) -> str:
    hashes = "".join(f'"{file}" = "{file_sha256(out / file)}"\n' for file in _FILES)
    return f"""\
# Made by scripts/train-reader; card.md says of what, what its score tells and what not.
name = "{out.name}"
version = "1"
kind = "cross-encoder"
contract = 1
licence = "CC-BY-SA-4.0"
description = "Whether a passage answers a question: multilingual-e5-small over both, upper half trained, zh and en."
max_tokens = {MOST_TOKENS}
window_tokens = {WINDOW_TOKENS}
windows = {WINDOWS}

[files]
{hashes}"""
