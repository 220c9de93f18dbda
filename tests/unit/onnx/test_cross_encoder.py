"""The cross-encoder class, run on a model that the test makes: its logit is the largest token id it sees."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from service.domain.answers import Candidate
from service.errors import AttestError, Misconfigured
from service.online.rerank.contract import RerankCandidate, Reranker, RerankRequest
from service.online.rerank.cross_encoder import CrossEncoderReranker
from service.online.rerank.registry import load_reranker
from service.online.rerank.stage import apply
from service.onnx.cross_encoder import OnnxCrossEncoder, PairScore
from service.onnx.pairs import Passage

WORDS = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", *(f"w{n}" for n in range(4, 50))]
MAX_TOKENS = 24


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("models") / "tiny"
    made.mkdir()
    inputs = [
        helper.make_tensor_value_info(n, TensorProto.INT64, ["b", "t"])
        for n in ("input_ids", "attention_mask")
    ]
    logit = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["b", 1])
    nodes = [
        helper.make_node("Mul", ["input_ids", "attention_mask"], ["seen"]),
        helper.make_node("Cast", ["seen"], ["numbers"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMax", ["numbers"], ["logits"], axes=[1], keepdims=1),
    ]
    graph = helper.make_graph(nodes, "largest-token", inputs, [logit])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.checker.check_model(model)
    onnx.save(model, str(made / "model.onnx"))
    vocabulary = {word: place for place, word in enumerate(WORDS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.save(str(made / "tokenizer.json"))
    digests = {
        n: hashlib.sha256((made / n).read_bytes()).hexdigest() for n in ("model.onnx", "tokenizer.json")
    }
    lines = [
        'name = "tiny"',
        'version = "1"',
        'kind = "cross-encoder"',
        f"max_tokens = {MAX_TOKENS}",
        "window_tokens = 16",
        "windows = 12",
        "contract = 1",
    ]
    files = [f'"{name}" = "{digest}"' for name, digest in digests.items()]
    (made / "manifest.toml").write_text("\n".join([*lines, 'licence = "MIT"', "[files]", *files]) + "\n")
    return made


@pytest.fixture(scope="module")
def model(folder: Path) -> OnnxCrossEncoder:
    return OnnxCrossEncoder(folder)


def scored(
    model: OnnxCrossEncoder, query: str, texts: Sequence[str], head: str = "", **more: Any
) -> list[PairScore]:
    return model.score(query, [Passage(head, text) for text in texts], **more)


def test_a_pair_is_question_and_passage(model: OnnxCrossEncoder) -> None:
    low, high = scored(model, "w4", ["w5 w6", "w5 w40"])
    assert (low.score, high.score) == (6.0, 40.0)
    assert (low.windows, low.truncated, low.timed_out) == (1, False, False)


def test_the_best_window_of_a_long_passage_counts(model: OnnxCrossEncoder) -> None:
    for place in (0, 7, 50, 99):
        words = ["w5"] * 100
        words[place] = "w44"
        [score] = scored(model, "w4 w6", [" ".join(words)])
        assert score.score == 44.0
        assert score.windows > 1


def test_scores_do_not_depend_on_batch_or_order(model: OnnxCrossEncoder) -> None:
    rng = np.random.default_rng(3)
    passages = [" ".join(f"w{rng.integers(4, 50)}" for _ in range(rng.integers(1, 60))) for _ in range(40)]
    together = [s.score for s in scored(model, "w4", passages)]
    assert together == [scored(model, "w4", [p])[0].score for p in passages]
    assert together[::-1] == [s.score for s in scored(model, "w4", passages[::-1])]


def test_a_long_question_is_cut_and_says_so(model: OnnxCrossEncoder) -> None:
    [score] = scored(model, " ".join(["w4"] * 30), ["w9"])
    assert score.truncated
    assert score.score == 9.0


def test_what_is_not_read_by_the_deadline_is_told(model: OnnxCrossEncoder) -> None:
    scores = scored(model, "w4", ["w5"] * 20, deadline=time.monotonic() - 1)
    assert all(score.timed_out for score in scores)


@pytest.mark.parametrize("place", [0, 13, 250, 499])
def test_of_a_very_long_passage_the_windows_with_the_question_s_words_are_read(
    model: OnnxCrossEncoder, place: int
) -> None:
    """FlashRank#34: never cut without a word, and not where the answer stands."""
    words = ["w5"] * 500
    words[place] = "w33"
    [score] = scored(model, "w33", [" ".join(words)], terms=("w33",))
    assert (score.score, score.windows, score.truncated) == (33.0, 12, True)
    [unread] = scored(model, "w4", [" ".join([*words[:490], "w44", *words[490:]])])
    assert unread.truncated


def test_the_head_is_read_with_every_window_and_counts(model: OnnxCrossEncoder) -> None:
    text = " ".join(["w5"] * 40)
    [plain] = scored(model, "w4", [text])
    [headed] = scored(model, "w4", [text], head="w31 w6 w6 w6 w6 w6")
    assert (headed.score, headed.truncated) == (31.0, False)
    assert headed.windows > plain.windows
    [cut] = scored(model, "w4", [text], head=" ".join(["w6"] * 30))
    assert cut.truncated


def test_numbers_that_are_none_are_no_score(folder: Path, tmp_path: Path) -> None:
    """A window without a number does not count; where none has one, nothing has been scored."""
    model = rebuilt(folder, tmp_path, "Log", "logits", shift=-5.0)
    [some] = scored(model, "w4", ["w9"])
    assert some.score == pytest.approx(np.log(4.0))
    [none] = scored(model, "w4", ["w4"])
    assert np.isnan(none.score) and not none.timed_out


def rebuilt(folder: Path, tmp_path: Path, operator: str, output: str, shift: float) -> OnnxCrossEncoder:
    """The model with another operator behind its logit."""
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.node[-1].output[0] = "largest"
    model.graph.initializer.append(onnx.numpy_helper.from_array(np.float32([shift]), "shift"))
    model.graph.node.append(helper.make_node("Add", ["largest", "shift"], ["shifted"]))
    model.graph.node.append(helper.make_node(operator, ["shifted"], [output]))
    return OnnxCrossEncoder(with_model(folder, tmp_path, model))


def with_model(folder: Path, tmp_path: Path, model: onnx.ModelProto) -> Path:
    other = tmp_path / "tiny"
    other.mkdir()
    (other / "tokenizer.json").write_bytes((folder / "tokenizer.json").read_bytes())
    onnx.save(model, str(other / "model.onnx"))
    old, new = (hashlib.sha256((at / "model.onnx").read_bytes()).hexdigest() for at in (folder, other))
    (other / "manifest.toml").write_text((folder / "manifest.toml").read_text().replace(old, new))
    return other


def test_what_is_no_cross_encoder_is_told_at_the_start(folder: Path, tmp_path: Path) -> None:
    model = onnx.load(str(folder / "model.onnx"))
    model.graph.node[-1].output[0] = "one"
    model.graph.node.append(helper.make_node("Concat", ["one", "one", "one"], ["logits"], axis=1))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 3
    with pytest.raises(Misconfigured, match=r"shape \(1, 3\).*one\s+logit, or two"):
        OnnxCrossEncoder(with_model(folder, tmp_path, model))


def test_a_changed_file_is_refused(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "tiny"
    other.mkdir()
    for file in folder.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    with (other / "model.onnx").open("ab") as file:
        file.write(b"x")
    with pytest.raises(AttestError, match="sha256"):
        OnnxCrossEncoder(other)


@pytest.fixture(scope="module")
def plugin(folder: Path) -> Reranker:
    """The folder as a profile names it: data only, run by the built-in class."""
    loaded = load_reranker("tiny", folder.parent, {}, lambda found: CrossEncoderReranker(found, 1))
    assert loaded is not None
    return loaded


def asked(*texts: str, heading: tuple[str, ...] = ()) -> RerankRequest:
    candidates = tuple(
        RerankCandidate(f"c{rank}", "w7", heading, "", text, frozenset(), rank)
        for rank, text in enumerate(texts, 1)
    )
    return RerankRequest("w4", ("w4",), frozenset(), frozenset(), False, candidates)


def test_the_plugin_scores_heading_and_text_and_shows_the_logit(plugin: Reranker) -> None:
    one, two = plugin.rerank(asked("w5", "w30", heading=("w20", "w6")), time.monotonic() + 60)
    assert (one.chunk_id, one.score, dict(one.contributions)) == ("c1", 20.0, {"logit": 20.0})
    assert (two.chunk_id, two.score) == ("c2", 30.0)
    assert plugin.identity == "tiny@1"


@pytest.mark.parametrize(
    ("seconds", "order", "faults"),
    # What the model cuts short itself comes back as unscored, what it never began as late: neither reorders.
    [(60.0, ["c2", "c3", "c1"], {None}), (1e-9, ["c1", "c2", "c3"], {"late", "incomplete"})],
)
def test_too_late_leaves_the_fused_order(
    plugin: Reranker, seconds: float, order: list[str], faults: set[str | None]
) -> None:
    fused = [Candidate(f"c{rank}", 1.0 / rank) for rank in (1, 2, 3)]
    with ThreadPoolExecutor(1) as executor:
        done = apply(plugin, asked("w5", "w30", "w20"), fused, seconds, executor)
    assert [c.chunk_id for c in done.order] == order
    assert done.fault in faults


def test_candidates_unread_at_the_deadline_are_unscored(plugin: Reranker) -> None:
    assert list(plugin.rerank(asked("w5", "w30"), time.monotonic() - 1)) == []


def test_two_logits_are_taken_as_yes_less_no(folder: Path, tmp_path: Path) -> None:
    model = onnx.load(str(folder / "model.onnx"))
    node = model.graph.node[-1]
    node.output[0] = "yes"
    model.graph.node.append(helper.make_node("Neg", ["yes"], ["no"]))
    model.graph.node.append(helper.make_node("Concat", ["no", "yes"], ["logits"], axis=1))
    model.graph.output[0].type.tensor_type.shape.dim[1].dim_value = 2
    other = with_model(folder, tmp_path, model)
    [score] = scored(OnnxCrossEncoder(other), "w4", ["w9"])
    assert score.score == 18.0
