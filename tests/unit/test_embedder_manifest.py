"""Embedder folders hold what their manifests say, and the builder writes manifests that hold."""

from __future__ import annotations

import hashlib
import json
import tomllib
from pathlib import Path

import numpy as np
import onnx
import pytest
from embedder_build.manifest import manifest
from embedder_build.vocabulary import kept_pieces
from embedder_build.weights import Q4_0, Unexpected, dequantise, read_weights

from service.bootstrap import EMBEDDERS
from service.onnx.manifest import CROSS_ENCODER, EMBEDDER, ManifestError, load_manifest

FOLDERS = sorted(path for path in EMBEDDERS.iterdir() if path.is_dir())
SHIPPED = EMBEDDERS / "multilingual-e5-small"


def declared(folder: Path) -> dict:
    return tomllib.loads((folder / "manifest.toml").read_text(encoding="utf-8"))


def test_the_shipped_embedder_is_among_the_folders() -> None:
    assert SHIPPED in FOLDERS


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_files_have_the_hashes_of_the_manifest(folder: Path) -> None:
    files = declared(folder)["files"]
    assert {"model.onnx", "tokenizer.json"} <= set(files)
    for name, sha256 in files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256, name


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_the_licence_travels_with_the_model(folder: Path) -> None:
    licence = (folder / "LICENSE").read_text(encoding="utf-8")
    assert declared(folder)["licence"] in licence
    assert "Copyright (c)" in licence
    assert folder.name in (folder / "NOTICE").read_text(encoding="utf-8")


def test_graph_and_tokenizer_fit_the_manifest_and_each_other() -> None:
    says = load_manifest(SHIPPED, EMBEDDER)
    graph = onnx.load(str(says.model)).graph
    assert {value.name for value in graph.input} == {"input_ids", "attention_mask"}
    sizes = {value.name: value.type.tensor_type.shape.dim[-1].dim_value for value in graph.output}
    assert sizes == {"token_vectors": says.dimension, "pooled": says.dimension}
    shapes = {tensor.name: list(tensor.dims) for tensor in graph.initializer}
    tokenizer = json.loads(says.tokenizer.read_text(encoding="utf-8"))
    pieces = [piece for piece, _ in tokenizer["model"]["vocab"]]
    assert len(set(pieces)) == len(pieces)
    assert shapes["b.embeddings.word_embeddings.weight_quantized"] == [len(pieces), says.dimension]
    assert shapes["b.embeddings.position_embeddings.weight_quantized"] == [says.max_tokens, says.dimension]
    assert all(pieces[token["id"]] == token["content"] for token in tokenizer["added_tokens"])


def test_the_builder_writes_the_shipped_manifest_again() -> None:
    written = manifest(
        "multilingual-e5-small",
        384,
        {"zh": 0.9991, "en": 0.9988},
        SHIPPED,
        ("model.onnx", "tokenizer.json", "token_mean.npy", "token_frequencies.npy"),
    )
    assert written == (SHIPPED / "manifest.toml").read_text(encoding="utf-8")


def test_a_built_manifest_holds_until_a_file_changes(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"graph")
    (folder / "tokenizer.json").write_bytes(b"{}")
    text = manifest("mine", 8, {"zh": 0.9961}, folder, ("model.onnx", "tokenizer.json"))
    (folder / "manifest.toml").write_text(text, encoding="utf-8")
    read = load_manifest(folder, EMBEDDER)
    assert (read.identity, read.dimension, read.max_tokens) == ("mine@3", 8, 512)
    assert (read.query_prefix, read.passage_prefix) == ("query: ", "passage: ")
    (folder / "model.onnx").write_bytes(b"grapH")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(ManifestError) as caught:
        load_manifest(folder, CROSS_ENCODER)
    # Every fault at once: who repairs one should not meet the next only afterwards.
    for fault in ("`kind` is 'embedder'", "model.onnx does not have the sha256", "tokenizer.json is missing"):
        assert fault in caught.value.message


def test_pieces_of_other_scripts_go_and_ids_keep_their_order() -> None:
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [*special, "▁the", "的", "▁né", "情報を", "，", "。", "한국", "▁2024年", "é", "«", "⁠", "<mask>"]
    kept = kept_pieces(pieces, [0.0] * 4 + [-1.0] * (len(pieces) - 5) + [0.0])
    # The full-width comma goes too: normalisation turns it into the ASCII one before any piece is looked up.
    assert [pieces[i] for i in kept] == [*special, "▁the", "的", "。", "▁2024年", "<mask>"]
    assert kept == sorted(kept)


def test_of_ascii_pieces_the_likeliest_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("embedder_build.vocabulary.ASCII_PIECES", 2)
    pieces = ["<s>", "<pad>", "</s>", "<unk>", "rare", "▁of", "▁to", "稣"]
    kept = kept_pieces(pieces, [0, 0, 0, 0, -13.0, -4.0, -5.0, -20.0])
    assert [pieces[i] for i in kept[4:]] == ["▁of", "▁to", "稣"]


def test_a_vocabulary_with_other_special_tokens_is_refused() -> None:
    with pytest.raises(Unexpected, match="begins with"):
        kept_pieces(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a"], [0.0] * 5)


def test_q4_0_blocks_give_low_halves_first_each_eight_too_high() -> None:
    block = np.zeros(1, dtype=Q4_0)
    block["scale"] = 0.5
    block["halves"][0] = [0xF0 + i for i in range(16)]  # low halves 0 … 15, high halves all 15
    assert dequantise(block).tolist() == [(i - 8) * 0.5 for i in range(16)] + [3.5] * 16


def test_another_model_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "e5-small-q4.bin").write_bytes(b"E5S1" + bytes(64))
    with pytest.raises(Unexpected, match="not the model file"):
        read_weights(tmp_path / "e5-small-q4.bin")
