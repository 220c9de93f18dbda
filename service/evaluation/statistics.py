"""How sure a mean is: bootstrap intervals, and the difference of two runs case by case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2_000
_SEED = 20_260  # fixed: the same results give the same interval
_BATCH = 200


@dataclass(frozen=True, slots=True)
class Difference:
    """Of the second run against the first, over the same cases. `low` and `high` bound 95 % of the resampled means;
    `better` and `worse` count the cases that moved."""

    mean: float
    low: float
    high: float
    better: int
    worse: int
    cases: int

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out no difference at all."""
        return self.low > 0 or self.high < 0


def interval(values: Sequence[float]) -> tuple[float, float]:
    """95 % percentile bootstrap interval of the mean (Efron, 1979). Raises ValueError without values."""
    if not values:
        raise ValueError("no values, no interval")
    low, high = np.percentile(_means(np.asarray(values, dtype=np.float64)), (2.5, 97.5))
    return float(low), float(high)


def paired(first: Sequence[float], second: Sequence[float]) -> Difference:
    """Case by case, so that how hard the cases are cancels out. Raises ValueError unless both have the same length."""
    if len(first) != len(second):
        raise ValueError("paired values must be of the same cases")
    moved = np.asarray(second, dtype=np.float64) - np.asarray(first, dtype=np.float64)
    low, high = interval(moved.tolist())
    return Difference(
        mean=float(moved.mean()),
        low=low,
        high=high,
        better=int((moved > 0).sum()),
        worse=int((moved < 0).sum()),
        cases=len(moved),
    )


def _means(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Means of resamples with replacement, in batches: memory stays small for large sets."""
    drawn = np.random.default_rng(_SEED)
    return np.concatenate(
        [
            values[drawn.integers(0, len(values), (_BATCH, len(values)))].mean(axis=1)
            for _ in range(RESAMPLES // _BATCH)
        ]
    )
