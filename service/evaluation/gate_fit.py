"""Fits the evidence gate: for each pair of languages a logistic model, its threshold by a stated goal, its curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from service.evaluation.refusals import threshold
from service.evaluation.signals import Observed
from service.evaluation.tuning import LogisticFit, fit_logistic
from service.evaluation.tuning_plan import Goal

# What the gate reads → its weight's name in the profile.
SIGNALS = {"relevance": "cosine", "coverage": "coverage", "token_relevance": "tokens"}
FEWEST = 30  # questions on either side; of fewer nothing is learnt
_STEPS = tuple(step / 20 for step in range(20, 9, -1))


@dataclass(frozen=True, slots=True)
class PairFit:
    """Of one pair of languages. `bias` has the threshold in it, so that one half is the limit for every pair. `curve`:
    for each share of the answerable ones that pass, how many of the others pass with them."""

    bias: float
    weights: Mapping[str, float]
    right: int
    wrong: int
    answered: float
    let_through: float
    curve: Mapping[str, Sequence[float]] = field(default_factory=dict)


def fit_gate(observed: Sequence[Observed], goal: Goal) -> tuple[dict[str, PairFit], dict[str, str]]:
    """Fits, and for each pair that was left as it is why.

    Right: answerable, with a right passage first. Wrong: gold removed or of other texts. Neither: on-topic ones
    without an answer, which no score of a ranking sees, and answerable ones with a wrong passage first.
    """
    pairs: dict[str, list[Observed]] = {}
    for one in observed:
        if one.languages and "relevance" in one.gate:
            pairs.setdefault(one.languages, []).append(one)
    fits, left = {}, {}
    for pair, own in sorted(pairs.items()):
        right = [one.gate for one in own if one.asked.kind == "answerable" and one.right]
        wrong = [one.gate for one in own if one.asked.kind in ("removed", "outside")]
        if min(len(right), len(wrong)) < FEWEST:
            left[pair] = (
                f"{len(right)} right and {len(wrong)} wrong questions; it takes {FEWEST} of each to learn from"
            )
            continue
        there = tuple(name for name in SIGNALS if all(name in one for one in (*right, *wrong)))
        fits[pair] = _with_threshold(fit_logistic(there, right, wrong), right, wrong, goal)
    return fits, left


def _with_threshold(
    fit: LogisticFit, right: Sequence[Mapping[str, float]], wrong: Sequence[Mapping[str, float]], goal: Goal
) -> PairFit:
    may, may_not = [fit.logit(one) for one in right], [fit.logit(one) for one in wrong]

    def passing(values: Sequence[float], limit: float) -> float:
        return sum(value >= limit for value in values) / len(values)

    curve = [(step, passing(may_not, threshold(may, step))) for step in _STEPS]
    limit = threshold(may, goal.answered)
    if passing(may_not, limit) > goal.wrong:
        # Just above the first one too many.
        ordered = sorted(may_not, reverse=True)
        limit = max(limit, ordered[int(goal.wrong * len(ordered))] + 1e-6)
    return PairFit(
        bias=fit.bias - limit,
        weights={SIGNALS[name]: value for name, value in fit.weights.items()},
        right=fit.right,
        wrong=fit.wrong,
        answered=passing(may, limit),
        let_through=passing(may_not, limit),
        curve={"answered": [step for step, _ in curve], "let_through": [round(w, 4) for _, w in curve]},
    )
