"""What is learnt from: questions with a chunk that answers them, and with on-topic chunks that do not."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from dataset_build import paragraphs, writing
from dataset_build.model import DataSet, Question, name_of
from service.domain.documents import Block, Span
from service.offline.ingest.chunking import Chunker
from service.text.analysis import analyse

SETS: Mapping[str, Callable[[Path], DataSet]] = {
    "cmrc": paragraphs.cmrc,
    "drcd": paragraphs.drcd,
    "xquad-zh": paragraphs.xquad_zh,
    "xquad-en": paragraphs.xquad_en,
    "xquad-zh-en": paragraphs.xquad_zh_en,
    "squad2": paragraphs.squad2,
}
# Of each set but SQuAD 2.0 a share, so that questions made to have no answer are a quarter of all pairs.
KEPT_RIGHT, KEPT_WRONG = 0.7, 0.35
UNANSWERABLE_CHUNKS = 2  # of its paragraph, those nearest to the question
SAME_ARTICLE = 0.5  # share of questions that also get a chunk of another paragraph of the article
SEED = 7
_ARTICLES = ("squad2_half/dev-v2.0.json", "drcd/DRCD_dev.json", "xquad/xquad.en.json")


@dataclass(frozen=True, slots=True)
class Pair:
    """`answer` is a span of the passage in code points, None where the passage does not answer."""

    question: str
    passage: str
    answer: Span | None


def chunks(text: str) -> list[tuple[int, str]]:
    """Where each chunk of a paragraph begins, and its text, as a build cuts it."""
    block = Block("paragraph", Span(0, len(text)))
    return [(c.span.start, c.text) for c in Chunker().cut("d", "0" * 12, text, [block], "")]


def nearness(question: str, text: str) -> float:
    """Share of the question's terms that the text holds."""
    terms = set(analyse(question))
    return len(terms & set(analyse(text))) / max(1, len(terms))


def pairs(data: Path) -> list[Pair]:
    """Of the train splits only, shuffled. A negative is of the same paragraph or article, without the answer."""
    chance, found = random.Random(SEED), []
    articles = dict(_articles(data))
    for name, make in SETS.items():
        for pair in of_set(make(data), articles, chance, with_negatives=name != "xquad-zh-en"):
            if name == "squad2" or chance.random() < (KEPT_RIGHT if pair.answer else KEPT_WRONG):
                found.append(pair)
    chance.shuffle(found)
    return found


def of_set(
    own: DataSet, articles: Mapping[str, str], chance: random.Random, with_negatives: bool
) -> Iterator[Pair]:
    """`articles` maps a document to its article; a negative may be of another document of the same one."""
    questions = writing.by_split(own)["train"]
    texts = {d.document_id: d.text for d in own.documents}
    cut = {about: chunks(texts[about]) for about in dict.fromkeys(q.about for q in questions)}
    beside = defaultdict(list)
    for about in cut:
        beside[articles.get(about, about)].append(about)
    for question in questions:
        here = cut[question.about]
        if not question.gold:
            nearest = sorted(here, key=lambda one: -nearness(question.text, one[1]))
            yield from (Pair(question.text, text, None) for _, text in nearest[:UNANSWERABLE_CHUNKS])
            continue
        yield from _right(question, here)
        if with_negatives:
            said = {texts[question.about][g.start : g.end] for g in question.gold}
            others = [other for other in beside[articles.get(question.about, "")] if other != question.about]
            elsewhere = [text for other in others for _, text in cut[other]]
            yield from _wrong(question.text, [text for _, text in here], elsewhere, said, chance)


def _right(question: Question, here: list[tuple[int, str]]) -> Iterator[Pair]:
    gold = min(question.gold, key=lambda g: g.end - g.start)
    for start, text in here:
        if start <= gold.start and gold.end <= start + len(text):
            yield Pair(question.text, text, Span(gold.start - start, gold.end - start))


def _wrong(
    question: str, here: list[str], elsewhere: list[str], said: set[str], chance: random.Random
) -> Iterator[Pair]:
    def silent(texts: list[str]) -> list[str]:
        return [text for text in texts if not any(words in text for words in said)]

    yield from (Pair(question, text, None) for text in silent(here)[:1])
    if (left := silent(elsewhere)) and chance.random() < SAME_ARTICLE:
        yield Pair(question, max(left, key=lambda text: nearness(question, text)), None)


def _articles(data: Path) -> Iterator[tuple[str, str]]:
    """Paragraph → its article."""
    for file in _ARTICLES:
        for number, article in enumerate(json.loads((data / file).read_text(encoding="utf-8"))["data"]):
            for paragraph in article["paragraphs"]:
                yield name_of(paragraph["context"]), f"{file}#{number}"
