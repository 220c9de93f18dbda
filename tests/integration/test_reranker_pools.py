"""The pools that a cross-encoder learns from are those that the service reranks, and gold in them is where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from cross_encoder_train import corpora
from cross_encoder_train.pools import open_path, pools
from dataset_build import writing
from dataset_build.model import DataSet, Document, Gold, Question
from service.evaluation.cases import load_cases
from service.evaluation.splits import split_of

pytestmark = pytest.mark.slow

TEXTS = {
    "retry": "任务失败后会自动重试三次，每次间隔三十秒。",
    "cancel": "人工取消的任务不会自动重试。",
    "cache": "缓存缺失时，读取回到权威数据库。",
}
QUESTION = "任务失败后自动重试几次？"


def test_a_pool_is_what_a_reranker_would_be_asked_and_names_the_gold(tmp_path: Path) -> None:
    start = TEXTS["retry"].index("三次")
    asked = Question("times", QUESTION, "retry", (Gold("retry", start, start + 2),))
    documents = tuple(Document(name, text) for name, text in TEXTS.items())
    writing.write(DataSet("invented", 1, documents, (asked,)), tmp_path / "set", None, None)
    corpora.index(tmp_path / "index", tmp_path / "set" / "corpus.jsonl", "invented")
    cases = load_cases(tmp_path / "set" / f"cases.{split_of('retry')}.jsonl")
    [pool] = pools(open_path(tmp_path / "index"), "invented", cases)
    assert pool.request.question == QUESTION and len(pool.request.candidates) >= 2
    assert [c.fused_rank for c in pool.request.candidates] == list(range(1, len(pool.request.candidates) + 1))
    [(name, [span])] = pool.gold.items()
    texts = {candidate.chunk_id: candidate.text for candidate in pool.request.candidates}
    assert span.of(texts[name]) == "三次"


def test_a_corpus_that_cannot_be_indexed_is_told(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_text("{}\n", encoding="utf-8")
    with pytest.raises(ValueError, match="broken could not be indexed"):
        corpora.index(tmp_path / "index", tmp_path / "corpus.jsonl", "broken")
