"""Fits weights to observed questions: those of the ranking so that the worst set loses least, those of the gate.

Ranking: a listwise loss (the cross-entropy of the right candidates under a softmax of the scores; Cao et al., ICML
2007). Over sets τ·logsumexp of each set's loss less that of the present weights: a smooth maximum, group DRO (Sagawa et
al., ICLR 2020), so that no set is paid for by another. Weights keep the sign they have and are pulled towards it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from service.errors import Misconfigured
from service.evaluation.signals import Matrix, Observed

TAU = 0.03
L2 = 1e-3
_NONE = -1e30  # the score of a place in the table that no candidate has


@dataclass(frozen=True, slots=True)
class Lists:
    """Questions as one table: (question, candidate, feature). `parts` gives the rows of each set."""

    names: tuple[str, ...]
    features: NDArray[np.float64]
    gold: NDArray[np.bool_]
    there: NDArray[np.bool_]
    parts: Mapping[str, NDArray[np.intp]]


def lists_of(observed: Sequence[Observed]) -> Lists:
    """The answerable questions whose pool holds a right and a wrong candidate: others say nothing of an order."""
    kept = [
        one for one in observed if one.asked.kind == "answerable" and one.gold.any() and not one.gold.all()
    ]
    names = kept[0].names if kept else ()
    longest = max((len(one.gold) for one in kept), default=0)
    features = np.zeros((len(kept), longest, len(names)))
    gold = np.zeros((len(kept), longest), dtype=np.bool_)
    there = np.zeros((len(kept), longest), dtype=np.bool_)
    for row, one in enumerate(kept):
        features[row, : len(one.gold)] = one.features
        gold[row, : len(one.gold)] = one.gold
        there[row, : len(one.gold)] = True
    sets = dict.fromkeys(one.asked.set_name for one in kept)
    parts = {
        name: np.array([row for row, one in enumerate(kept) if one.asked.set_name == name], dtype=np.intp)
        for name in sets
    }
    return Lists(names, features, gold, there, parts)


def fit_weights(lists: Lists, present: Mapping[str, float]) -> dict[str, float]:
    """Weights for `lists.names`. A feature that tells no two candidates apart in any question keeps its share."""
    spread = _spread(lists)
    now = np.array([present.get(name, 0.0) for name in lists.names])
    free = spread > 1e-9
    if not lists.parts or not free.any():
        return {name: float(value) for name, value in zip(lists.names, now, strict=True)}
    scaled = Lists(
        lists.names, lists.features[:, :, free] / spread[free], lists.gold, lists.there, lists.parts
    )
    start = now[free] * spread[free]
    factor = _best_scale(scaled, start)
    start = start * factor
    before, _ = _losses(scaled, start)

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        losses, gradients = _losses(scaled, weights)
        worst = (losses - before) / TAU
        top = worst.max()
        share = np.exp(worst - top)
        pulled = weights - start
        value = TAU * (top + np.log(share.sum())) + L2 * float(pulled @ pulled)
        return float(value), share / share.sum() @ gradients + 2 * L2 * pulled

    # A weight stays on its side of nought: what argues against a candidate never comes to speak for it.
    bounds = [(None, 0.0) if value < 0 else (0.0, None) for value in now[free]]
    found = now * factor
    found[free] = _minimise(loss, start, bounds) / spread[free]
    return {name: float(value) for name, value in zip(lists.names, found, strict=True)}


def leave_one_out(
    observed: Sequence[Observed], families: Mapping[str, str], present: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    """Family → weights fitted to the sets of all others: what a corpus gets that nobody tuned on."""
    told = {}
    for family in dict.fromkeys(families.values()):
        others = [one for one in observed if families[one.asked.set_name] != family]
        if any(one.asked.kind == "answerable" for one in others):
            told[family] = fit_weights(lists_of(others), present)
    return told


def rank_of_gold(one: Observed, weights: Mapping[str, float]) -> int:
    """Of the first right candidate by these weights, ties in fused order; 0 where the pool holds none."""
    scores = one.features @ np.array([weights.get(name, 0.0) for name in one.names])
    order = np.argsort(-scores, kind="stable")
    places = np.flatnonzero(one.gold[order])
    return int(places[0]) + 1 if len(places) else 0


@dataclass(frozen=True, slots=True)
class LogisticFit:
    """sigmoid(bias + Σ weight × signal), fitted to `right` questions that may pass and `wrong` ones that may not."""

    bias: float
    weights: Mapping[str, float]
    right: int
    wrong: int

    def logit(self, signals: Mapping[str, float]) -> float:
        return self.bias + sum(weight * signals.get(name, 0.0) for name, weight in self.weights.items())


def fit_logistic(
    names: Sequence[str], right: Sequence[Mapping[str, float]], wrong: Sequence[Mapping[str, float]]
) -> LogisticFit:
    """Both sides count the same however many they are; no signal may argue against an answer."""
    rows = np.array([[one.get(name, 0.0) for name in names] for one in (*right, *wrong)])
    label = np.array([1.0] * len(right) + [0.0] * len(wrong))
    weight = np.where(label == 1, 0.5 / max(1, len(right)), 0.5 / max(1, len(wrong)))
    centre, spread = rows.mean(axis=0), np.maximum(rows.std(axis=0), 1e-9)
    scaled = np.hstack([(rows - centre) / spread, np.ones((len(rows), 1))])

    def loss(w: Matrix) -> tuple[float, Matrix]:
        logit = scaled @ w
        value = weight @ (np.logaddexp(0, logit) - label * logit)
        slope = scaled.T @ (weight * (1 / (1 + np.exp(-logit)) - label))
        pull = np.append(w[:-1], 0.0)
        return float(value + L2 * pull @ pull), slope + 2 * L2 * pull

    found = _minimise(loss, np.zeros(len(names) + 1), [(0.0, None)] * len(names) + [(None, None)])
    slopes = found[:-1] / spread
    return LogisticFit(
        bias=float(found[-1] - slopes @ centre),
        weights={name: float(value) for name, value in zip(names, slopes, strict=True)},
        right=len(right),
        wrong=len(wrong),
    )


def _losses(lists: Lists, weights: Matrix) -> tuple[Matrix, Matrix]:
    """Mean cross-entropy of each set, and its gradient."""
    scores = np.where(lists.there, lists.features @ weights, _NONE)
    of_all, of_gold = _softmax(scores), _softmax(np.where(lists.gold, scores, _NONE))
    each = of_all[1] - of_gold[1]
    slopes = np.einsum("qn,qnf->qf", of_all[0] - of_gold[0], lists.features)
    return (
        np.array([each[rows].mean() for rows in lists.parts.values()]),
        np.array([slopes[rows].mean(axis=0) for rows in lists.parts.values()]),
    )


def _softmax(scores: Matrix) -> tuple[Matrix, Matrix]:
    top = scores.max(axis=1, keepdims=True)
    shares = np.exp(scores - top)
    total = shares.sum(axis=1, keepdims=True)
    return shares / total, (top + np.log(total))[:, 0]


def _best_scale(lists: Lists, weights: Matrix) -> float:
    """The factor under which the present weights, which were not made to be odds, lose least."""
    factors = np.geomspace(0.05, 50, 121)
    if not weights.any():
        return 1.0
    return float(min(factors, key=lambda factor: float(_losses(lists, weights * factor)[0].mean())))


def _spread(lists: Lists) -> Matrix:
    """Of each feature inside a question: what differs between questions only orders nothing."""
    count = np.maximum(lists.there.sum(axis=1), 1)[:, None]
    mean = (lists.features * lists.there[:, :, None]).sum(axis=1) / count
    off = (lists.features - mean[:, None, :]) * lists.there[:, :, None]
    spread: Matrix = np.sqrt((off**2).sum(axis=(0, 1)) / max(1, lists.there.sum()))
    return spread


def _minimise(
    loss: Callable[[Matrix], tuple[float, Matrix]], start: Matrix, bounds: Sequence[tuple[Any, Any]]
) -> Matrix:
    try:
        from scipy.optimize import minimize
    except ImportError:
        raise Misconfigured("Fitting weights needs SciPy: pip install 'attest[eval]'.") from None
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500})
    result: Matrix = found.x
    return result
