"""The mutation suite on the shipped samples: every kind reaches its goal, and a verifier that sleeps would be seen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from service.evaluation.experiments import mutations
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
