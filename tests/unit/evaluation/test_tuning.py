"""Fitting weights and the gate: what is learnt from questions whose right answer is known by construction."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.evaluation.cases import Case, RequiredClaim
from service.evaluation.gate_fit import fit_gate
from service.evaluation.refusals import auroc, refusals, threshold
from service.evaluation.signals import Asked, Observed
from service.evaluation.tuned_profile import curve_table, language_table, tuned
from service.evaluation.tuning import fit_logistic, fit_weights, leave_one_out, lists_of, rank_of_gold
from service.evaluation.tuning_plan import Goal, read_plan
from service.profiles.ranking import FOLDER, read_profile

NAMES = ("near", "words", "against")
DEFAULT = (FOLDER / "default.toml").read_text("utf-8")
numbers = st.floats(-1, 1, allow_nan=False)


def case(name: str) -> Case:
    claim = RequiredClaim(claim_id="gold", accepted_document_ids=("d",))
    return Case(case_id=name, query="?", answerability="answerable", required_claims=(claim,))


def seen(
    features: list[list[float]],
    gold: int,
    set_name: str = "one",
    kind: Any = "answerable",
    gate: dict[str, float] | None = None,
) -> Observed:
    right = np.arange(len(features)) == gold
    order = tuple(range(len(features)))
    asked = Asked(set_name, kind, case(f"{set_name}-{gold}"))
    return Observed(
        asked, "zh>zh", NAMES, np.array(features), right, order, gate or {}, bool(gate), {"bm25": gold + 1}
    )


def questions(set_name: str, telling: int, count: int = 40) -> list[Observed]:
    """Questions in which one feature is higher for the right candidate, and the others are noise."""
    drawn = np.random.default_rng(telling)
    told = []
    for number in range(count):
        features = drawn.uniform(0, 1, (8, 3))
        gold = number % 8
        features[gold, telling] = 1.2
        told.append(seen(features.tolist(), gold, set_name))
    return told


def test_the_feature_that_tells_gets_the_weight() -> None:
    fitted = fit_weights(lists_of(questions("one", telling=1)), {"near": 1.0, "words": 0.1, "against": -0.1})
    assert fitted["words"] > 5 * max(fitted["near"], 0.01)
    assert all(rank_of_gold(one, fitted) == 1 for one in questions("one", telling=1))


def test_no_set_is_paid_for_by_another() -> None:
    """One set needs the first feature and a much larger one the second: both stay readable."""
    both = [*questions("few", telling=0, count=12), *questions("many", telling=1, count=120)]
    fitted = fit_weights(lists_of(both), {"near": 1.0, "words": 1.0, "against": -0.1})
    assert 0.4 < fitted["near"] / fitted["words"] < 2.5


def test_what_argues_against_a_candidate_never_comes_to_speak_for_it() -> None:
    fitted = fit_weights(lists_of(questions("one", telling=2)), {"near": 1.0, "words": 1.0, "against": -0.5})
    assert fitted["against"] <= 0 <= min(fitted["near"], fitted["words"])


def test_a_feature_that_nothing_was_seen_of_keeps_its_share() -> None:
    flat = [
        seen([[row[0], row[1], 0.5] for row in one.features.tolist()], int(np.flatnonzero(one.gold)[0]))
        for one in questions("one", telling=0)
    ]
    fitted = fit_weights(lists_of(flat), {"near": 2.0, "words": 1.0, "against": -0.5})
    assert fitted["against"] < 0


def test_a_family_is_judged_by_weights_that_never_saw_it() -> None:
    both = [*questions("one", telling=0), *questions("two", telling=1)]
    left = leave_one_out(
        both, {"one": "first", "two": "second"}, {"near": 1.0, "words": 1.0, "against": -0.1}
    )
    alone = fit_weights(lists_of(questions("two", telling=1)), {"near": 1.0, "words": 1.0, "against": -0.1})
    assert left["first"] == alone


@given(st.lists(st.lists(numbers, min_size=3, max_size=3), min_size=1, max_size=12), st.data())
def test_rank_of_gold_is_that_of_a_stable_sort(features: list[list[float]], data: st.DataObject) -> None:
    gold = data.draw(st.integers(0, len(features) - 1))
    weights = dict(zip(NAMES, data.draw(st.lists(numbers, min_size=3, max_size=3)), strict=True))
    scores = np.array(features) @ np.array(list(weights.values()))
    better = sum(s > scores[gold] or (s == scores[gold] and place < gold) for place, s in enumerate(scores))
    assert rank_of_gold(seen(features, gold), weights) == better + 1


def test_the_gate_learns_what_tells_and_keeps_to_its_goal() -> None:
    drawn = np.random.default_rng(7)
    right = [
        seen([[1, 1, 1]], 0, gate={"relevance": r, "coverage": c}) for r, c in drawn.uniform(0.4, 1, (200, 2))
    ]
    wrong = [
        seen([[1, 1, 1]], -1, kind="outside", gate={"relevance": r, "coverage": c})
        for r, c in zip(drawn.uniform(0, 0.6, 200), drawn.uniform(0.4, 1, 200), strict=True)
    ]
    fits, left = fit_gate([*right, *wrong], Goal(answered=0.9))
    fit = fits["zh>zh"]
    assert left == {} and fit.weights["cosine"] > fit.weights["coverage"] >= 0
    assert fit.answered == pytest.approx(0.9, abs=0.01)
    strict, _ = fit_gate([*right, *wrong], Goal(answered=0.9, wrong=0.01))
    assert strict["zh>zh"].let_through <= 0.01 and strict["zh>zh"].bias < fit.bias
    assert list(fit.curve["let_through"]) == sorted(fit.curve["let_through"], reverse=True)


def test_of_few_questions_no_gate_is_learnt() -> None:
    fits, left = fit_gate([seen([[1, 1, 1]], 0, gate={"relevance": 0.1, "coverage": 1.0})], Goal())
    assert fits == {} and "it takes 30" in left["zh>zh"]


@given(st.lists(numbers, min_size=1, max_size=30), st.lists(numbers, min_size=1, max_size=30))
def test_the_area_is_the_share_of_pairs_in_order(higher: list[float], lower: list[float]) -> None:
    pairs = [1.0 if h > w else 0.5 if h == w else 0.0 for h in higher for w in lower]
    assert auroc(higher, lower) == pytest.approx(sum(pairs) / len(pairs))


@given(st.lists(numbers, min_size=1, max_size=30), st.floats(0.01, 1))
def test_a_threshold_lets_the_share_through_and_no_higher_one_does(values: list[float], share: float) -> None:
    limit = threshold(values, share)
    assert sum(v >= limit for v in values) >= share * len(values) - 1e-6
    assert sum(v > limit for v in values) < share * len(values)


def test_questions_refused_before_the_gate_count_as_refused() -> None:
    told = refusals(
        [
            seen([[1, 1, 1]], 0, gate={"probability": 0.9}),
            seen([[1, 1, 1]], -1, kind="outside"),
            seen([[1, 1, 1]], -1, kind="removed", gate={"probability": 0.95}),
        ]
    )
    assert told.auroc == {"outside": 1.0, "removed": 0.0}
    assert told.refused == {"outside": 1.0, "removed": 0.0}


def test_a_tuned_profile_differs_in_its_numbers_and_says_so() -> None:
    before = read_profile(DEFAULT, where="default")
    text = tuned(
        DEFAULT,
        {
            "rerank.weights": {"cosine": 23.456789},
            language_table("zh>zh"): {"bias": -1.5, "cosine": 10.0},
            curve_table("zh>zh"): {"answered": [1.0, 0.9], "let_through": [0.5, 0.25]},
        },
        'of "handbook"',
    )
    after = read_profile(text, where="tuned")
    assert after.version == before.version + 1
    assert after.rerank.weights == {**before.rerank.weights, "cosine": 23.46}
    assert after.gate.languages["zh>zh"].bias == -1.5
    assert after.gate.languages["zh>zh"].coverage == before.gate.languages["zh>zh"].coverage
    assert after.gate.curves["zh>zh"].let_through == [0.5, 0.25]
    assert (after.changes[-1].version, after.changes[-1].what) == (after.version, "of 'handbook'")
    assert after.legs == before.legs and after.packing == before.packing
    comments = [line for line in DEFAULT.splitlines() if line.startswith("#")]
    assert [line for line in text.splitlines() if line.startswith("#")] == comments
    twice = read_profile(
        tuned(text, {curve_table("zh>zh"): {"answered": [1.0], "let_through": [0.1]}}, "again"), where="twice"
    )
    assert twice.gate.curves["zh>zh"].answered == [1.0] and len(twice.changes) == len(after.changes) + 1


LINE = '{"caseId": "a", "query": "?", "answerability": "unanswerable"}\n'


def plan_of(folder: Path, text: str) -> Path:
    (folder / "cases.jsonl").write_text(LINE, "utf-8")
    path = folder / "plan.toml"
    path.write_text(text, "utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sets = 1", "sets"),
        ("[[sets]]\nname = 'a'", "sets.0.corpus"),
        ("[[sets]]\nname = 'a'\ncorpus = 'a'\nfit = ['none.jsonl']", "there is no file"),
        ("[[sets]]\nname = 'a'\ncorpus = 'a'\nfit = ['cases.jsonl']\nreport = ['cases.jsonl']", "in report"),
        ("[[sets]]\nname = 'a'\ncorpus = 'a'\n[[sets]]\nname = 'a'\ncorpus = 'a'", "one name"),
        ("[goal]\nanswered = 2.0\n[[sets]]\nname = 'a'\ncorpus = 'a'", "goal.answered"),
        ("[[sets", "not TOML"),
    ],
)
def test_a_plan_that_does_not_hold_is_told_by_its_field(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        read_plan(plan_of(tmp_path, text))


def test_an_answerable_case_is_asked_with_and_without_its_gold(tmp_path: Path) -> None:
    path = plan_of(
        tmp_path, "[[sets]]\nname = 'a'\ncorpus = 'a'\nfit = ['gold.jsonl']\noutside_fit = ['cases.jsonl']"
    )
    line = (
        '{"caseId": "b", "query": "?", "answerability": "answerable", "requiredClaims": [{"claimId": "c"}]}'
    )
    (tmp_path / "gold.jsonl").write_text(line, "utf-8")
    [own] = read_plan(path).sets
    assert [asked.kind for asked in own.fit] == ["answerable", "removed", "outside"]


def test_no_signal_argues_against_an_answer() -> None:
    fit = fit_logistic(("a",), [{"a": 0.1}] * 5, [{"a": 0.9}] * 5)
    assert fit.weights["a"] == 0.0
