"""Is it worth its time? The same pools in fused order, by the default reranker, by the model, and by both together."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from cross_encoder_train.corpora import index, pinned
from cross_encoder_train.pools import Pool, open_path, pools
from dataset_build import pages, paragraphs, writing
from dataset_build.model import DataSet
from service.bootstrap import data_folder
from service.evaluation.cases import load_cases
from service.evaluation.measures import mean, reciprocal_rank
from service.evaluation.statistics import paired
from service.online.rerank.contract import Reranker, RerankRequest
from service.online.rerank.cross_encoder import CrossEncoderReranker
from service.online.rerank.registry import load_reranker
from service.profiles.ranking import load_profile

DEPTH, CUT = 20, 10
WEIGHTS = (
    0.0,
    0.02,
    0.05,
    0.1,
    0.2,
    0.4,
    0.8,
)  # of a logit beside the rules' score; chosen on the tune splits

# Set → the corpus it is asked of: a question over the other language's text uses that language's.
CORPORA: Mapping[str, Callable[[Path], DataSet]] = {
    "xquad-zh": paragraphs.xquad_zh,
    "xquad-en": paragraphs.xquad_en,
    "cmrc": paragraphs.cmrc,
    "drcd": paragraphs.drcd,
    "tidb-faq": pages.tidb_faq,
    "arthas-zh-en": pages.arthas_zh_en,
    "arthas-en-zh": pages.arthas_en_zh,
}
OTHER_QUESTIONS = {
    "xquad-zh-en": ("xquad-en", paragraphs.xquad_zh_en),
    "xquad-en-zh": ("xquad-zh", paragraphs.xquad_en_zh),
}


@dataclass(frozen=True, slots=True)
class Ranked:
    """One question's candidates in fused order: which are gold, what the rules and the model say of them (the model of
    the first DEPTH only), milliseconds of both."""

    gold: tuple[bool, ...]
    rules: tuple[float, ...]
    model: tuple[float, ...]
    rules_ms: float
    model_ms: float

    def reciprocal(self, scores: Sequence[float] | None = None) -> float:
        """1 ÷ rank of the best gold candidate within the first ten; ties by fused order, no scores for fused order."""
        places = range(len(self.gold))
        order = sorted(places, key=lambda n: (-scores[n], n)) if scores else places
        names = [str(n) for n in order]
        return reciprocal_rank({str(n) for n in places if self.gold[n]}, names, CUT)

    def by_model(self) -> list[float]:
        """Those that the model did not read keep their order, behind those that it read."""
        return [*self.model, *(-1e6 - n for n in range(len(self.gold) - len(self.model)))]

    def by_both(self, weight: float) -> list[float]:
        """The rules' score and a share of the logit; what the model did not read has the least that it gave."""
        rest = min(self.model, default=0.0)
        logits = [*self.model, *[rest] * (len(self.gold) - len(self.model))]
        return [rule + weight * logit for rule, logit in zip(self.rules, logits, strict=True)]


def prepare(data: Path, home: Path) -> None:
    """Whole corpora with their indexes, tune and report cases; what is there already is left."""
    for name, make in CORPORA.items():
        folder = home / "compared" / name
        if not (folder / "done").exists():
            writing.write(pinned(make(data)), folder, None, None)
            index(home / "compared-index", folder / "corpus.jsonl", name)
            (folder / "done").touch()
            print(f"{name} is indexed", flush=True)
    for name, (_, make) in OTHER_QUESTIONS.items():
        writing.write(pinned(make(data)), home / "compared" / name, None, None)


def look(home: Path, folder: Path, split: str, most: int) -> dict[str, list[Ranked]]:
    """Every set's questions of a split, at most so many."""
    online, profile = open_path(home / "compared-index"), load_profile("default")
    model = CrossEncoderReranker(folder, 1)
    rules = load_reranker(
        profile.rerank.model, data_folder("rerank_models"), profile.rerank.weights, _no_model
    )
    assert rules is not None
    told = {}
    for name in (*CORPORA, *OTHER_QUESTIONS):
        corpus = OTHER_QUESTIONS[name][0] if name in OTHER_QUESTIONS else name
        cases = [
            c for c in load_cases(home / "compared" / name / f"cases.{split}.jsonl") if c.required_claims
        ]
        told[name] = [_ranked(pool, rules, model) for pool in pools(online, corpus, cases[:most])]
        print(f"{name} {split}: {len(told[name])} questions", flush=True)
    return told


def table(tune: Mapping[str, Sequence[Ranked]], report: Mapping[str, Sequence[Ranked]]) -> str:
    """Markdown: MRR@10 by set, and the difference that the model makes, with its 95 % interval."""
    weight = max(
        WEIGHTS,
        key=lambda w: mean([mean([r.reciprocal(r.by_both(w)) for r in own]) for own in tune.values()]),
    )
    lines = [
        f"Both: rules + {weight} × logit (of {WEIGHTS}, the best over the tune splits).",
        "",
        f"| set | questions | fused | feature-rules | model over {DEPTH} | both | both − rules | rules, model: ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, own in report.items():
        rules = [r.reciprocal(r.rules) for r in own]
        both = [r.reciprocal(r.by_both(weight)) for r in own]
        changed = paired(rules, both)
        figures = [[r.reciprocal() for r in own], rules, [r.reciprocal(r.by_model()) for r in own], both]
        shown = " | ".join(f"{mean(f):.3f}".replace("0.", ".", 1) for f in figures)
        times = [statistics.median(times) for times in ([r.rules_ms for r in own], [r.model_ms for r in own])]
        bounds = f"{changed.mean:+.3f} [{changed.low:+.3f}, {changed.high:+.3f}]"
        lines.append(f"| {name} | {len(own)} | {shown} | {bounds} | {times[0]:.0f}, {times[1]:.0f} |")
    return "\n".join(lines) + "\n"


def _ranked(pool: Pool, rules: Reranker, model: Reranker) -> Ranked:
    request = pool.request
    first = RerankRequest(
        request.question,
        request.terms,
        request.anchors,
        request.hard,
        request.asks_value,
        request.candidates[:DEPTH],
        request.language,
    )
    clock = [time.perf_counter()]
    ruled = {s.chunk_id: s.score for s in rules.rerank(request, math.inf)}
    clock.append(time.perf_counter())
    judged = {s.chunk_id: s.score for s in model.rerank(first, math.inf)}
    clock.append(time.perf_counter())
    took = [(after - before) * 1000 for before, after in pairwise(clock)]
    ids = [candidate.chunk_id for candidate in request.candidates]
    return Ranked(
        gold=tuple(name in pool.gold for name in ids),
        rules=tuple(ruled[name] for name in ids),
        model=tuple(judged[name] for name in ids[:DEPTH]),
        rules_ms=took[0],
        model_ms=took[1],
    )


def _no_model(folder: Path) -> Reranker:
    raise ValueError(f"the default profile names {folder.name}, a model; there are no rules to compare with")
