"""Paired times and what they say: differences, their bootstrap intervals, effect sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]
Interval = tuple[float, float]

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second of each pair, in milliseconds, with 95% intervals over resampled pairs.

    `d` is Cohen's d of paired samples: the mean difference in units of the differences' own spread. `auc` is
    the chance that any first time is longer than any second one, `slower` that of one pair; ties count half.
    """

    pairs: int
    median_ms: tuple[float, float]
    median_difference_ms: float
    median_interval_ms: Interval
    mean_difference_ms: float
    mean_interval_ms: Interval
    d: float
    auc: float
    auc_interval: Interval
    slower: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def compare(first: Sequence[float], second: Sequence[float], seed: int) -> Difference:
    """Of times in milliseconds, pair by pair in the same order. Needs at least two pairs."""
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    differences = one - other
    picks = np.random.default_rng(seed).integers(0, one.size, (RESAMPLES, one.size))
    spread = float(differences.std(ddof=1))
    return Difference(
        pairs=int(one.size),
        median_ms=(_rounded(np.median(one)), _rounded(np.median(other))),
        median_difference_ms=_rounded(np.median(differences)),
        median_interval_ms=_middle(np.median(differences[picks], axis=1)),
        mean_difference_ms=_rounded(differences.mean()),
        mean_interval_ms=_middle(differences[picks].mean(axis=1)),
        d=_rounded(differences.mean() / spread) if spread else 0.0,
        auc=_rounded(auc(one, other)),
        auc_interval=_middle(np.array([auc(one[pick], other[pick]) for pick in picks])),
        slower=_rounded((differences > 0).mean() + (differences == 0).mean() / 2),
    )


def auc(one: Times, other: Times) -> float:
    """P(one > other) over all combinations, ties half (Mann and Whitney, 1947)."""
    ordered = np.sort(other)
    below = np.searchsorted(ordered, one, side="left")
    up_to = np.searchsorted(ordered, one, side="right")
    return float((below + up_to).sum() / (2 * one.size * other.size))


def _middle(resampled: Times) -> Interval:
    low, high = np.percentile(resampled, [2.5, 97.5])
    return _rounded(low), _rounded(high)


def _rounded(value: float | np.floating[Any]) -> float:
    return round(float(value), 4)
