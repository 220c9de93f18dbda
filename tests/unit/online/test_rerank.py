"""Rerankers: folders as data, the contributions of each feature, and what a late or failing plugin costs."""

from __future__ import annotations

import math
import shutil
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from service.bootstrap import data_folder
from service.domain.answers import Candidate
from service.errors import Misconfigured
from service.evaluation import rerankers
from service.online.question import analyse
from service.online.rerank.contract import RerankCandidate, Reranker, RerankRequest, RerankScore
from service.online.rerank.registry import load_reranker, read_catalogue
from service.online.rerank.stage import apply
from service.profiles.ranking import load_profile

WEIGHTS = load_profile("default").without_tokens.rerank.weights
GOOD = {
    "name": "mine",
    "version": "1",
    "contract": 1,
    "kind": "rules",
    "entry": "reranker.py",
    "licence": "MIT",
}


def candidate(chunk_id: str, text: str = "", **changes: Any) -> RerankCandidate:
    values = {
        "title": "",
        "heading_path": (),
        "prefix": "",
        "anchors": frozenset(),
        "fused_rank": 1,
    } | changes
    return RerankCandidate(chunk_id=chunk_id, text=text, **values)


def request_of(question: str, *candidates: RerankCandidate) -> RerankRequest:
    asked = analyse(question)
    hard = frozenset(anchor.canonical for anchor in asked.hard)
    return RerankRequest(
        question, asked.terms, frozenset(asked.anchors), hard, asked.asks_value, candidates, asked.language
    )


def no_model(folder: Path) -> Reranker:
    raise AssertionError(f"no model is loaded in this test: {folder}")


@pytest.fixture(scope="module")
def rules() -> Reranker:
    loaded = load_reranker("feature-rules", data_folder("rerank_models"), WEIGHTS, no_model)
    assert loaded is not None
    return loaded


def contributions(rules: Reranker, question: str, **changes: Any) -> dict[str, float]:
    [score] = rules.rerank(request_of(question, candidate("a", **changes)), math.inf)
    assert score.score == pytest.approx(sum(score.contributions.values()))
    return dict(score.contributions)


# ── feature-rules ──────────────────────────────────────────────────────────────────────────────────────


def test_every_feature_is_in_the_record_and_no_other(rules: Reranker) -> None:
    assert set(contributions(rules, "重试几次", text="x")) == set(WEIGHTS)


def test_nothing_in_common_scores_nothing(rules: Reranker) -> None:
    assert set(contributions(rules, "重试几次", text="天气晴朗").values()) == {0.0}


@pytest.mark.parametrize(
    ("question", "feature", "share", "changes"),
    [
        ("重试", "cosine", 0.05, {"text": "x", "relevance": 0.05}),
        ("重试", "cosine", 0.0, {"text": "x", "relevance": None}),
        ("重试", "exact_term_overlap", 1.0, {"text": "自动重试"}),
        ("重试", "exact_term_overlap", 1.0, {"text": "x", "heading_path": ("重试",)}),
        ("重试", "heading_match", 1.0, {"text": "x", "heading_path": ("重试",)}),
        ("重试", "heading_match", 0.0, {"text": "重试"}),
        ("重试", "scope_match", 1.0, {"text": "x", "title": "重试"}),
        ("等待 60 分钟还是 3 次", "required_number_match", 0.5, {"text": "等待 1 小时"}),
        ("等待 60 分钟", "required_number_match", 0.0, {"text": "等待 60 秒"}),
        ("PPR-9087 重试", "anchor_match", 1.0, {"text": "x", "anchors": frozenset({"ppr9087", "other"})}),
        ("PPR-9087 重试", "anchor_match", 0.0, {"text": "x", "anchors": frozenset({"ppr9078"})}),
        ("code cache 多大", "respelled", 0.5, {"text": "x", "anchors": frozenset({"code_cache"})}),
        ("code_cache 多大", "respelled", 0.0, {"text": "x", "anchors": frozenset({"code_cache"})}),
        ("参数 --className", "as_written", 1.0, {"text": "用 --classname 指定"}),
        ("参数 --className", "as_written", 0.0, {"text": "className，--className-x"}),
        ("code_cache 多大", "titled", 1.0, {"text": "x", "heading_path": ("code_cache",)}),
        ("code-cache 多大", "titled", 0.5, {"text": "x", "heading_path": ("code_cache",)}),
        ("code_cache 多大", "titled", 0.0, {"text": "code_cache"}),
        ("重试", "same_language", 1.0, {"text": "x", "locale": "zh-CN"}),
        ("重试", "same_language", 0.0, {"text": "x", "locale": "en"}),
        ("系统支持断点续传", "negation_conflict", 1.0, {"text": "系统不支持断点续传"}),
        ("系统支持断点续传", "negation_conflict", 0.0, {"text": "系统支持断点续传"}),
    ],
)
def test_a_contribution_is_weight_times_feature(
    rules: Reranker, question: str, feature: str, share: float, changes: dict[str, Any]
) -> None:
    assert contributions(rules, question, **changes)[feature] == pytest.approx(WEIGHTS[feature] * share)


def test_a_score_depends_on_its_own_candidate_alone(rules: Reranker) -> None:
    texts = ("重试三次", "系统不支持重试", "PPR-9087", "天气")
    several = [candidate(name, text) for name, text in zip("abcd", texts, strict=True)]
    together = {s.chunk_id: s.score for s in rules.rerank(request_of("重试几次", *several), math.inf)}
    backwards = {s.chunk_id: s.score for s in rules.rerank(request_of("重试几次", *several[::-1]), math.inf)}
    alone = {c.chunk_id: rules.rerank(request_of("重试几次", c), math.inf)[0].score for c in several}
    assert together == backwards == alone


# ── folders ────────────────────────────────────────────────────────────────────────────────────────────


def folder(
    root: Path, place: str = "mine", code: str = "def create(weights):\n    return None\n", **changes: Any
) -> None:
    made = root / place
    made.mkdir(parents=True)
    (made / "reranker.py").write_text(code, encoding="utf-8")
    lines = [f"{key} = {value!r}" for key, value in (GOOD | changes).items() if value is not None]
    (made / "manifest.toml").write_text("\n".join(lines) + "\n", encoding="utf-8")


def load(root: Path, name: str = "mine") -> Reranker | None:
    return load_reranker(name, root, WEIGHTS, no_model)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"name": "other"}, "`name` is 'other'"),
        ({"version": None}, "`version` must be"),
        ({"licence": ""}, "`licence` must be"),
        ({"kind": "oracle"}, "known kinds are rules, cross-encoder"),
        ({"contract": 2}, "this service speaks contract 1"),
        ({"contract": None}, "this service speaks contract 1"),
        ({"entry": "../reranker.py"}, "`entry` must name"),
        ({"entry": "absent.py"}, "`entry` must name"),
        ({"entry": None}, "`entry` must name"),
        ({"kind": "blend"}, "`parts` must name two folders"),
        ({"kind": "blend", "parts": ["one"]}, "`parts` must name two folders"),
        ({"files": "model.onnx"}, "`[files]` must give"),
    ],
)
def test_a_fault_of_the_manifest_is_named(tmp_path: Path, changes: dict[str, Any], said: str) -> None:
    folder(tmp_path, **changes)
    with pytest.raises(Misconfigured) as caught:
        load(tmp_path)
    assert said in str(caught.value)
    assert "'mine'" in str(caught.value)


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    folder(tmp_path, kind="oracle", contract=7, licence=None)
    assert len(read_catalogue(tmp_path).faults["mine"]) == 3


def test_a_broken_folder_does_not_hide_the_good_one(tmp_path: Path) -> None:
    shutil.copytree(data_folder("rerank_models") / "feature-rules", tmp_path / "feature-rules")
    folder(tmp_path, contract=9)
    (tmp_path / "empty").mkdir()
    (tmp_path / "garbled").mkdir()
    (tmp_path / "garbled" / "manifest.toml").write_bytes(b"\xff = [")
    catalogue = read_catalogue(tmp_path)
    assert set(catalogue.plugins) == {"feature-rules"}
    assert set(catalogue.faults) == {"mine", "empty", "garbled"}
    assert load(tmp_path, "feature-rules") is not None


@pytest.mark.parametrize(
    ("code", "said"),
    [("x = (", "fails to load"), ("1 / 0", "fails to load"), ("x = 1", "no `create(weights)`")],
)
def test_broken_code_names_its_folder(tmp_path: Path, code: str, said: str) -> None:
    folder(tmp_path, code=code)
    with pytest.raises(Misconfigured) as caught:
        load(tmp_path)
    assert said in str(caught.value)


def test_a_catalogue_runs_no_code(tmp_path: Path) -> None:
    folder(tmp_path, code="raise SystemExit('ran')")
    assert set(read_catalogue(tmp_path).plugins) == {"mine"}


def test_an_unknown_name_and_none(tmp_path: Path) -> None:
    folder(tmp_path)
    with pytest.raises(Misconfigured, match="found: mine"):
        load(tmp_path, "absent")
    assert load(tmp_path, "none") is None


def test_a_file_that_is_not_as_listed_is_told(tmp_path: Path) -> None:
    shutil.copytree(data_folder("rerank_models") / "late-interaction", tmp_path / "late-interaction")
    assert read_catalogue(tmp_path).faults == {}
    with (tmp_path / "late-interaction" / "max_sim.onnx").open("ab") as file:
        file.write(b" ")
    [fault] = read_catalogue(tmp_path).faults["late-interaction"]
    assert fault.startswith("max_sim.onnx does not have the sha256")


# ── a blend ────────────────────────────────────────────────────────────────────────────────────────────

PART = """
from service.online.rerank.contract import RerankScore

class Part:
    identity = "part@1"

    def __init__(self, weights):
        self.weight = weights.get("NAME", 0.0)

    def rerank(self, request, deadline):
        return [RerankScore(c.chunk_id, self.weight, {"NAME": self.weight}) for c in request.candidates]LEFT

create = Part
"""


def blend(root: Path, *parts: str, left: str = "") -> Reranker:
    for name in ("one", "two"):
        folder(
            root, name, PART.replace("NAME", name).replace("LEFT", left if name == "two" else ""), name=name
        )
    (root / "both").mkdir()
    lines = f'name = "both"\nversion = "3"\ncontract = 1\nkind = "blend"\nlicence = "MIT"\nparts = {list(parts)}\n'
    (root / "both" / "manifest.toml").write_text(lines, encoding="utf-8")
    loaded = load_reranker("both", root, {"one": 2.0, "two": 0.5}, no_model)
    assert loaded is not None
    return loaded


def test_a_blend_adds_up_its_parts_and_names_each(tmp_path: Path) -> None:
    both = blend(tmp_path, "one", "two")
    assert both.identity == "both@3"
    [score] = both.rerank(request_of("重试", candidate("a")), math.inf)
    assert (score.score, score.contributions) == (2.5, {"one": 2.0, "two": 0.5})
    assert both.rerank(request_of("重试", candidate("a")), time.monotonic() - 1) == []


def test_what_one_part_leaves_out_the_blend_leaves_out(tmp_path: Path) -> None:
    both = blend(tmp_path, "one", "two", left="[1:]")
    scores = both.rerank(request_of("重试", candidate("a"), candidate("b")), math.inf)
    assert [score.chunk_id for score in scores] == ["b"]


@pytest.mark.parametrize("part", ["absent", "both"])
def test_a_blend_of_what_cannot_be_used_is_told(tmp_path: Path, part: str) -> None:
    with pytest.raises(Misconfigured, match=f"its part '{part}' cannot be used"):
        blend(tmp_path, "one", part)


# ── what is shipped ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("name", ["feature-rules", "late-interaction", "rules-and-tokens"])
def test_a_shipped_reranker_keeps_the_contract(name: str) -> None:
    root = data_folder("rerank_models")
    shipped = rerankers.unit_reranker(lambda weights: load_reranker(name, root, weights, no_model))
    assert rerankers.contract_faults(shipped, slow=False) == []


def test_late_interaction_gives_its_golden_scores() -> None:
    root = data_folder("rerank_models")
    shipped = rerankers.unit_reranker(
        lambda weights: load_reranker("late-interaction", root, weights, no_model)
    )
    assert rerankers.golden_faults(shipped, root / "late-interaction") == []


def test_the_default_profile_weighs_every_feature_and_none_against_a_match() -> None:
    best = load_profile("default")
    root = data_folder("rerank_models")
    loaded = load_reranker(best.rerank.model, root, best.rerank.weights, no_model)
    assert loaded is not None
    [score] = loaded.rerank(rerankers.golden_request("重试几次"), math.inf)[:1]
    assert set(score.contributions) == set(best.rerank.weights)
    assert best.rerank.weights["max_sim"] >= 0 and best.rerank.weights["idf_max_sim"] >= 0
    assert set(best.without_tokens.rerank.weights) == set(score.contributions) - {"max_sim", "idf_max_sim"}


# ── the stage ──────────────────────────────────────────────────────────────────────────────────────────


class Plugin:
    """A reranker with the given behaviour."""

    identity = "plugin@1"

    def __init__(self, behave: Callable[[RerankRequest, float], Sequence[RerankScore]]) -> None:
        self.rerank = behave


FUSED = tuple(Candidate(name, 1.0 / place) for place, name in enumerate("abc", 1))
ASKED = request_of("重试", *(candidate(c.chunk_id, "重试") for c in FUSED))


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


def staged(executor: ThreadPoolExecutor, scores: dict[str, float]) -> tuple[str, str | None]:
    plugin = Plugin(lambda _, __: [RerankScore(name, score, {"f": score}) for name, score in scores.items()])
    done = apply(plugin, ASKED, FUSED, 5.0, executor)
    return "".join(c.chunk_id for c in done.order), done.fault


@pytest.mark.parametrize(
    ("scores", "order", "fault"),
    [
        ({"a": 1.0, "b": 3.0, "c": 2.0}, "bca", None),
        ({"c": 1.0, "b": 1.0, "a": 1.0}, "abc", None),
        ({"a": 1.0, "b": math.nan, "c": 5.0}, "abc", "incomplete"),
        ({"c": 9.0}, "abc", "incomplete"),
        ({"a": 1.0, "b": 2.0, "c": 3.0, "ghost": 9.0}, "cba", None),
        ({}, "abc", "incomplete"),
    ],
)
def test_order(executor: ThreadPoolExecutor, scores: dict[str, float], order: str, fault: str | None) -> None:
    assert staged(executor, scores) == (order, fault)


def test_contributions_and_truncation_are_kept(executor: ThreadPoolExecutor) -> None:
    plugin = Plugin(
        lambda r, _: [RerankScore(c.chunk_id, 2.0, {"f": 2.0}, c.chunk_id == "b") for c in r.candidates]
    )
    done = apply(plugin, ASKED, FUSED, 5.0, executor)
    assert [c.contributions for c in done.order] == [{"f": 2.0}] * 3
    assert [c.notes for c in done.order] == [(), ("truncated",), ()]


def test_a_failing_plugin_leaves_the_fused_order(executor: ThreadPoolExecutor) -> None:
    def fail(_: RerankRequest, __: float) -> Sequence[RerankScore]:
        raise RuntimeError("plugin")

    done = apply(Plugin(fail), ASKED, FUSED, 5.0, executor)
    assert (done.order, done.fault) == (FUSED, "failed")


def test_a_late_plugin_leaves_the_fused_order_in_time(executor: ThreadPoolExecutor) -> None:
    release = threading.Event()

    def wait(_: RerankRequest, __: float) -> Sequence[RerankScore]:
        release.wait(10)
        return []

    started = time.monotonic()
    done = apply(Plugin(wait), ASKED, FUSED, 0.1, executor)
    took = time.monotonic() - started
    release.set()
    assert (done.order, done.fault) == (FUSED, "late")
    assert took < 2.0


def test_the_plugin_is_told_its_deadline(executor: ThreadPoolExecutor) -> None:
    told: list[float] = []

    def note(request: RerankRequest, deadline: float) -> Sequence[RerankScore]:
        told.append(deadline - time.monotonic())
        return [RerankScore(c.chunk_id, 1.0) for c in request.candidates]

    apply(Plugin(note), ASKED, FUSED, 5.0, executor)
    assert 0 < told[0] <= 5.0
