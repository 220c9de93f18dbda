"""Question sets: who is in which split is a rule, the splits are pinned, gold stands where it is said to stand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dataset_build import counterfactual, judged, pages, paragraphs, writing
from dataset_build.model import DataSet, Document, Gold, Question, name_of
from service.evaluation.cases import Case, load_case_set
from service.evaluation.splits import SPLITS, split_of
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources


def test_the_rule_of_the_splits_is_the_one_it_was() -> None:
    """Pinned by hand: a change of the rule would let what was reported be learnt from."""
    assert " ".join(split_of(f"d{n}") for n in range(12)) == (
        "train report tune report tune train report train train train report train"
    )


@given(st.lists(st.text(min_size=1), min_size=1, unique=True))
def test_every_document_is_in_one_split_and_stays_there(names: list[str]) -> None:
    found = {name: split_of(name) for name in names}
    assert set(found.values()) <= set(SPLITS)
    assert found == {name: split_of(name) for name in reversed(names)}


def test_four_tenths_are_learnt_from_and_four_are_reported() -> None:
    found = [split_of(str(n)) for n in range(20_000)]
    assert [round(found.count(split) / len(found), 1) for split in SPLITS] == [0.4, 0.2, 0.4]


def test_what_is_pinned_holds_counts_and_hashes_and_no_text() -> None:
    known = writing.pinned()
    assert len(known) >= 16
    for entry in known.values():
        assert set(entry) == {"version", "rule", "documents", "splits"}
        assert set(entry["splits"]) == set(SPLITS)
        assert all(re.fullmatch("[0-9a-f]{64}", part["sha256"]) for part in entry["splits"].values())


SQUAD = {
    "data": [
        {
            "paragraphs": [
                {
                    "context": "泵的额定功率是 5 kW。阀的额定压力是 9 bar。",
                    "qas": [
                        {
                            "id": "a",
                            "question": "功率？",
                            "answers": [
                                {"text": "5 kW", "answer_start": 8},
                                {"text": "是 5 kW", "answer_start": 6},
                            ],
                        },
                        {"id": "b", "question": "压力？", "answers": [{"text": "9 bar", "answer_start": 0}]},
                        {"id": "c", "question": "重量？", "answers": [], "is_impossible": True},
                        {"id": "d", "question": "Yes?", "answers": [{"text": "YES", "answer_start": -1}]},
                        {
                            "id": "e",
                            "question": "?",
                            "answers": [{"text": "5 kW", "answer_start": 8}],
                            "is_impossible": "true",
                        },
                    ],
                }
            ]
        }
    ]
}


def squad(folder: Path, name: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(SQUAD), encoding="utf-8")
    return folder


def test_an_answer_is_a_span_and_a_wrong_offset_is_mended(tmp_path: Path) -> None:
    found = paragraphs.drcd(squad(tmp_path, "drcd/DRCD_dev.json"))
    text = found.documents[0].text
    by_id = {q.case_id: q for q in found.questions}
    assert {text[g.start : g.end] for g in by_id["a"].gold} == {"5 kW", "是 5 kW"}
    assert by_id["a"].terms == ("5 kW",)
    assert [text[g.start : g.end] for g in by_id["b"].gold] == ["9 bar"]


def test_what_has_no_answer_is_unanswerable_and_what_is_doubtful_is_left_out(tmp_path: Path) -> None:
    found = paragraphs.drcd(squad(tmp_path, "drcd/DRCD_dev.json"))
    assert {q.case_id: bool(q.gold) for q in found.questions} == {"a": True, "b": True, "c": False}


def test_a_question_without_an_answer_is_in_the_split_of_its_document(tmp_path: Path) -> None:
    found = paragraphs.drcd(squad(tmp_path, "drcd/DRCD_dev.json"))
    assert {q.about for q in found.questions} == {found.documents[0].document_id}
    assert sum(bool(part) for part in writing.by_split(found).values()) == 1


def test_the_same_paragraph_has_one_name_in_every_set(tmp_path: Path) -> None:
    one = paragraphs.drcd(squad(tmp_path, "drcd/DRCD_dev.json"))
    other = paragraphs.squad2(squad(tmp_path, "squad2_half/dev-v2.0.json"))
    assert [d.document_id for d in one.documents] == [d.document_id for d in other.documents]


def test_translations_are_in_the_split_of_their_original(tmp_path: Path) -> None:
    for language in ("en", "zh"):
        squad(tmp_path, f"xquad/xquad.{language}.json")
    there = paragraphs.xquad_zh_en(tmp_path)
    back = paragraphs.xquad_en_zh(tmp_path)
    assert [q.about for q in there.questions] == [q.about for q in back.questions]


def test_a_section_is_paired_across_languages_and_code_holds_no_heading(tmp_path: Path) -> None:
    root = tmp_path / "arthas_docs/site/docs"
    (root / "en/doc").mkdir(parents=True)
    (root / "doc").mkdir()
    (root / "doc/jad.md").write_text("# jad\n\n## 参数说明\n\n参数。\n", encoding="utf-8")
    english = "# jad\n\n```sh\n# not a heading\n```\n\n## Options\n\nThe options.\n"
    (root / "en/doc/jad.md").write_text(english, encoding="utf-8")
    found = pages.arthas_zh_en(tmp_path)
    (question,) = found.questions
    assert question.text == "jad: 参数说明"
    (gold,) = question.gold
    assert english[gold.start : gold.end].strip() == "The options."


def test_the_heading_that_is_asked_is_not_in_the_page(tmp_path: Path) -> None:
    page = "# FAQ\n\n## 如何备份？\n\n用 BR 备份。\n\n## 其他\n\n如何备份？见上。\n"
    (tmp_path / "tidb_docs_cn").mkdir()
    (tmp_path / "faq_pairs").mkdir()
    (tmp_path / "tidb_docs_cn/faq.md").write_text(page, encoding="utf-8")
    entry = {"id": "t-0", "query": "如何备份？", "doc_path": "faq.md", "gold_section_text": "用 BR 备份。"}
    (tmp_path / "faq_pairs/tidb_cn.jsonl").write_text(json.dumps(entry) + "\n", encoding="utf-8")
    found = pages.tidb_docs(tmp_path)
    assert "## 如何备份？" not in found.documents[0].text
    assert "## 其他\n\n如何备份？见上。" in found.documents[0].text
    (gold,) = found.questions[0].gold
    assert found.documents[0].text[gold.start : gold.end] == "用 BR 备份。"


def test_cranfield_s_judgments_number_the_queries_by_place(tmp_path: Path) -> None:
    folder = tmp_path / "cranfield"
    folder.mkdir()
    docs = "".join(f"<doc><docno>{n}</docno><title>t{n}</title><text>about {n}</text></doc>" for n in (1, 2))
    (folder / "cran.all.1400.xml").write_text(docs, encoding="utf-8")
    queries = "".join(f"<top><num> {n}</num><title>\nquestion {n} .\n</title></top>" for n in (1, 4))
    (folder / "cran.qry.xml").write_text(queries, encoding="utf-8")
    (folder / "cranqrel.trec.txt").write_text("1 0 1 1\n2 0 2 1\n2 0 1 0\n2 0 77 1\n", encoding="utf-8")
    found = judged.cranfield(tmp_path)
    assert {q.text: [g.document_id for g in q.gold] for q in found.questions} == {
        "question 1 .": ["1"],
        "question 4 .": ["2"],
    }


def rgb(folder: Path) -> Path:
    """Three questions: one with two passages, one with one, one whose replaced answer has several parts."""
    entries = [
        {
            "id": 0,
            "query": "多少个议席？",
            "answer": "70",
            "fakeanswer": "170",
            "positive_wrong": ["共有170个议席。", "总共170个议席，对170票。"],
            "positive": ["共有70个议席。", "总共70个议席，对70票。"],
        },
        {
            "id": 1,
            "query": "在哪举办？",
            "answer": "武汉",
            "fakeanswer": "成都",
            "positive_wrong": ["在成都举办。", "主办城市：成都。"],
            "positive": ["在武汉举办。", "主办城市：武汉。"],
        },
        {
            "id": 2,
            "query": "哪国？",
            "answer": ["澳大利亚", "悉尼"],
            "fakeanswer": ["中国", "北京"],
            "positive_wrong": ["中国北京。"],
            "positive": ["澳大利亚悉尼。"],
        },
    ]
    (folder / "rgb").mkdir()
    lines = "\n".join(json.dumps(entry, ensure_ascii=False) for entry in entries)
    (folder / "rgb" / "zh_fact.json").write_text(lines, encoding="utf-8")
    return folder


def cases_in(folder: Path) -> list[Case]:
    """Of all splits; one may have none."""
    files = [folder / f"cases.{split}.jsonl" for split in SPLITS]
    return [case for f in files if f.read_text("utf-8").count("\n") > 1 for case in load_case_set(f).cases]


def test_of_replaced_passages_what_they_say_is_gold_and_the_truth_is_forbidden(tmp_path: Path) -> None:
    found = counterfactual.rgb_zh_counterfactual(rgb(tmp_path))
    texts = {document.document_id: document.text for document in found.documents}
    seats, city = found.questions
    assert [texts[g.document_id][g.start : g.end] for g in seats.gold] == ["170"] * 3
    assert seats.forbidden == (), "70 stands in 170"
    assert (city.terms, city.forbidden) == (("成都",), ("武汉",))
    writing.write(found, tmp_path / "out", None, None)
    written = cases_in(tmp_path / "out")
    assert {c.query: c.forbidden_claims for c in written} == {"多少个议席？": (), "在哪举办？": ("武汉",)}


def test_a_true_and_a_replaced_passage_make_a_conflict(tmp_path: Path) -> None:
    found = counterfactual.rgb_zh_conflict(rgb(tmp_path))
    assert [document.text for document in found.documents] == [
        "共有170个议席。",
        "共有70个议席。",
        "在成都举办。",
        "主办城市：武汉。",
    ]
    assert [question.bucket for question in found.questions] == ["same words", "other words"]
    writing.write(found, tmp_path / "out", None, None)
    written = cases_in(tmp_path / "out")
    assert {c.expected_no_answer_reason for c in written} == {"CONFLICTING_EVIDENCE"}


def small_set() -> DataSet:
    texts = [f"Text {n}: the value is {n}." for n in range(40)]
    documents = [Document(name_of(text), text) for text in texts]
    documents.append(Document("page.md", "# Page\n\nThe value is 99.\n", markdown=True))
    questions = [
        Question(f"q{n}", f"Which value has {n}?", d.document_id, (Gold(d.document_id, 6, len(d.text)),))
        for n, d in enumerate(documents)
    ]
    return DataSet("small", 3, tuple(documents), tuple(questions))


def test_what_is_written_is_read_by_the_product(tmp_path: Path) -> None:
    told = writing.write(small_set(), tmp_path, None, None)
    texts = {
        item.document_id: parse(item).canonical_text for item in read_sources([tmp_path / "corpus.jsonl"])
    }
    assert len(texts) == told["documents"] == 41
    seen = 0
    for split in SPLITS:
        case_set = load_case_set(tmp_path / f"cases.{split}.jsonl")
        assert (case_set.name, case_set.version, case_set.split) == ("small", 3, split)
        for case in case_set.cases:
            (span,) = case.required_claims[0].accepted_spans
            assert split_of(span.document_id) == split
            assert "value is" in texts[span.document_id][span.start : span.end]
            seen += 1
    assert seen == 41


@pytest.mark.parametrize("most", [1, 5, 20])
def test_a_sample_keeps_every_document_that_holds_an_answer(tmp_path: Path, most: int) -> None:
    told = writing.write(small_set(), tmp_path, cases=2, documents=most)
    gold = set()
    for split in SPLITS:
        cases = load_case_set(tmp_path / f"cases.{split}.jsonl").cases
        assert len(cases) <= 2
        gold |= {document for case in cases for document in case.gold_documents()}
    lines = (tmp_path / "corpus.jsonl").read_text("utf-8").splitlines()
    assert gold <= {json.loads(line)["documentId"] for line in lines}
    assert told["documents"] == max(most, len(gold))
