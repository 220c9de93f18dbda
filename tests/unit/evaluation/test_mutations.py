"""The mutation suite on the shipped samples: every kind reaches its goal, and a verifier that sleeps would be seen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from service.evaluation.experiments import mutating, mutations
from service.online.citations import verify as verifier

SAMPLES = Path(__file__).parents[3] / "service" / "samples"


@pytest.fixture(scope="module")
def claims() -> list[mutations.True_]:
    documents = list(mutations.documents_of([SAMPLES]))
    return mutations.claims_of(documents, 90, random.Random(3))


def test_every_kind_of_mutant_reaches_its_goal(claims: list[mutations.True_]) -> None:
    tally = mutations.run(claims, random.Random(3))
    assert tally.below == []
    assert sum(tally.tried.values()) > 600


def test_a_verifier_that_looks_at_numbers_only_is_seen(
    claims: list[mutations.True_], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "fault_of", lambda claim, quotes: None)
    assert {"negation added", "entity swapped"} <= set(mutations.run(claims, random.Random(3)).below)


def test_what_some_mutators_do() -> None:
    chance = random.Random(1)
    assert mutating.one_less("保留 10 天。", chance) == "保留 9 天。"
    assert mutating.one_less("保留 0 天。", chance) is None
    assert mutating.chinese_one_more("最多重试三次。", chance) == "最多重试四次。"
    assert mutating.chinese_one_more("最多重试两次。", chance) == "最多重试三次。"
    for counted_by_nothing in ("第三次失败。", "十三次。", "同一个任务。", "几个。"):
        assert mutating.chinese_one_more(counted_by_nothing, chance) is None
