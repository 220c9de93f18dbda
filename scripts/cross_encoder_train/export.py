"""A trained model as a reranker's folder: graph, tokenizer, manifest."""

from __future__ import annotations

import logging
import shutil
import tempfile
import warnings
from pathlib import Path

import onnx
import torch
from embedder_build.graph import OPSET, SECOND_FEED_FORWARD
from embedder_build.manifest import file_sha256
from embedder_build.weights import Unexpected
from onnxruntime.quantization import QuantType, quantize_dynamic
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
        _quantise(model, work / "fused.onnx", work / "model.onnx")
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


def _quantise(model: CrossEncoder, source: Path, target: Path) -> None:
    """As the embedder is: a scale per channel, seven bits, and the products with outliers kept in fp32."""
    names = [node.name for node in onnx.load(str(source)).graph.node if node.op_type == "MatMul"]
    spared = [name for name in names if SECOND_FEED_FORWARD.search(name)]
    if len(spared) != model.bert.config.num_hidden_layers:
        raise Unexpected(f"found {len(spared)} second feed-forward products")
    logging.disable(logging.WARNING)  # it recommends a pre-processing that is the fusion above
    quantize_dynamic(
        str(source),
        str(target),
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Attention", "Gather"],
        per_channel=True,
        reduce_range=True,
        nodes_to_exclude=spared,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )
    logging.disable(logging.NOTSET)


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
