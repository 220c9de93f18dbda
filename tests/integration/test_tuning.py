"""Tuning over a real corpus: features are those of the real reranker, and hidden gold is really not found."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli.tune import tune_command
from service.evaluation.cases import AcceptedSpan, Case, RequiredClaim
from service.evaluation.signals import Asked, feature_names, observe
from service.evaluation.tuning import rank_of_gold
from service.evaluation.tuning_plan import read_plan
from service.evaluation.tuning_run import measure, tune
from service.profiles.ranking import FOLDER, load_profile, read_profile
from tests.integration.world import ALICE, CORPUS, FILES, WARRANTY, World, quiet

pytestmark = pytest.mark.slow

SPAN = AcceptedSpan(document_id="warranty.md", start=12, end=len(FILES["warranty.md"]))
CASE = Case(
    case_id="period",
    query=WARRANTY,
    answerability="answerable",
    required_claims=(RequiredClaim(claim_id="p", accepted_spans=(SPAN,)),),
)
PLAN = f"""
[[sets]]
name = "handbook"
corpus = "{CORPUS}"
fit = ["fit.jsonl"]
report = ["report.jsonl"]
"""


def plan(folder: Path) -> Path:
    for name in ("fit", "report"):
        line = CASE.model_copy(update={"case_id": name}).model_dump_json(by_alias=True)
        (folder / f"{name}.jsonl").write_text(line + "\n", "utf-8")
    path = folder / "plan.toml"
    path.write_text(PLAN, "utf-8")
    return path


def test_features_weighed_are_the_scores_of_a_search(world: World) -> None:
    """What is fitted is what is served: the order by these weights is the order a caller gets."""
    profile = load_profile("default").without_tokens  # This corpus keeps none.
    [one] = observe(
        world.online, CORPUS, profile, profile.rerank.weights, [Asked("a", "answerable", CASE)], quiet
    )
    assert one.names == feature_names(world.online, profile)
    hits = world.search(ALICE, WARRANTY).hits
    weights = [profile.rerank.weights.get(name, 0.0) for name in one.names]
    assert sorted((one.features @ weights).tolist(), reverse=True) == pytest.approx([h.score for h in hits])
    assert one.right and rank_of_gold(one, profile.rerank.weights) == 1
    assert one.languages == "en>en" and {"relevance", "coverage", "probability"} <= set(one.gate)


def test_a_reranker_that_would_be_late_for_a_caller_is_waited_for(world: World) -> None:
    """On a busy machine: a caller would get the fused order, and a fit would get no features."""
    shipped = load_profile("default").without_tokens
    hasty = shipped.model_copy(update={"rerank": shipped.rerank.model_copy(update={"deadline_s": 1e-9})})
    asked = [Asked("a", "answerable", CASE)]
    [late] = observe(world.online, CORPUS, hasty, shipped.rerank.weights, asked, quiet)
    [there] = observe(world.online, CORPUS, shipped, shipped.rerank.weights, asked, quiet)
    assert late.order and late.order == there.order
    assert late.features.tolist() == there.features.tolist()


def test_what_is_taken_out_is_not_found(world: World) -> None:
    profile = load_profile("default")
    asked = [Asked("a", kind, CASE) for kind in ("answerable", "removed")]
    there, gone = observe(world.online, CORPUS, profile, profile.rerank.weights, asked, quiet)
    assert len(gone.gold) < len(there.gold)
    assert not gone.gold.any() and not any(gone.legs.values())
    assert gone.gate.get("probability", 0) < there.gate["probability"]


def test_a_profile_is_fitted_and_holds(world: World, tmp_path: Path) -> None:
    profile, source = load_profile("default"), (FOLDER / "default.toml").read_text("utf-8")
    tuned = tune(world.online, read_plan(plan(tmp_path)), profile, source, "weights", (), quiet)
    after = read_profile(tuned.text, where="tuned")
    assert after.version == profile.version + 1 and after.changes[-1].version == after.version
    assert after.rerank.weights.keys() >= profile.rerank.weights.keys()
    assert tuned.sets["handbook"].fitted == 1.0
    assert "it takes 30" in tuned.kept["en>en"]
    assert (
        measure(world.online, read_plan(plan(tmp_path)), profile, "weights", quiet).weights
        == profile.rerank.weights
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["nowhere.toml"], "does not exist"), (["plan.toml", "--table", "x"], "not one of")],
)
def test_what_it_cannot_do_is_told(
    tmp_path: Path, arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan(tmp_path)
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(tune_command, arguments)
    assert result.exit_code == 2 and said in result.output
