"""Tuning from end to end: look, fit the weights, look again with them, fit the gate, look once more at the report."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from service.errors import InvalidInput
from service.evaluation import tuned_profile
from service.evaluation.gate_fit import PairFit, fit_gate
from service.evaluation.refusals import Refusals, refusals
from service.evaluation.signals import Asked, Observed, feature_names, observe
from service.evaluation.tuning import fit_weights, leave_one_out, lists_of
from service.evaluation.tuning_plan import Plan, TuningSet
from service.evaluation.tuning_report import Compared, compared
from service.online.entry import Online
from service.profiles.ranking import RankingProfile, read_profile

Progress = Callable[[str, int, int], None]
WITHOUT_TOKENS = "weights_without_tokens"


@dataclass(frozen=True, slots=True)
class Tuned:
    """`text` is the new profile; `sets` and `refusals` are of the report cases. `kept` says of pairs of languages why
    their gate stays as it is."""

    text: str
    present: Mapping[str, float]
    weights: Mapping[str, float]
    sets: Mapping[str, Compared]
    gate: Mapping[str, PairFit]
    kept: Mapping[str, str]
    before: Mapping[str, Refusals]
    after: Mapping[str, Refusals]


def weights_of(profile: RankingProfile, table: str) -> dict[str, float]:
    """The weights in a table of [rerank]. Raises InvalidInput where there are none."""
    held = getattr(profile.rerank, table, None)
    if not isinstance(held, dict) or not held:
        raise InvalidInput(f"Profile {profile.identity} has no [rerank.{table}].")
    return dict(held)


def _ranking_by(profile: RankingProfile, table: str) -> RankingProfile:
    """The profile as it ranks by these weights, whether or not a corpus keeps token vectors."""
    return profile.without_tokens if table == WITHOUT_TOKENS else profile


def measure(online: Online, plan: Plan, profile: RankingProfile, table: str, progress: Progress) -> Tuned:
    """The figures of the profile as it is; nothing is fitted."""
    present = weights_of(profile, table)
    profile = _ranking_by(profile, table)
    seen = _look(online, plan, lambda own: own.report, present, profile, progress)
    told = _by_set(seen)
    by_set = compared(seen, present, present, lambda _: None)
    return Tuned("", present, present, by_set, {}, {}, told, told)


def tune(
    online: Online,
    plan: Plan,
    profile: RankingProfile,
    source: str,
    table: str,
    leave_out: Collection[str],
    progress: Progress,
) -> Tuned:
    """`source` is the profile's TOML; features of `leave_out` are fitted without, as if no candidate had them."""
    present = weights_of(profile, table)
    profile = _ranking_by(profile, table)
    if unknown := sorted(set(leave_out) - set(feature_names(online, profile))):
        raise InvalidInput(f"No feature of the reranker: {', '.join(unknown)}.")
    before = _look(online, plan, lambda own: own.report, present, profile, progress)
    learnt = [
        _lacking(one, leave_out)
        for one in _look(
            online,
            plan,
            lambda own: [asked for asked in own.fit if asked.kind == "answerable"],
            present,
            profile,
            progress,
        )
    ]
    if not learnt:
        raise InvalidInput("The plan has no answerable cases to fit to.")
    families = {own.name: own.family for own in plan.sets}
    fitted = fit_weights(lists_of(learnt), present)
    weights = {name: value for name, value in fitted.items() if name not in leave_out}
    others = leave_one_out(learnt, families, present)
    gate, kept = fit_gate(_look(online, plan, lambda own: own.fit, weights, profile, progress), plan.goal)
    text = tuned_profile.tuned(source, _tables(table, weights, gate), _what(learnt, gate))
    there = _ranking_by(read_profile(text, where="the tuned profile"), table)
    after = _look(online, plan, lambda own: own.report, weights, there, progress)
    return Tuned(
        text=text,
        present=present,
        weights=weights,
        sets=compared(before, present, weights, lambda own: others.get(families[own])),
        gate=gate,
        kept=kept,
        before=_by_set(before),
        after=_by_set(after),
    )


def _look(
    online: Online,
    plan: Plan,
    part: Callable[[TuningSet], Sequence[Asked]],
    weights: Mapping[str, float],
    profile: RankingProfile,
    progress: Progress,
) -> list[Observed]:
    def told(own: TuningSet) -> Progress:
        return lambda step, done, total: progress(f"{step} {own.name}", done, total)

    return [
        one
        for own in plan.sets
        for one in observe(online, own.corpus, profile, weights, part(own), told(own))
    ]


def _lacking(one: Observed, names: Collection[str]) -> Observed:
    features = one.features.copy()
    features[:, [place for place, name in enumerate(one.names) if name in names]] = 0.0
    return replace(one, features=features)


def _by_set(observed: Sequence[Observed]) -> dict[str, Refusals]:
    sets = dict.fromkeys(one.asked.set_name for one in observed)
    return {name: refusals([one for one in observed if one.asked.set_name == name]) for name in sets}


def _tables(
    table: str, weights: Mapping[str, float], gate: Mapping[str, PairFit]
) -> dict[str, tuned_profile.Numbers]:
    tables: dict[str, tuned_profile.Numbers] = {f"rerank.{table}": dict(weights)}
    without = table == WITHOUT_TOKENS
    for pair, fit in gate.items():
        tables[tuned_profile.language_table(pair, without_tokens=without)] = {"bias": fit.bias, **fit.weights}
        if not without:
            tables[tuned_profile.curve_table(pair)] = dict(fit.curve)
    return tables


def _what(learnt: Sequence[Observed], gate: Mapping[str, PairFit]) -> str:
    sets = dict.fromkeys(one.asked.set_name for one in learnt)
    return (
        f"Weights fitted to {len(learnt)} questions of {', '.join(sets)}"
        + (f"; gate of {', '.join(gate)}" if gate else "")
        + "."
    )
