"""What a set is made of before it is written."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Document:
    """`markdown` texts are written as files, so that they are read as Markdown; others stand in the line."""

    document_id: str
    text: str
    title: str = ""
    markdown: bool = False


@dataclass(frozen=True, slots=True)
class Gold:
    """A document, or with `end` a span of its text."""

    document_id: str
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """Without gold it has no answer. `about` names the document whose split it shares: for a question with one gold
    document that document, in the name all its translations share; where many are relevant, the question itself.
    `forbidden` must not be said; `reason` is why it must be refused."""

    case_id: str
    text: str
    about: str
    gold: tuple[Gold, ...] = ()
    terms: tuple[str, ...] = ()
    bucket: str = "answerable"
    forbidden: tuple[str, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class DataSet:
    """`version` rises with every change of what is made of the same source: figures of two are not compared."""

    name: str
    version: int
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def name_of(text: str) -> str:
    """An id by content: the same paragraph has it in every set."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()[:12]
