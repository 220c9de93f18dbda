"""The cross-encoder in rerank_models/: whole, small enough, and giving the scores that it gave when it was made."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from service.bootstrap import data_folder
from service.cli import cli
from service.evaluation.rerankers import golden_request
from service.online.rerank.cross_encoder import CrossEncoderReranker

FOLDER = data_folder("rerank_models") / "e5-cross-4l"


def test_it_holds_its_golden_scores_and_the_contract() -> None:
    result = CliRunner().invoke(cli, ["rerankers", "check", str(FOLDER)])
    assert result.exit_code == 0, result.output
    assert "ok: manifest" in result.output


def test_it_is_small_and_says_what_it_is_made_of() -> None:
    assert (FOLDER / "model.onnx").stat().st_size <= 40_000_000
    card = (FOLDER / "card.md").read_text(encoding="utf-8")
    assert "CC BY-SA" in card and "| set | questions | fused |" in card
    assert "Microsoft" in (FOLDER / "LICENSE.e5").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("question", "best"),
    [("任务失败后重试几次？", "zh"), ("How long is the warranty?", "en"), ("保修期是多少个月", "long")],
)
def test_it_puts_first_what_answers(question: str, best: str) -> None:
    """In the long passage the answer is its last sentence."""
    scores = CrossEncoderReranker(FOLDER, threads=1).rerank(golden_request(question), float("inf"))
    assert max(scores, key=lambda score: score.score).chunk_id == best
