"""RGB's counterfactual passages: texts in which the answer is replaced by a wrong one. For evaluation only.

An answerer that knows nothing but the documents says what they say, and cites them (`…-counterfactual`). Where one
document has the true answer and another the replaced one, neither may be told alone (`…-conflict`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dataset_build.model import DataSet, Document, Gold, Question


def rgb_zh_counterfactual(data: Path) -> DataSet:
    return _counterfactual(data, "zh")


def rgb_en_counterfactual(data: Path) -> DataSet:
    return _counterfactual(data, "en")


def rgb_zh_conflict(data: Path) -> DataSet:
    return _conflict(data, "zh")


def rgb_en_conflict(data: Path) -> DataSet:
    return _conflict(data, "en")


def _counterfactual(data: Path, language: str) -> DataSet:
    """Every passage with the replaced answer is gold; the true answer must not be said, unless it stands there too."""
    documents, questions = [], []
    for name, entry in _entries(data, language):
        passages = {f"{name}-{at}": text for at, text in enumerate(entry["positive_wrong"])}
        documents += [Document(document, text) for document, text in passages.items()]
        said, true = entry["fakeanswer"], entry["answer"]
        gold = tuple(
            Gold(document, found.start(), found.end())
            for document, text in passages.items()
            for found in re.finditer(re.escape(said), text)
        )
        forbidden = (true,) if isinstance(true, str) and not any(true in t for t in passages.values()) else ()
        questions.append(Question(name, entry["query"], name, gold, (said,), forbidden=forbidden))
    return DataSet(f"rgb-{language}-counterfactual", 1, tuple(documents), tuple(questions))


def _conflict(data: Path, language: str) -> DataSet:
    """Two documents for each question: the replaced passage, and a true one. By turns that is the same passage before
    it was changed (same words), and another one of the question (other words)."""
    documents, questions = [], []
    for number, (name, entry) in enumerate(_entries(data, language)):
        other = number % 2 and len(entry["positive"]) > 1
        documents.append(Document(f"{name}-changed", entry["positive_wrong"][0]))
        documents.append(Document(f"{name}-true", entry["positive"][-1 if other else 0]))
        bucket = "other words" if other else "same words"
        questions.append(Question(name, entry["query"], name, bucket=bucket, reason="CONFLICTING_EVIDENCE"))
    return DataSet(f"rgb-{language}-conflict", 1, tuple(documents), tuple(questions))


def _entries(data: Path, language: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Left out: the few whose replaced answer has several parts, or does not stand in a passage as it is given."""
    for line in (data / f"rgb/{language}_fact.json").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        said = entry["fakeanswer"]
        if isinstance(said, str) and said in entry["positive_wrong"][0]:
            yield f"{language}-{entry['id']:03}", entry
