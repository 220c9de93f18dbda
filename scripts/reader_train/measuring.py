"""Is it worth its time? AUROC of the no-answer score, and the sentence chosen of the chunk that holds the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from tokenizers import Tokenizer

from cross_encoder_train.corpora import index
from cross_encoder_train.pools import open_path
from dataset_build import paragraphs, writing
from dataset_build.model import DataSet
from reader_train.model import Reader, batch, encode
from reader_train.pairs import SETS, chunks, nearness
from service.access.policy import principal_of
from service.domain.answers import Evidence, Question
from service.domain.documents import Span
from service.evaluation.cases import Case, load_cases
from service.evaluation.measures import mean
from service.evaluation.refusals import auroc
from service.evaluation.signals import Asked, observe
from service.evaluation.statistics import paired
from service.evaluation.tuning import fit_logistic
from service.evaluation.watching import watched
from service.online.answering.extractive import AnswerRequest, _scores
from service.online.answering.units import windows_of
from service.online.question import analyse
from service.onnx.embedder import OnnxEmbedder
from service.profiles.ranking import load_profile

Array = NDArray[np.float64]
MOST_CHUNKS = 4  # of a paragraph, those nearest to the question
GOLD_QUESTIONS = 400  # of a set, half of them without an answer; as many as there are
RANKED_QUESTIONS = {"tune": 300, "report": 450}
SENTENCE_QUESTIONS = {"tune": 60, "report": 150}
WEIGHTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3)  # of the reader's log-probability; chosen on the tune splits
SIGNALS = ("relevance", "coverage", "token_relevance")
DRAWS = 300  # of the bootstrap
ON_TOPIC: Mapping[str, Callable[[Path], DataSet]] = {"squad2": paragraphs.squad2, "cjrc": paragraphs.cjrc}


@dataclass(slots=True)
class Judge:
    """The trained model, one pair at a time."""

    model: Reader
    tokenizer: Tokenizer

    def answered(self, question: str, passage: str) -> float:
        """Logit of "the passage answers it"."""
        return float(self._run(question, passage)[2][0])

    def units(self, question: str, passage: str, spans: Sequence[Span]) -> Array:
        """Log-probability that the answer begins and ends in each of these spans of the passage."""
        first, last, _ = self._run(question, passage)
        made = encode(self.tokenizer, question, passage)
        scores = []
        for span in spans:
            own = [
                place
                for place, (side, (start, end)) in enumerate(zip(made.types, made.offsets, strict=True))
                if side and start < end and start < span.end and span.start < end
            ]
            scores.append(float(first[0, own].max() + last[0, own].max()) if own else -20.0)
        logits = np.array(scores)
        told: Array = logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
        return told

    def _run(self, question: str, passage: str) -> tuple[torch.Tensor, ...]:
        made = encode(self.tokenizer, question, passage)
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
            return tuple(part.float() for part in self.model(*batch([made])))


def gold(data: Path, judge: Judge) -> Iterator[str]:
    """Lines of a table: each question read with its own paragraph, the best of its chunks counts."""
    for name, make in ON_TOPIC.items():
        own = make(data)
        texts = {d.document_id: d.text for d in own.documents}
        told: dict[bool, list[float]] = {True: [], False: []}
        for question in writing.by_split(own)["report"]:
            kind = told[bool(question.gold)]
            if len(kind) < GOLD_QUESTIONS // 2:
                near = sorted(
                    (text for _, text in chunks(texts[question.about])),
                    key=lambda text: -nearness(question.text, text),
                )
                kind.append(max(judge.answered(question.text, text) for text in near[:MOST_CHUNKS]))
        yield f"| {name} | {len(told[True])} + {len(told[False])} | {_bounded(told[True], told[False])} |"


def ranked(data: Path, home: Path, judge: Judge) -> Iterator[str]:
    """Lines of a table: the passage that the default profile ranks first, by the gate's signals refitted on SQuAD's
    tune split, by the reader alone, by both."""
    for name, make in ON_TOPIC.items():
        folder = home / "ranked" / name
        if not (folder / "done").exists():
            writing.write(make(data), folder, None, None)
            kept = f'name = "{name}"\ntoken_vectors = true\ndefault_access = {{ allow = ["*"] }}\n'
            (folder / "corpus.toml").write_text(kept, encoding="utf-8")
            index(home / "index", folder / "corpus.jsonl", name)
            (folder / "done").touch()
    learnt = _ranked(home, "squad2", "tune", judge)
    fits = [fit_logistic(names, *_sides(learnt)) for names in (SIGNALS, (*SIGNALS, "reader"))]
    for name in ON_TOPIC:
        right, wrong = _sides(_ranked(home, name, "report", judge))
        figures = [_bounded([f.logit(one) for one in right], [f.logit(one) for one in wrong]) for f in fits]
        alone = _bounded([one["reader"] for one in right], [one["reader"] for one in wrong])
        yield f"| {name} | {len(right)} + {len(wrong)} | {figures[0]} | {alone} | {figures[1]} |"


def sentences(data: Path, judge: Judge, embedder: Path) -> Iterator[str]:
    """Lines of a table: share of questions whose chosen unit holds the answer, given the chunk that holds it."""
    embed = OnnxEmbedder(embedder, 1)
    names = [name for name in SETS if name != "xquad-zh-en"]
    looked = {
        split: {name: list(_units(SETS[name](data), split, judge, embed)) for name in names}
        for split in SENTENCE_QUESTIONS
    }

    def chosen(rows: Sequence[tuple[Array, Array, list[bool]]], weight: float) -> list[float]:
        return [float(right[int((base + weight * read).argmax())]) for base, read, right in rows]

    weight = max(WEIGHTS, key=lambda w: mean([mean(chosen(rows, w)) for rows in looked["tune"].values()]))
    yield f"weight {weight}"
    for name, rows in looked["report"].items():
        before, after = chosen(rows, 0.0), chosen(rows, weight)
        alone = [float(right[int(read.argmax())]) for _, read, right in rows]
        change = paired(before, after)
        shown = f"{mean(before):.3f} | {mean(alone):.3f} | {mean(after):.3f}"
        yield f"| {name} | {len(rows)} | {shown} | {change.mean:+.3f} [{change.low:+.3f}, {change.high:+.3f}] |"


def _ranked(home: Path, name: str, split: str, judge: Judge) -> list[tuple[str, dict[str, float]]]:
    """Kind and signals of each question that the gate read."""
    online, profile = open_path(home / "index"), load_profile("default")
    cases = load_cases(home / "ranked" / name / f"cases.{split}.jsonl")[: RANKED_QUESTIONS[split]]
    asked = [Asked(name, "answerable" if case.required_claims else "unanswerable", case) for case in cases]
    seen = observe(online, name, profile, profile.rerank.weights, asked, lambda *_: None)
    path, found = watched(online)
    who = principal_of(tenant="demo", subject="anonymous", groups=[], labels=[], roles=["reader"])

    def best(case: Case) -> str:
        hit = path.search(Question(case.case_id, case.query, name), who, 1).hits[0]
        texts = {one.chunk.chunk_id: one.chunk.text for leg in found.found for one in leg.hits}
        return texts[hit.chunk_id]

    return [
        (one.asked.kind, {**one.gate, "reader": judge.answered(one.asked.case.query, best(one.asked.case))})
        for one in seen
        if "relevance" in one.gate
    ]


def _sides(rows: Sequence[tuple[str, dict[str, float]]]) -> tuple[list[dict[str, float]], ...]:
    return tuple([signals for kind, signals in rows if kind == k] for k in ("answerable", "unanswerable"))


def _units(
    own: DataSet, split: str, judge: Judge, embed: OnnxEmbedder
) -> Iterator[tuple[Array, Array, list[bool]]]:
    """Of each answerable question whose chunk has two units or more: the answerer's score of each unit, the reader's,
    and whether it holds the answer."""
    texts, settings = {d.document_id: d.text for d in own.documents}, load_profile("default").answering
    questions = [q for q in writing.by_split(own)[split] if q.gold]
    for question in questions[: SENTENCE_QUESTIONS[split]]:
        least = min(question.gold, key=lambda g: g.end - g.start)
        for start, text in chunks(texts[question.about]):
            if not (start <= least.start and least.end <= start + len(text)):
                continue
            span = Span(start, start + len(text))
            evidence = Evidence(
                "S1", "c", "d", "v", "paragraph", "", (), span, text, "", "", page=None, score=1.0
            )
            units = windows_of(0, evidence)
            if len(units) > 1:
                known = analyse(question.text)
                request = AnswerRequest(
                    question.text,
                    known.terms,
                    known.hard,
                    known.asks_value,
                    embed.embed_question(question.text).pooled,
                    (evidence,),
                    settings,
                    embed.embed_passages,
                    known.kind,
                    known.sides,
                    known.conditions,
                )
                places = [Span(u.span.start - start, u.span.end - start) for u in units]
                right = [
                    any(u.span.start <= g.start and g.end <= u.span.end for g in question.gold) for u in units
                ]
                base = np.array(_scores(request, units), dtype=np.float64)
                yield base, judge.units(question.text, text, places), right
            break


def _bounded(right: Sequence[float], wrong: Sequence[float]) -> str:
    """AUROC and its 95 % bootstrap interval."""
    chance = np.random.default_rng(1)
    drawn = [
        auroc(list(chance.choice(right, len(right))), list(chance.choice(wrong, len(wrong))))
        for _ in range(DRAWS)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return f"{auroc(right, wrong):.3f} [{low:.3f}, {high:.3f}]"
