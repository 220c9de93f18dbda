"""A cross-encoder of one's own: a folder, a line in a profile, and the service ranks by it."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tokenizers import Tokenizer

from service.adapters.embedded import open_embedded
from service.cli import cli
from service.online.rerank.registry import read_catalogue
from service.profiles import ranking
from tests.integration import tiny_encoders as tiny

CORPUS = "handbook"
TEXTS = {
    "retry": "任务失败后会自动重试三次，每次间隔三十秒。",
    "cancel": "人工取消的任务不会自动重试。",
    "cache": "缓存缺失时，读取回到权威数据库。",
    "warranty": "The warranty period is 12 months.",
}
QUESTION = "任务失败后自动重试几次？"
LETTERS = "".join(TEXTS.values()) + QUESTION + "abcdefghijklmnopqrstuvwxyz >"


@dataclass
class Own:
    """The folder, and what its model is made of."""

    folder: Path
    tokenizer: Tokenizer
    weights: tiny.Weights
    bert: bool

    def score(self, question: str, passage: str) -> float:
        pair = self.tokenizer.encode(question, passage)
        return tiny.reference(self.weights, pair.ids, pair.type_ids if self.bert else None)


@pytest.fixture(params=["bert", "xlmr"])
def own(request: pytest.FixtureRequest, tmp_path: Path) -> Own:
    """BERT's type with two logits, XLM-R's with one."""
    bert = request.param == "bert"
    tokenizer = (tiny.bert_tokenizer if bert else tiny.xlmr_tokenizer)(LETTERS)
    weights = tiny.weights(tokenizer.get_vocab_size(), 2 if bert else 1, seed=11)
    folder = tmp_path / "models" / f"my-{request.param}"
    tiny.write_folder(folder, tokenizer, weights, bert=bert)
    return Own(folder, tokenizer, weights, bert)


@pytest.fixture
def shell(own: Own, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CliRunner]:
    for name in ("ATTEST_TOKEN", "REDIS_URL", "ATTEST_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_ENGINE", "embedded")
    monkeypatch.setenv("ATTEST_PREFIX", "test-own")
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ATTEST_RERANK_MODELS_DIR", str(own.folder.parent))
    profiles = tmp_path / "profiles"
    profiles.mkdir()
    shipped = (ranking.FOLDER / "default.toml").read_text(encoding="utf-8")
    head, _, rest = shipped.partition("[rerank.weights]")
    text = f"{head}[rerank.weights]{rest}".replace('name = "default"', 'name = "own"', 1)
    before, _, after = text.partition("[rerank]\nmodel = ")
    (profiles / "own.toml").write_text(
        f'{before}[rerank]\nmodel = "{own.folder.name}"\n{after.partition(chr(10))[2]}', encoding="utf-8"
    )
    monkeypatch.setattr(ranking, "FOLDER", profiles)
    monkeypatch.setenv("ATTEST_PROFILE", "own")
    yield CliRunner()
    open_embedded(tmp_path / "data", "test-own").erase()


def run(shell: CliRunner, *arguments: str) -> Result:
    return shell.invoke(cli, list(arguments))


def out(shell: CliRunner, *arguments: str) -> str:
    result = run(shell, *arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def publish(shell: CliRunner, tmp_path: Path) -> None:
    sources = tmp_path / "sources"
    sources.mkdir()
    for name, text in TEXTS.items():
        (sources / f"{name}.md").write_text(f"# {name}\n\n{text}\n", encoding="utf-8")
    out(shell, "ingest", str(sources), "--corpus", CORPUS, "--access", '{"allow": ["*"]}')
    out(shell, "build", CORPUS, "--publish")


def test_search_and_trace_show_the_scores_of_the_folder_s_own_model(
    own: Own, shell: CliRunner, tmp_path: Path
) -> None:
    publish(shell, tmp_path)
    found = json.loads(out(shell, "search", QUESTION, "--corpus", CORPUS, "--profile", "own", "--json"))
    assert found["degraded"] == []
    scores = {hit["title"]: hit["score"] for hit in found["hits"]}
    assert len(scores) >= 2
    for title, score in scores.items():
        assert score == pytest.approx(own.score(QUESTION, f"{title}\n{TEXTS[title]}"), abs=1e-4)
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    answered = json.loads(out(shell, "ask", QUESTION, "--corpus", CORPUS, "--profile", "own", "--json"))
    trace = json.loads(out(shell, "inspect", answered["traceId"]))
    [stage] = [stage for stage in trace["stages"] if stage["stage"] == "rerank"]
    assert stage["detail"]["model"] == own.folder.name
    told: list[Any] = list(stage["detail"]["scores"].values())
    assert sorted(score for score, _ in told) == pytest.approx(sorted(scores.values()), abs=1e-5)
    assert all(features["logit"] == pytest.approx(score, abs=1e-3) for score, features in told)


def test_golden_scores_are_made_by_a_command_and_hold_the_model_to_them(own: Own, shell: CliRunner) -> None:
    missing = run(shell, "rerankers", "check", str(own.folder))
    assert missing.exit_code == 1 and "golden.json is missing" in missing.stderr
    assert "ok: manifest" in out(shell, "rerankers", "check", str(own.folder), "--write-golden")
    assert "ok: manifest" in out(shell, "rerankers", "check", str(own.folder))
    other = {name: value * np_sign(name) for name, value in own.weights.items()}
    (own.folder / "model.onnx").write_bytes(tiny.graph(other, bert=own.bert).SerializeToString())
    changed = run(shell, "rerankers", "check", str(own.folder))
    assert changed.exit_code != 0
    tiny.write_manifest(own.folder)
    changed = run(shell, "rerankers", "check", str(own.folder))
    assert changed.exit_code == 1 and "golden.json says" in changed.stderr


def np_sign(name: str) -> float:
    return -1.0 if name == "classifier" else 1.0


def test_eight_bits_are_checked_alone_and_in_company(own: Own, shell: CliRunner) -> None:
    folder = own.folder.parent / "my-int8"
    tiny.write_folder(folder, own.tokenizer, own.weights, bert=own.bert, quantised=True)
    assert "ok: manifest" in out(shell, "rerankers", "check", str(folder), "--write-golden")
    kept = json.loads((folder / "golden.json").read_text(encoding="utf-8"))
    assert all(math.isfinite(s) for row in kept["scores"].values() for s in row.values())


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"window_token": 64}, "do you mean `window_tokens`?"),
        ({"window_tokens": 4096}, "`window_tokens` must be a whole number from 16 to 512"),
        ({"windows": 0}, "`windows` must be a whole number from 1 to 64"),
        ({"max_tokens": 8}, "`max_tokens` must be a whole number of at least 16"),
        ({"name": "other"}, "but the folder is called"),
        ({"contract": 7}, "this service speaks contract 1"),
        ({"licence": ""}, "`licence` must be a non-empty string"),
    ],
)
def test_every_fault_of_a_manifest_is_told(
    own: Own, shell: CliRunner, changes: dict[str, object], told: str
) -> None:
    tiny.write_manifest(own.folder, **changes)
    checked = run(shell, "rerankers", "check", str(own.folder))
    assert checked.exit_code == 1 and told in checked.stderr
    assert told in out(shell, "rerankers", "list")


def test_all_faults_come_at_once_and_others_are_not_harmed(own: Own) -> None:
    tiny.write_folder(own.folder.parent / "good", own.tokenizer, own.weights, bert=own.bert)
    tiny.write_manifest(own.folder, contract=2, windows=100, speed="high")
    (own.folder / "tokenizer.json").unlink()
    (own.folder / "model.onnx_data").write_bytes(b"x")
    catalogue = read_catalogue(own.folder.parent)
    assert list(catalogue.plugins) == ["good"]
    faults = "\n".join(catalogue.faults[own.folder.name])
    for told in (
        "contract",
        "`windows`",
        "`speed` means nothing",
        "tokenizer.json is missing",
        "model.onnx_data",
    ):
        assert told in faults
