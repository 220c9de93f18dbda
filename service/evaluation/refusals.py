"""How well the gate tells questions apart that may be answered from those that may not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import get_args

import numpy as np

from service.evaluation.signals import Kind, Observed

KEPT = 0.9
_REFUSED_BEFORE = -1.0  # below every probability: nothing found, or a name that stands nowhere
KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "answerable")


@dataclass(frozen=True, slots=True)
class Refusals:
    """`passed` is the share that the gate lets through as it stands, by kind. `auroc` is the chance that an answerable
    question gets more than one of the kind; `refused` the kind's share that is refused by the threshold at which
    `KEPT` of the answerable ones pass."""

    questions: dict[str, int] = field(default_factory=dict)
    passed: dict[str, float] = field(default_factory=dict)
    auroc: dict[str, float] = field(default_factory=dict)
    refused: dict[str, float] = field(default_factory=dict)


def probability(one: Observed) -> float:
    """What the gate made of it."""
    return one.gate.get("probability", _REFUSED_BEFORE)


def refusals(observed: Sequence[Observed]) -> Refusals:
    by_kind: dict[str, list[Observed]] = {}
    for one in observed:
        by_kind.setdefault(one.asked.kind, []).append(one)
    told = Refusals({kind: len(own) for kind, own in by_kind.items()})
    told.passed.update({kind: sum(o.passed for o in own) / len(own) for kind, own in by_kind.items()})
    answerable = [probability(one) for one in by_kind.get("answerable", ())]
    for kind in KINDS if answerable else ():
        if own := by_kind.get(kind):
            values = [probability(one) for one in own]
            told.auroc[kind] = auroc(answerable, values)
            told.refused[kind] = sum(value < threshold(answerable, KEPT) for value in values) / len(values)
    return told


def threshold(values: Sequence[float], share: float) -> float:
    """The greatest value that at least this share of the values reach."""
    ordered = sorted(values, reverse=True)
    return ordered[max(0, int(np.ceil(share * len(ordered) - 1e-9)) - 1)]


def auroc(higher: Sequence[float], lower: Sequence[float]) -> float:
    """Area under the ROC curve: the chance that one of `higher` is above one of `lower`, ties by half (Mann and
    Whitney, 1947). Raises ValueError where a side is empty."""
    if not higher or not lower:
        raise ValueError("an area needs both sides")
    low = np.sort(np.asarray(lower))
    below = np.searchsorted(low, higher, side="left")
    upto = np.searchsorted(low, higher, side="right")
    return float((below + upto).sum() / (2 * len(higher) * len(lower)))
