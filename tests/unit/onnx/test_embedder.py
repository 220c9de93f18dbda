"""The shipped embedder: unit vectors, the same alone and in a batch, token spans, the reference tokenizer, meaning."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from transformers import PreTrainedTokenizerFast

import service
from service.bootstrap import data_folder
from service.onnx.embedder import OnnxEmbedder
from service.onnx.max_sim import OnnxMaxSim
from service.onnx.session import open_tokenizer
from service.text.token_vectors import decode

FOLDER = Path(service.__file__).parent / "embedders" / "multilingual-e5-small"
MAX_SIM = data_folder("rerank_models") / "late-interaction" / "max_sim.onnx"
TEXTS = [
    "同一任务最多自动重试三次。",
    "The same task is retried three times at most.",
    "今天天气晴朗，适合散步。",
    "ERROR 8005 (HY000): Write Conflict, txnStartTS is stale",
    "ＦＵＬＬ　ｗｉｄｔｈ １２３",
    "x" * 3000,
    "SELECT * FROM t WHERE a = 'b' -- 注释",
]

GOLDEN_TEXTS = [
    "同一任务最多自动重试三次。",
    "The same task is retried three times at most.",
    "退款申请须在 7 个工作日内提交。",
    "ERROR 8005 (HY000): Write Conflict, txnStartTS is stale",
    "ＰＰＲ－９０８７ 的额定功率为 5 kW。",
    "员工每年有十天带薪年假。",
]


@pytest.fixture(scope="module")
def embedder() -> OnnxEmbedder:
    return OnnxEmbedder(FOLDER)


def test_vectors_have_unit_length(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_a_vector_does_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    together = embedder.embed_passages(TEXTS)
    alone = np.stack([embedder.embed_passages([text])[0] for text in TEXTS])
    # To the bit: a document that may not be seen must not move the vector of one that may.
    assert np.array_equal(together, alone)
    assert np.array_equal(embedder.embed_passages([*TEXTS[::-1], "另一份文件。" * 80])[:-1], alone[::-1])


def test_a_text_without_letters_has_no_direction(embedder: OnnxEmbedder) -> None:
    assert not embedder.embed_passages(["——  …", "!!!"]).any()


def test_meaning_crosses_languages(embedder: OnnxEmbedder) -> None:
    """Within one pair of languages; between pairs cosines are not comparable, hence the profile's baselines."""
    weather = "The weather is fine today, good for a walk."
    zh_retry, en_retry, zh_weather, en_weather = embedder.embed_passages([*TEXTS[:3], weather])
    assert en_retry @ zh_retry > en_retry @ zh_weather
    assert en_weather @ zh_weather > en_weather @ zh_retry


def test_one_pass_gives_the_same_vector_and_those_of_its_tokens(embedder: OnnxEmbedder) -> None:
    found = embedder.embed_passages_with_tokens(TEXTS)
    assert np.array_equal(np.stack([one.pooled for one in found]), embedder.embed_passages(TEXTS))
    for text, one in zip(TEXTS, found, strict=True):
        tokens = decode(one.tokens, embedder.dimension)
        assert 0 < len(tokens) <= min(510, embedder.count_tokens(text) + 1)
        # Four bits leave a token's length within some hundredths.
        assert np.linalg.norm(tokens, axis=1) == pytest.approx(1.0, abs=0.1)


def test_neither_prefix_nor_special_tokens_are_kept(embedder: OnnxEmbedder) -> None:
    ids, rows = embedder.token_rows("重试三次 in TiDB")
    pieces = [embedder._tokenizer.id_to_token(number) for number in ids]
    assert "".join(pieces).replace("▁", " ").strip() == "重试三次 in TiDB"
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-4)


def test_tokens_of_a_text_do_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    together = [one.tokens for one in embedder.embed_passages_with_tokens(TEXTS)]
    assert together == [embedder.embed_passages_with_tokens([text])[0].tokens for text in TEXTS]


def test_what_a_question_says_weighs_more_than_how_it_asks(embedder: OnnxEmbedder) -> None:
    tokens = embedder.embed_question("What is the rated power of the turbine?").tokens
    assert tokens is not None
    assert float(tokens.weights.sum()) == pytest.approx(1.0, abs=1e-5)
    ids = embedder._tokenizer.encode(
        "query: What is the rated power of the turbine?", add_special_tokens=False
    ).ids
    weight = dict(zip(ids[-len(tokens.weights) :], tokens.weights.tolist(), strict=True))
    named, asked = (embedder._tokenizer.token_to_id(piece) for piece in ("▁power", "▁the"))
    assert weight[named] > 2 * weight[asked]


def test_the_passage_that_answers_is_met_better(embedder: OnnxEmbedder) -> None:
    question = embedder.embed_question("任务最多重试几次？").tokens
    assert question is not None
    texts = ["The same task is retried three times at most.", "The weather is fine today, good for a walk."]
    passages = [one.tokens for one in embedder.embed_passages_with_tokens(texts)]
    near, far = OnnxMaxSim(MAX_SIM).score(question, passages)
    assert near.plain > far.plain + 0.05 and near.weighted > far.weighted + 0.05


def test_a_text_without_letters_has_no_tokens(embedder: OnnxEmbedder) -> None:
    assert [one.tokens for one in embedder.embed_passages_with_tokens(["——  …"])] == [b""]
    assert embedder.embed_question("？！").tokens is None


def test_tokens_are_those_of_the_reference_library() -> None:
    ours = open_tokenizer(FOLDER / "tokenizer.json")
    reference = PreTrainedTokenizerFast(tokenizer_file=str(FOLDER / "tokenizer.json"))
    for text in TEXTS:
        assert ours.encode(text).ids == reference(text)["input_ids"]


def golden_vectors(embedder: OnnxEmbedder) -> list[dict[str, object]]:
    """The first eight components of six texts, each embedded alone: what `golden.json` beside the model holds."""
    return [
        {"text": text, "vector": [round(float(value), 4) for value in embedder.embed_passages([text])[0][:8]]}
        for text in GOLDEN_TEXTS
    ]


def test_vectors_are_the_golden_ones(embedder: OnnxEmbedder, update_golden: bool) -> None:
    """An exchanged model, tokenizer or pooling shows here. Renew: pytest --update-golden."""
    path = FOLDER / "golden.json"
    if update_golden:
        path.write_text(
            json.dumps(golden_vectors(embedder), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    golden = json.loads(path.read_text(encoding="utf-8"))
    assert [item["text"] for item in golden] == GOLDEN_TEXTS
    for item in golden:
        vector = embedder.embed_passages([item["text"]])[0][:8]
        # Components are about 0.05; int8 kernels of other processors differ by a few thousandths.
        assert vector == pytest.approx(item["vector"], abs=0.01)


@pytest.mark.parametrize(
    ("question", "fitting", "other"),
    [
        ("How many times is a task retried?", "同一任务最多自动重试三次。", "员工每年有十天带薪年假。"),
        (
            "年假有多少天？",
            "Employees have ten days of paid leave a year.",
            "The task is retried three times.",
        ),
        ("年假有多少天？", "员工每年享有十天带薪休假。", "同一任务最多自动重试三次。"),
        ("How do I reset my password?", "如需重置密码，请联系服务台。", "今天天气晴朗，适合散步。"),
    ],
)
def test_the_fitting_passage_is_nearer(
    embedder: OnnxEmbedder, question: str, fitting: str, other: str
) -> None:
    asked = embedder.embed_question(question).pooled
    near, far = embedder.embed_passages([fitting, other]) @ asked
    assert near > far + 0.015


def test_a_text_longer_than_the_model_reads_is_cut_at_the_end(embedder: OnnxEmbedder) -> None:
    start = "重试三次。" * 400
    one, two = embedder.embed_passages([start + "密码", start + "天气"])
    assert float(one @ two) == pytest.approx(1.0, abs=1e-4)


def test_full_width_text_has_the_tokens_of_half_width(embedder: OnnxEmbedder) -> None:
    wide, narrow = embedder.token_rows("ＥＲＲ ８００５ 后臺")[0], embedder.token_rows("ERR 8005 后臺")[0]
    assert wide == narrow
