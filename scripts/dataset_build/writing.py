"""A set as files: corpus.jsonl, and cases.train.jsonl, cases.tune.jsonl, cases.report.jsonl."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from dataset_build.model import DataSet, Document, Gold, Question
from service.evaluation.splits import RULE, SPLITS, Split, split_of

PINNED = Path(__file__).with_name("splits.json")


def by_split(data_set: DataSet) -> dict[Split, list[Question]]:
    """In an order that does not follow the documents, so that the first N are spread over all of them."""
    parts: dict[Split, list[Question]] = {split: [] for split in SPLITS}
    for question in sorted(data_set.questions, key=lambda q: _spread(q.case_id)):
        parts[split_of(question.about)].append(question)
    return parts


def fingerprint(data_set: DataSet) -> dict[str, Any]:
    """What splits.json pins: how much is in each split, and the hash of its sorted case ids."""
    return {
        "version": data_set.version,
        "rule": RULE,
        "documents": len(data_set.documents),
        "splits": {
            split: {"cases": len(part), "sha256": _hash(sorted(q.case_id for q in part))}
            for split, part in by_split(data_set).items()
        },
    }


def pinned() -> dict[str, Any]:
    known: dict[str, Any] = json.loads(PINNED.read_text(encoding="utf-8")) if PINNED.exists() else {}
    return known


def write(data_set: DataSet, folder: Path, cases: int | None, documents: int | None) -> dict[str, int]:
    """Writes the set and returns how much of it. `cases` bounds each split, `documents` the corpus: those that hold
    an answer of a kept case stay, the others are drawn by hash."""
    parts = {split: part[:cases] for split, part in by_split(data_set).items()}
    folder.mkdir(parents=True, exist_ok=True)
    kept = _sample(data_set.documents, [q for part in parts.values() for q in part], documents)
    _lines(folder / "corpus.jsonl", (_document(document, folder) for document in kept))
    for split, part in parts.items():
        head = {"caseSet": data_set.name, "version": data_set.version, "split": split, "rule": RULE}
        _lines(folder / f"cases.{split}.jsonl", [head, *map(_case, part)])
    return {"documents": len(kept)} | {split: len(part) for split, part in parts.items()}


def _sample(
    documents: Sequence[Document], questions: Iterable[Question], most: int | None
) -> Sequence[Document]:
    if most is None or len(documents) <= most:
        return documents
    needed = {g.document_id for q in questions for g in q.gold} | {q.about for q in questions}
    order = sorted(documents, key=lambda d: (d.document_id not in needed, _spread(d.document_id)))
    held = sum(document.document_id in needed for document in documents)
    return order[: max(most, held)]


def _document(document: Document, folder: Path) -> dict[str, Any]:
    line: dict[str, Any] = {"documentId": document.document_id, "title": document.title}
    if not document.markdown:
        return line | {"text": document.text, "access": {"allow": ["*"]}}
    path = folder / "pages" / document.document_id
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document.text, encoding="utf-8", newline="")
    return line | {"path": f"pages/{document.document_id}", "access": {"allow": ["*"]}}


def _case(question: Question) -> dict[str, Any]:
    case: dict[str, Any] = {
        "caseId": question.case_id,
        "query": question.text,
        "answerability": "answerable" if question.gold else "unanswerable",
        "bucket": question.bucket,
    }
    if question.forbidden:
        case["forbiddenClaims"] = question.forbidden
    if question.reason:
        case["expectedNoAnswerReason"] = question.reason
    if question.gold:
        claim: dict[str, Any] = {"claimId": "gold", "requiredTerms": question.terms}
        claim["acceptedSpans"] = [_place(gold) for gold in question.gold if gold.end]
        claim["acceptedDocumentIds"] = sorted({gold.document_id for gold in question.gold if not gold.end})
        case["requiredClaims"] = [claim]
    return case


def _place(gold: Gold) -> dict[str, Any]:
    return {"documentId": gold.document_id, "start": gold.start, "end": gold.end}


def _spread(name: str) -> bytes:
    return hashlib.sha256(f"order {name}".encode()).digest()


def _hash(ids: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(ids).encode()).hexdigest()


def _lines(path: Path, entries: Iterable[dict[str, Any]]) -> None:
    text = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in entries)
    path.write_text(text, encoding="utf-8")
