"""What a change of weights does to each set and bucket: ranks before and after, case by case, and the best leg's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from service.evaluation.measures import mean
from service.evaluation.signals import Observed
from service.evaluation.statistics import Difference, paired
from service.evaluation.tuning import rank_of_gold

CUT = 10


@dataclass(frozen=True, slots=True)
class Compared:
    """MRR@10 of one set or bucket. `left_out` is by weights that were fitted without the set's family; None where
    there is no other family. `against_leg` compares the new weights with the best single leg, case by case."""

    cases: int
    pool: float
    legs: Mapping[str, float]
    present: float
    left_out: float | None
    fitted: float
    change: Difference
    against_leg: Difference


def compared(
    observed: Sequence[Observed],
    present: Mapping[str, float],
    fitted: Mapping[str, float],
    without: Callable[[str], Mapping[str, float] | None],
) -> dict[str, Compared]:
    """By set, then by set and bucket where a set has several. `without` gives the weights fitted without a set."""
    groups: dict[str, list[Observed]] = {}
    for one in observed:
        if one.asked.kind == "answerable":
            groups.setdefault(one.asked.set_name, []).append(one)
    for name, own in list(groups.items()):
        buckets = dict.fromkeys(one.asked.case.bucket for one in own)
        for bucket in buckets if len(buckets) > 1 else ():
            groups[f"{name}, {bucket}"] = [one for one in own if one.asked.case.bucket == bucket]
    return {name: _compared(own, present, fitted, without) for name, own in groups.items()}


def _compared(
    own: Sequence[Observed],
    present: Mapping[str, float],
    fitted: Mapping[str, float],
    without: Callable[[str], Mapping[str, float] | None],
) -> Compared:
    names = dict.fromkeys(leg for one in own for leg in one.legs)
    legs = {leg: [_reciprocal(one.legs.get(leg, 0)) for one in own] for leg in names}
    best = max((leg for leg in legs if leg != "fused"), key=lambda leg: mean(legs[leg]))
    before = [_reciprocal(rank_of_gold(one, present)) for one in own]
    after = [_reciprocal(rank_of_gold(one, fitted)) for one in own]
    others = without(own[0].asked.set_name)
    return Compared(
        cases=len(own),
        pool=mean([float(one.gold.any()) for one in own]),
        legs={leg: mean(values) for leg, values in legs.items()},
        present=mean(before),
        left_out=None if others is None else mean([_reciprocal(rank_of_gold(one, others)) for one in own]),
        fitted=mean(after),
        change=paired(before, after),
        against_leg=paired(legs[best], after),
    )


def _reciprocal(rank: int) -> float:
    return 1 / rank if 0 < rank <= CUT else 0.0
