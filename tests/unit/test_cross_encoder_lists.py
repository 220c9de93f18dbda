"""What a cross-encoder is trained on: train splits only, windows as they are served, a teacher, negatives beside gold."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers, processors

from cross_encoder_train import corpora, lists
from cross_encoder_train.card import card
from cross_encoder_train.comparing import Ranked, table
from cross_encoder_train.pools import Pool
from cross_encoder_train.teacher import Read, Teacher
from dataset_build.model import DataSet, Document, Gold, Question
from service.domain.documents import Span
from service.evaluation.cases import Case
from service.evaluation.splits import split_of
from service.online.rerank.contract import RerankCandidate, RerankRequest
from service.onnx.pairs import Pairing, Passage

NAMES = [f"d{n}" for n in range(40)]


def data_set() -> DataSet:
    documents = tuple(Document(name, f"text of {name}") for name in NAMES)
    asked = [Question(f"q-{name}", f"what of {name}?", name, (Gold(name, 0, 4),)) for name in NAMES]
    without = Question("q-none", "what of nothing?", NAMES[0], bucket="unanswerable")
    return DataSet("invented", 1, documents, (*asked, without))


def test_neither_question_nor_document_of_another_split_is_learnt_from() -> None:
    part = corpora.train_part(data_set(), 1000)
    learnt = {name for name in NAMES if split_of(name) == "train"}
    assert {q.about for q in part.questions} == {d.document_id for d in part.documents} == learnt
    assert "q-none" not in {q.case_id for q in part.questions}
    assert len(corpora.train_part(data_set(), 3).documents) == 3


def test_sets_that_may_not_ship_are_not_learnt_from() -> None:
    assert not {"cjrc", "rgb", "manpages-zh", "cranfield", "cacm", "miracl-zh"} & set(corpora.LEARNT)


def test_a_heading_stands_for_its_section_unless_several_have_it(tmp_path: Path) -> None:
    root = tmp_path / "tidb_docs_cn"
    root.mkdir()
    page = next(name for name in (f"p{n}.md" for n in range(50)) if split_of(name) == "train")
    other = next(name for name in (f"p{n}.md" for n in range(50)) if split_of(name) == "report")
    body = "这一节说明怎样备份集群的数据，以及备份文件存放的位置。" * 3
    sections = f"# 备份集群\n\n{body}甲\n\n## `另请参阅`\n\n{body}乙\n\n## 另请参阅\n\n{body}丙\n\n## 短小的一节\n\n短。\n\n## 又一次备份\n\n{body}甲\n"
    (root / page).write_text(sections, encoding="utf-8")
    (root / other).write_text(f"# 恢复集群\n\n{body}丁\n", encoding="utf-8")
    (root / "bare.md").write_text("没有标题。", encoding="utf-8")
    found = corpora.tidb_headings(tmp_path)
    assert [q.text for q in found.questions] == ["备份集群", "又一次备份"]
    assert len({q.case_id for q in found.questions}) == 2
    [gold] = found.questions[0].gold
    assert {d.document_id: d.text for d in found.documents}[gold.document_id] == f"{body}甲"


def test_a_set_that_is_not_the_pinned_one_is_refused() -> None:
    with pytest.raises(ValueError, match=r"cmrc is not the set that .*splits\.json pins"):
        corpora.pinned(DataSet("cmrc", 1, (), ()))


@pytest.fixture(scope="module")
def pairing() -> Pairing:
    pieces = ["<s>", "<pad>", "</s>", "<unk>", *(f"w{n}" for n in range(200))]
    tokenizer = Tokenizer(models.WordLevel({piece: n for n, piece in enumerate(pieces)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return Pairing(tokenizer, max_tokens=64, window_tokens=10, windows=8)


def test_the_spans_of_a_passage_are_what_its_pairs_read(pairing: Pairing) -> None:
    text = " ".join(f"w{n}" for n in range(50))
    cut = pairing.pairs("w0 w1", Passage("w199", text), ())
    assert cut.complete and len(cut.encodings) == len(cut.spans) > 3
    for encoding, (start, end) in zip(cut.encodings, cut.spans, strict=True):
        assert encoding.tokens == [
            "<s>",
            "w0",
            "w1",
            "</s>",
            "</s>",
            "w199",
            *text[start:end].split(),
            "</s>",
        ]


def pool(gold: dict[str, list[Span]], texts: dict[str, str]) -> Pool:
    candidates = tuple(
        RerankCandidate(name, "", (), "", text, frozenset(), rank)
        for rank, (name, text) in enumerate(texts.items(), 1)
    )
    request = RerankRequest("w3", ("w3",), frozenset(), frozenset(), False, candidates)
    return Pool(Case(case_id="c", query="w3", answerability="answerable"), request, gold)


def test_of_gold_the_windows_that_hold_it_are_kept_and_of_others_all(pairing: Pairing) -> None:
    text = " ".join(f"w{n}" for n in range(50))
    at = text.index("w33")
    drawn = lists.drawn(pool({"gold": [Span(at, at + 3)]}, {"other": text, "gold": text}), pairing)
    assert [candidate.gold for candidate in drawn] == [True, False]
    assert all("w33" in text.split() for text in drawn[0].texts)
    assert len(drawn[1].texts) > len(drawn[0].texts)


def test_negatives_are_the_best_fused_ones_and_some_of_the_rest(pairing: Pairing) -> None:
    texts = {f"c{n}": f"w{n}" for n in range(40)}
    drawn = lists.drawn(pool({"c20": []}, texts), pairing)
    read = [candidate.texts[0] for candidate in drawn]
    assert read[: lists.HARD + 1] == ["w20", *(f"w{n}" for n in range(lists.HARD))]
    assert len(read) == len(set(read)) == 1 + lists.HARD + lists.OTHERS
    assert drawn == lists.drawn(pool({"c20": []}, texts), pairing)


def read(rows: dict[int, list[float]], text: list[float]) -> Read:
    return Read(np.float32(text), tuple(rows), np.float32(list(rows.values())).reshape(-1, 3))


def test_the_teacher_likes_a_window_whose_rare_tokens_are_the_question_s() -> None:
    common, rare, else_ = [1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]
    windows = [
        read({1: common, 2: rare}, [1, 0, 0]),
        *(read({1: common, 3: else_}, [1, 0, 0]) for _ in range(9)),
    ]
    teacher = Teacher(windows)
    question = read({1: common, 2: rare}, [1, 0, 0])
    scores = [teacher.score(question, window) for window in windows]
    assert scores[0] > scores[1] == scores[9]
    assert np.isfinite(teacher.score(read({}, [0, 1, 0]), windows[0]))


def test_a_list_has_gold_first_and_each_candidate_s_best_window() -> None:
    vectors = {"right": [1.0, 0, 0], "near": [0.8, 0.6, 0], "far": [0, 1.0, 0]}
    windows = {text: read({n: vector}, vector) for n, (text, vector) in enumerate(vectors.items())}
    drawn = [
        lists.Drawn(True, ((1,), (2,)), ("far", "right")),
        lists.Drawn(False, ((3,), (4,)), ("near", "far")),
    ]
    made = lists.listed(read({0: [1.0, 0, 0]}, [1.0, 0, 0]), drawn, windows, Teacher(windows.values()))
    assert made.pairs == ((2,), (3,))
    assert made.teacher[0] > made.teacher[1]


def test_lists_are_read_as_they_were_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "LEARNT", {"a": None})
    (tmp_path / "sets" / "a").mkdir(parents=True)
    line = json.dumps({"pairs": [[0, 5, 2], [0, 6, 2]], "teacher": [1.5, 0.5]})
    (tmp_path / "sets" / "a" / "lists.jsonl").write_text(line + "\n", encoding="utf-8")
    assert list(lists.read_lists(tmp_path)) == [lists.Listed(((0, 5, 2), (0, 6, 2)), (1.5, 0.5))]


def test_what_the_model_did_not_read_stays_behind_what_it_read() -> None:
    gold = (False, False, True, True)
    one = Ranked(gold, rules=(4.0, 3.0, 2.0, 1.0), model=(-50.0, -60.0), rules_ms=1, model_ms=2)
    assert one.reciprocal() == one.reciprocal(one.rules) == one.reciprocal(one.by_model()) == 1 / 3
    read_all = Ranked(gold, rules=(4.0, 3.0, 2.0, 1.0), model=(0.0, 1.0, 9.0, 0.0), rules_ms=1, model_ms=2)
    assert read_all.reciprocal(read_all.by_model()) == 1.0
    assert read_all.reciprocal(read_all.by_both(0.0)) == 1 / 3
    assert read_all.reciprocal(read_all.by_both(1.0)) == 1.0


def test_the_table_tells_what_the_model_adds_to_the_rules() -> None:
    worse = Ranked((False, True), rules=(1.0, 0.9), model=(0.0, 5.0), rules_ms=1, model_ms=80)
    told = table({"a": [worse]}, {"b": [worse] * 4})
    assert "| b | 4 | .500 | .500 | 1.000 | 1.000 | +0.500 [+0.500, +0.500] | 1, 80 |" in told


def test_the_card_tells_data_licences_log_and_figures() -> None:
    log = [
        {"step": step, "seconds": 6 * step, "loss": 1.0, "goldFirst": 0.5, "teacherGoldFirst": 0.75}
        for step in range(10, 310, 10)
    ]
    told = card("mine", dict.fromkeys(corpora.LEARNT, 7), log, "no figures")
    assert "| drcd | 7 | CC BY-SA 3.0 |" in told and "| arthas-en-zh | 7 | Apache-2.0 |" in told
    assert "| 300 | 30 | 1.000 | 0.500 | 0.750 |" in told
    assert "no figures" in told and "$" not in told
