"""A trained model as a reranker's folder: graph, tokenizer, manifest."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path

import torch
from embedder_build.graph import OPSET, quantise
from embedder_build.manifest import file_sha256
from embedder_build.weights import Unexpected
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from tokenizers import Tokenizer

from cross_encoder_train.model import CrossEncoder, batch

MOST_BYTES = 40_000_000
MAX_TOKENS, WINDOW_TOKENS, WINDOWS = 256, 128, 4
_NAMES = ("input_ids", "attention_mask", "token_type_ids")
_FILES = ("model.onnx", "tokenizer.json")


def export(model: CrossEncoder, tokenizer: Tokenizer, out: Path) -> None:
    """Writes the folder's files; what else stands in it (card, golden scores) is left."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".exporting-", dir=out.parent) as name:
        work = Path(name)
        _graph(model.eval(), tokenizer, work / "fp32.onnx")
        _fuse(model, work / "fp32.onnx", work / "fused.onnx")
        quantise(work / "fused.onnx", work / "model.onnx", model.bert.config.num_hidden_layers)
        tokenizer.save(str(work / "tokenizer.json"))
        size = (work / "model.onnx").stat().st_size
        if size > MOST_BYTES:
            raise Unexpected(f"model.onnx has {size:,} bytes, more than {MOST_BYTES:,}")
        for file in _FILES:
            shutil.move(work / file, out / file)
    (out / "manifest.toml").write_text(_manifest(out), encoding="utf-8")


def _graph(model: CrossEncoder, tokenizer: Tokenizer, path: Path) -> None:
    # Two pairs of different lengths, so that neither the batch nor the padding is taken for a constant.
    pairs = [tokenizer.encode("质保多久？", "质保期为两年。").ids, tokenizer.encode("How long?", "No.").ids]
    axes = {name: {0: "batch", 1: "tokens"} for name in _NAMES} | {"logits": {0: "batch"}}
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # of branches frozen while tracing; the golden scores run other lengths
        torch.onnx.export(
            model,
            batch(pairs),
            str(path),
            input_names=list(_NAMES),
            output_names=["logits"],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )


def _fuse(model: CrossEncoder, source: Path, target: Path) -> None:
    config = model.bert.config
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False  # embeddings stay apart, to be quantised as Gather
    fused = optimizer.optimize_model(
        str(source),
        model_type="bert",
        num_heads=config.num_attention_heads,
        hidden_size=config.hidden_size,
        optimization_options=options,
        opt_level=0,
    )
    found = fused.get_fused_operator_statistics()
    if found["Attention"] != config.num_hidden_layers:
        raise Unexpected(f"the optimizer did not recognise the model: {found}")
    fused.save_model_to_file(str(target))


def _manifest(out: Path) -> str:
    hashes = "".join(f'"{file}" = "{file_sha256(out / file)}"\n' for file in _FILES)
    return f"""\
# Made by scripts/train-cross-encoder; card.md says of what, how well it ranks and where it does not.
name = "{out.name}"
version = "1"
kind = "cross-encoder"
contract = 1
licence = "CC-BY-SA-4.0"
description = "Four layers of multilingual-e5-small over question and passage, trained on public questions, zh and en."
max_tokens = {MAX_TOKENS}
window_tokens = {WINDOW_TOKENS}
windows = {WINDOWS}

[files]
{hashes}"""
