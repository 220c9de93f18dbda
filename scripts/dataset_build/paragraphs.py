"""Reading-comprehension sets in SQuAD's JSON: every paragraph a document, gold the span of the answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dataset_build.model import DataSet, Document, Gold, Question, name_of


def cmrc(data: Path) -> DataSet:
    files = ("cmrc2018/cmrc2018_dev.json", "cmrc2018/cmrc2018_trial.json")
    return _set("cmrc", [p for file in files for p in _paragraphs(data / file)])


def drcd(data: Path) -> DataSet:
    return _set("drcd", _paragraphs(data / "drcd/DRCD_dev.json"))


def squad2(data: Path) -> DataSet:
    """The half with answers; the other file has none, neither for what can be answered."""
    return _set("squad2", _paragraphs(data / "squad2_half/dev-v2.0.json"))


def cjrc(data: Path) -> DataSet:
    """Judgments. Left out: yes/no questions, which have no span, and those on which the annotators disagree."""
    return _set("cjrc", _paragraphs(data / "cjrc/dev_ground_truth.json"))


def xquad_zh(data: Path) -> DataSet:
    return _xquad(data, "xquad-zh", texts="zh", questions="zh")


def xquad_en(data: Path) -> DataSet:
    return _xquad(data, "xquad-en", texts="en", questions="en")


def xquad_zh_en(data: Path) -> DataSet:
    """Chinese questions over English text."""
    return _xquad(data, "xquad-zh-en", texts="en", questions="zh")


def xquad_en_zh(data: Path) -> DataSet:
    """English questions over Chinese text."""
    return _xquad(data, "xquad-en-zh", texts="zh", questions="en")


def _xquad(data: Path, name: str, *, texts: str, questions: str) -> DataSet:
    """Both languages are named by the English paragraph, so that a translation is in its original's split."""
    shown = _paragraphs(data / f"xquad/xquad.{texts}.json")
    asked = _paragraphs(data / f"xquad/xquad.{questions}.json")
    names = [name_of(p["context"]) for p in _paragraphs(data / "xquad/xquad.en.json")]
    words = {q["id"]: q["question"] for p in asked for q in p["qas"]}
    return _set(name, shown, names, words)


def _paragraphs(file: Path) -> list[dict[str, Any]]:
    articles = json.loads(file.read_text(encoding="utf-8"))["data"] if file.exists() else []
    if not articles:
        raise FileNotFoundError(f"{file} is not there or holds nothing")
    return [paragraph for article in articles for paragraph in article["paragraphs"]]


def _set(
    name: str,
    paragraphs: Sequence[dict[str, Any]],
    names: Sequence[str] | None = None,
    words: dict[str, str] | None = None,
) -> DataSet:
    names = names or [name_of(p["context"]) for p in paragraphs]
    documents = {n: Document(n, p["context"]) for n, p in zip(names, paragraphs, strict=True)}
    questions = {
        question.case_id: question
        for n, paragraph in zip(names, paragraphs, strict=True)
        for question in _questions(n, paragraph, words)
    }
    return DataSet(name, 1, tuple(documents.values()), tuple(questions.values()))


def _questions(name: str, paragraph: dict[str, Any], words: dict[str, str] | None) -> Iterator[Question]:
    for entry in paragraph["qas"]:
        text = words[entry["id"]] if words else entry["question"]
        answers = entry.get("answers") or []
        if not any(answer["text"].strip() for answer in answers):
            yield Question(str(entry["id"]), text, name, bucket="unanswerable")
            continue
        impossible = str(entry.get("is_impossible", "false")).lower() == "true"
        spans = {span for answer in answers if (span := _span(paragraph["context"], answer))}
        if impossible or not spans or not all(answer["text"].strip() for answer in answers):
            continue
        # Annotators mark more or less of the same; the least of it must be said.
        shortest = min((paragraph["context"][start:end] for start, end in spans), key=len)
        gold = tuple(Gold(name, start, end) for start, end in sorted(spans))
        yield Question(str(entry["id"]), text, name, gold, (shortest,))


def _span(context: str, answer: dict[str, Any]) -> tuple[int, int] | None:
    """Where the answer stands. A wrong offset is mended where the words occur once."""
    start, text = answer["answer_start"], answer["text"]
    if start < 0 or context[start : start + len(text)] != text:
        if context.count(text) != 1:
            return None
        start = context.index(text)
    return start, start + len(text)
