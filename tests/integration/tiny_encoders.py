"""Small cross-encoders with random weights, as real graphs: a layer of a transformer of BERT's and one of XLM-R's
type, each with its own tokenizer. `reference` is the same model in numpy."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

HIDDEN, POSITIONS = 16, 512
Weights = dict[str, NDArray[np.float32]]


def bert_tokenizer(words: str) -> Tokenizer:
    """WordPiece over single characters; two kinds of token."""
    characters = sorted(set(words))
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *characters, *(f"##{c}" for c in characters)]
    tokenizer = Tokenizer(models.WordPiece({p: n for n, p in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


def xlmr_tokenizer(words: str) -> Tokenizer:
    """Unigram over single characters; positions begin behind the padding's."""
    characters = ["▁", *sorted(set(words) - {" "})]
    pieces = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((c, -3.0) for c in characters)]
    tokenizer = Tokenizer(models.Unigram(pieces, unk_id=3, byte_fallback=False))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def weights(vocabulary: int, logits: int, seed: int) -> Weights:
    rng = np.random.default_rng(seed)
    shapes = {
        "words": (vocabulary, HIDDEN),
        "positions": (POSITIONS + 2, HIDDEN),
        "types": (2, HIDDEN),
        "query": (HIDDEN, HIDDEN),
        "key": (HIDDEN, HIDDEN),
        "value": (HIDDEN, HIDDEN),
        "up": (HIDDEN, 4 * HIDDEN),
        "down": (4 * HIDDEN, HIDDEN),
        "classifier": (HIDDEN, logits),
    }
    return {name: rng.normal(0, 0.4, shape).astype(np.float32) for name, shape in shapes.items()}


def reference(w: Weights, ids: list[int], types: list[int] | None) -> float:
    """The score of one pair, computed without onnxruntime."""
    first = 0 if types is not None else 2
    x = w["words"][ids] + w["positions"][first : first + len(ids)]
    if types is not None:
        x = x + w["types"][types]
    near = (x @ w["query"]) @ (x @ w["key"]).T / np.sqrt(np.float32(HIDDEN))
    share = np.exp(near - near.max(axis=1, keepdims=True))
    x = x + share / share.sum(axis=1, keepdims=True) @ (x @ w["value"])
    x = x + np.maximum(x @ w["up"], 0) @ w["down"]
    logits = np.tanh(x[0]) @ w["classifier"]
    return float(logits[1] - logits[0]) if len(logits) == 2 else float(logits[0])


def graph(w: Weights, *, bert: bool) -> onnx.ModelProto:
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if bert else [])]
    constants = {
        "one": np.int64([1]),
        "first": np.int64([0 if bert else 2]),
        "scale": np.float32([np.sqrt(HIDDEN)]),
        "far": np.float32([-1e9]),
        "unit": np.float32([1]),
        "axis": np.int64([1]),
        "keys": np.int64([1]),
        "top": np.int64(0),
    }

    def node(kind: str, inputs: str, output: str, **attributes: object) -> onnx.NodeProto:
        return helper.make_node(kind, inputs.split(), [output], **attributes)

    nodes = [
        node("Gather", "words input_ids", "w"),
        node("CumSum", "attention_mask axis0", "counted"),
        node("Sub", "counted one", "from0"),
        node("Add", "from0 first", "place"),
        node("Gather", "positions place", "p"),
        node("Add", "w p", "wp"),
        *(
            [node("Gather", "types token_type_ids", "t"), node("Add", "wp t", "x")]
            if bert
            else [node("Identity", "wp", "x")]
        ),
        node("MatMul", "x query", "q"),
        node("MatMul", "x key", "k"),
        node("MatMul", "x value", "v"),
        node("Transpose", "k", "kt", perm=[0, 2, 1]),
        node("MatMul", "q kt", "dots"),
        node("Div", "dots scale", "scaled"),
        node("Cast", "attention_mask", "seen", to=TensorProto.FLOAT),
        node("Sub", "unit seen", "hidden"),
        node("Mul", "hidden far", "bar"),
        node("Unsqueeze", "bar keys", "bars"),
        node("Add", "scaled bars", "masked"),
        node("Softmax", "masked", "share", axis=-1),
        node("MatMul", "share v", "mixed"),
        node("Add", "x mixed", "x1"),
        node("MatMul", "x1 up", "wide"),
        node("Relu", "wide", "kept"),
        node("MatMul", "kept down", "narrow"),
        node("Add", "x1 narrow", "x2"),
        node("Gather", "x2 top", "cls", axis=1),
        node("Tanh", "cls", "pooled"),
        node("MatMul", "pooled classifier", "logits"),
    ]
    tensors = [numpy_helper.from_array(value, name) for name, value in {**w, **constants}.items()]
    tensors.append(numpy_helper.from_array(np.int64(1), "axis0"))
    made = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info(n, TensorProto.INT64, ["batch", "tokens"]) for n in names],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", w["classifier"].shape[1]])],
        tensors,
    )
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    return model


def write_folder(
    folder: Path, tokenizer: Tokenizer, w: Weights, *, bert: bool, quantised: bool = False
) -> None:
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    onnx.save(graph(w, bert=bert), str(folder / "model.onnx"))
    if quantised:
        from onnxruntime.quantization import QuantType, quantize_dynamic

        quantize_dynamic(str(folder / "model.onnx"), str(folder / "int8.onnx"), weight_type=QuantType.QInt8)
        (folder / "int8.onnx").replace(folder / "model.onnx")
    write_manifest(folder)


def write_manifest(folder: Path, **changes: object) -> None:
    values: dict[str, object] = {
        "name": folder.name,
        "version": "1",
        "kind": "cross-encoder",
        "contract": 1,
        "licence": "MIT",
        "max_tokens": 512,
    } | changes
    lines = [
        f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {value}"
        for key, value in values.items()
    ]
    hashes = [
        f'"{n}" = "{hashlib.sha256((folder / n).read_bytes()).hexdigest()}"'
        for n in ("model.onnx", "tokenizer.json")
    ]
    (folder / "manifest.toml").write_text("\n".join([*lines, "[files]", *hashes]) + "\n", encoding="utf-8")
