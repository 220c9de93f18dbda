"""Does a reranker's folder do what it should? Golden scores, and what the contract asks of every reranker.

The golden pairs are fixed, Chinese and English: an exported model gives the scores it gave when it was exported,
or something of it (graph, tokenizer, runtime) is not what it was. Token vectors are drawn by the characters of a text:
no embedder is needed, and equal characters meet. Rerankers with weights are asked with all of them 1.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.domain.retrieval import QuestionTokens
from service.online.question import analyse
from service.online.rerank.contract import RerankCandidate, Reranker, RerankRequest, RerankScore
from service.text.token_vectors import encode

GOLDEN = "golden.json"
_TOKENS, _DIMENSION = 500, 32
TOLERANCE = 0.05  # of a logit: processors with other integer instructions round an int8 model otherwise
_PASSAGES = {
    "zh": ("任务", "任务失败后会自动重试三次，每次间隔三十秒。重试耗尽后任务进入死信队列。"),
    "zh denied": ("任务", "人工取消的任务不会自动重试。"),
    "en": ("Warranty", "The warranty lasts 24 months from the date of purchase."),
    "en other": ("Library", "The library closes at five in the afternoon on weekends."),
    "long": ("设备手册", "请按说明使用并妥善保管设备。" * 200 + "保修期为 37 个月。"),
    "table": ("规格 > 电源", "| X-77 | 24 | 7 |"),
    "empty": ("", "。"),
}
_QUESTIONS = ("任务失败后重试几次？", "How long is the warranty?", "保修期是多少个月")


def golden_request(question: str) -> RerankRequest:
    asked = analyse(question)
    candidates = tuple(
        RerankCandidate(name, title, (), "", text, frozenset(), rank, tokens=encode(_token_rows(text)))
        for rank, (name, (title, text)) in enumerate(_PASSAGES.items(), 1)
    )
    rows = _token_rows(question)
    return RerankRequest(
        question=question,
        terms=asked.terms,
        anchors=frozenset(asked.anchors),
        hard=frozenset(anchor.canonical for anchor in asked.hard),
        asks_value=asked.asks_value,
        candidates=candidates,
        language=asked.language,
        tokens=QuestionTokens(rows, np.full(len(rows), 1 / len(rows), dtype=np.float32)),
    )


def unit_reranker(load: Callable[[Mapping[str, float]], Reranker | None]) -> Reranker:
    """The reranker with all its weights 1."""
    plain = load({})
    assert plain is not None
    said = plain.rerank(golden_request(_QUESTIONS[0]), math.inf)
    reranker = load(dict.fromkeys(said[0].contributions, 1.0)) if said else plain
    assert reranker is not None
    return reranker


def golden_scores(reranker: Reranker) -> dict[str, dict[str, float]]:
    """By question and passage."""
    return {
        question: {s.chunk_id: s.score for s in reranker.rerank(golden_request(question), math.inf)}
        for question in _QUESTIONS
    }


def write_golden(reranker: Reranker, folder: Path) -> None:
    data = {"identity": reranker.identity, "tolerance": TOLERANCE, "scores": golden_scores(reranker)}
    text = json.dumps(data, ensure_ascii=False, indent=2)
    (folder / GOLDEN).write_text(text + "\n", encoding="utf-8")


def golden_faults(reranker: Reranker, folder: Path) -> list[str]:
    path = folder / GOLDEN
    if not path.is_file():
        return [f"{GOLDEN} is missing: make it where the model was exported, with --write-golden"]
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        expected, tolerance = data["scores"], float(data["tolerance"])
        pairs = {(q, p): float(score) for q, row in expected.items() for p, score in row.items()}
    except (ValueError, KeyError, AttributeError, TypeError):
        return [f"{GOLDEN} cannot be read; make it anew with --write-golden"]
    faults = []
    if data.get("identity") != reranker.identity:
        faults.append(
            f"{GOLDEN} is of {data.get('identity')}, the folder of {reranker.identity}; make it anew"
        )
    found = {(q, p): s for q, row in golden_scores(reranker).items() for p, s in row.items()}
    if set(found) != set(pairs):
        return [*faults, f"{GOLDEN} has other pairs than this release; make it anew"]
    for (question, passage), score in found.items():
        wanted = pairs[question, passage]
        if not abs(score - wanted) <= tolerance:
            faults.append(
                f"“{question}” with “{passage}” scores {score:.4f}, {GOLDEN} says {wanted:.4f} (± {tolerance})"
            )
    return faults


def contract_faults(reranker: Reranker, *, slow: bool) -> list[str]:
    """What every reranker promises: a number for each candidate, the same alone, in company and in any order; of a slow
    one, that it heeds its deadline."""
    faults = []
    for question in _QUESTIONS:
        request = golden_request(question)
        together = _by_name(reranker.rerank(request, math.inf))
        for name, score in together.items():
            if not math.isfinite(score.score):
                faults.append(f"“{question}” with “{name}” scores {score.score}, which is no number")
        if set(together) != set(_PASSAGES):
            faults.append(f"“{question}”: not every candidate got a score")
        turned = _asked(reranker, request, request.candidates[::-1])
        alone: dict[str, RerankScore] = {}
        for candidate in request.candidates:
            alone |= _asked(reranker, request, (candidate,))
        for what, other in (("in another order", turned), ("alone", alone)):
            changed = [n for n, s in together.items() if n in other and other[n].score != s.score]
            if changed:
                faults.append(f"“{question}”: {what} another score for {', '.join(changed)}")
    if slow and reranker.rerank(golden_request(_QUESTIONS[0]), time.monotonic() - 1):
        faults.append("after its deadline it still scores")
    return faults


def milliseconds_a_window(reranker: Reranker) -> float:
    """Of the pair of a short passage, the middle of nine runs."""
    request = golden_request(_QUESTIONS[0])
    took = []
    for _ in range(9):
        started = time.perf_counter()
        _asked(reranker, request, request.candidates[:1])
        took.append(time.perf_counter() - started)
    return sorted(took)[4] * 1000


def _asked(
    reranker: Reranker, request: RerankRequest, candidates: tuple[RerankCandidate, ...]
) -> Mapping[str, RerankScore]:
    return _by_name(reranker.rerank(replace(request, candidates=candidates), math.inf))


def _token_rows(text: str) -> NDArray[np.float32]:
    seeds = [ord(sign) for sign in text if sign.isalnum()][:_TOKENS]
    rows = np.array([np.random.default_rng(seed).standard_normal(_DIMENSION) for seed in seeds])
    rows = rows.reshape(-1, _DIMENSION)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _by_name(scores: Sequence[RerankScore]) -> dict[str, Any]:
    return {score.chunk_id: score for score in scores}
