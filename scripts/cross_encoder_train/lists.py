"""Lists to learn from: a question with its gold window and windows of candidates that are not gold, as the service cuts
them, each with the teacher's score."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cross_encoder_train.corpora import LEARNT
from cross_encoder_train.pools import Pool, open_path, pools
from cross_encoder_train.teacher import QUESTION, WINDOW, Read, Reader, Teacher
from service.evaluation.cases import load_cases
from service.online.rerank.contract import RerankCandidate
from service.online.rerank.cross_encoder import head_of
from service.onnx.pairs import Pairing, Pairs, Passage, read_as

HARD, OTHERS = 8, 4  # negatives kept of a question: the best fused ones, and some of the rest of its pool


@dataclass(frozen=True, slots=True)
class Listed:
    """Pairs as token ids, the gold one first, and the teacher's score of each."""

    pairs: tuple[tuple[int, ...], ...]
    teacher: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Drawn:
    """Its windows as pairs with the question, and the text of each."""

    gold: bool
    pairs: tuple[tuple[int, ...], ...]
    texts: tuple[str, ...]


def write_lists(home: Path, pairing: Pairing, embedder: Path) -> None:
    """lists.jsonl of each set; what is there already is left."""
    online, reader = open_path(home / "index"), Reader(embedder)
    for name in LEARNT:
        path = home / "sets" / name / "lists.jsonl"
        if path.exists():
            continue
        cases = load_cases(path.with_name("cases.train.jsonl"))
        asked = {p.case.query: drawn(p, pairing) for p in pools(online, name, cases) if p.gold}
        texts = dict.fromkeys(text for own in asked.values() for one in own for text in one.texts)
        read = {text: reader.read(text, WINDOW) for text in texts}
        teacher = Teacher(read.values())
        lists = [
            listed(reader.read(question, QUESTION), own, read, teacher) for question, own in asked.items()
        ]
        lines = (json.dumps({"pairs": one.pairs, "teacher": one.teacher}) + "\n" for one in lists)
        path.with_suffix(".new").write_text("".join(lines), encoding="utf-8")
        path.with_suffix(".new").replace(path)
        agreed = sum(max(one.teacher) == one.teacher[0] for one in lists) / len(lists)
        told = f"{len(lists)} of {len(cases)} questions, {len(read)} windows"
        print(f"{name}: {told}; the teacher prefers gold in {agreed:.3f}", flush=True)


def read_lists(home: Path) -> Iterator[Listed]:
    for name in LEARNT:
        for line in (home / "sets" / name / "lists.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            yield Listed(tuple(map(tuple, entry["pairs"])), tuple(entry["teacher"]))


def drawn(pool: Pool, pairing: Pairing) -> list[Drawn]:
    """All gold candidates with the windows that hold gold, and the negatives, each with all its windows."""
    question, _ = pairing.question(pool.request.question)
    own = [c for c in pool.request.candidates if c.chunk_id in pool.gold]
    negatives = [c for c in pool.request.candidates if c.chunk_id not in pool.gold]
    rest = negatives[HARD:]
    chosen = negatives[:HARD] + random.Random(pool.case.case_id).sample(rest, min(OTHERS, len(rest)))

    def read(candidate: RerankCandidate) -> Drawn:
        head = head_of(candidate)
        pairs = pairing.pairs(question, Passage(head, candidate.text), pool.request.terms)
        kept = _with_gold(pairs, pool, candidate.chunk_id)
        return Drawn(
            candidate.chunk_id in pool.gold,
            tuple(tuple(pairs.encodings[n].ids) for n in kept),
            tuple(read_as(head, candidate.text[slice(*pairs.spans[n])]) for n in kept),
        )

    return [read(candidate) for candidate in (*own, *chosen)]


def _with_gold(pairs: Pairs, pool: Pool, chunk_id: str) -> Sequence[int]:
    """Which windows of a candidate count: those that hold all of a gold span, else all of them."""
    spans = pool.gold.get(chunk_id, ())
    holding = [
        n
        for n, (start, end) in enumerate(pairs.spans)
        if any(start <= span.start and span.end <= end for span in spans)
    ]
    return holding or range(len(pairs.spans))


def listed(question: Read, candidates: Sequence[Drawn], read: Mapping[str, Read], teacher: Teacher) -> Listed:
    """Each candidate by the window that the teacher likes best, as the service goes by a passage's best one; of several
    gold candidates the best."""
    best = []
    for candidate in candidates:
        scores = [teacher.score(question, read[text]) for text in candidate.texts]
        place = scores.index(max(scores))
        best.append((candidate.gold, scores[place], candidate.pairs[place]))
    gold = max((one for one in best if one[0]), key=lambda one: one[1])
    chosen = [gold, *(one for one in best if not one[0])]
    return Listed(tuple(pair for *_, pair in chosen), tuple(round(score, 3) for _, score, _ in chosen))
