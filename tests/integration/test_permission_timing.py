"""The timing experiment measures what it says and judges it as documented; times themselves are not tested."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

from service.bootstrap import Services, build
from service.cli import cli
from service.evaluation.experiments import permission_timing
from service.evaluation.experiments.permission_pairs import auc, compare
from service.evaluation.experiments.permission_topics import TOPICS
from service.settings import Settings

OPERATIONS = ["search", "answer", "source", "trace"]


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def copies(request: pytest.FixtureRequest, prefix: str, tmp_path: Path) -> Iterator[list[Services]]:
    values: dict[str, Any] = {"engine": request.param, "data_dir": tmp_path / "data"}
    if request.param == "elasticsearch":
        values["es_url"] = request.getfixturevalue("es_url")
    opened = [
        build(Settings.model_validate(values | {"prefix": name})) for name in (f"{prefix}a", f"{prefix}b")
    ]
    yield opened
    for services in opened:
        services.engine.erase()


def test_every_operation_is_measured_and_says_the_same_in_both_copies(copies: list[Services]) -> None:
    steps: list[tuple[str, int, int]] = []
    one, other = copies
    measured, told = permission_timing.run(
        one.offline, one.online, other.engine, 6, 1, lambda *step: steps.append(step), TOPICS[:4]
    )
    assert steps[-1] == ("pairs", 24, 24)
    assert [m.operation for m in measured] == OPERATIONS
    assert all(m.difference.pairs == m.control.pairs == 6 for m in measured)
    assert [m.operation for m in measured if m.unlike] == []
    # Too few pairs are never taken for a result.
    assert [e.holds for e in told if e.what.endswith(": pairs")] == [False] * 4
    assert all(e.holds for e in told if "hidden minus absent" in e.what)


def test_the_command_prints_intervals_and_effect_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTEST_ENGINE", raising=False)
    arguments = ["experiment", "permission-timing", "--engine", "embedded", "--pairs", "3", "--json"]
    done = CliRunner().invoke(cli, arguments)
    assert done.exit_code == 1, done.stderr
    report = json.loads(done.stdout)
    assert report["experiment"] == "permission-timing"
    assert list(report["measured"]) == OPERATIONS
    for figures in report["measured"].values():
        difference = figures["hiddenMinusAbsent"]
        assert difference["pairs"] == 3
        low, high = difference["mean_interval_ms"]
        assert low <= difference["mean_difference_ms"] <= high
        assert 0 <= difference["auc"] <= 1
        assert 0 <= difference["slower"] <= 1
        assert difference["d"] == pytest.approx(difference["d"])


def test_each_topic_is_hidden_in_one_copy_and_half_of_each_language_in_each() -> None:
    ids = [topic.hidden.document_id for topic in TOPICS]
    assert len(set(ids)) == len(ids) == 24
    for half in (ids[0::2], ids[1::2]):
        assert sum(id_.startswith("zh") for id_ in half) == len(half) // 2


# ── the statistics ──────────────────────────────────────────────────────────────────────────────────────


def test_a_constant_difference_is_told_exactly() -> None:
    times = list(np.random.default_rng(3).uniform(10, 20, 200))
    told = compare([t + 5 for t in times], times, seed=1)
    assert told.median_difference_ms == told.mean_difference_ms == 5
    assert told.mean_interval_ms == told.median_interval_ms == (5, 5)
    assert told.slower == 1
    assert 0.5 < told.auc < 1


def test_effect_sizes_are_those_computed_by_hand() -> None:
    told = compare([1.0, 2.0, 3.0, 4.0], [0.0, 2.0, 2.0, 5.0], seed=1)
    # Differences 1, 0, 1, −1: mean .25, spread √(11/12).
    assert told.mean_difference_ms == 0.25
    assert told.median_difference_ms == 0.5
    assert told.d == pytest.approx(0.25 / np.sqrt(11 / 12), abs=1e-4)
    assert told.slower == 0.625
    # Of 16 combinations the first is longer in 8, and equal in 2.
    assert told.auc == pytest.approx(9 / 16)
    low, high = told.mean_interval_ms
    assert -1 <= low < 0.25 < high <= 1


def test_equal_times_give_a_coin_and_no_effect() -> None:
    told = compare([7.0] * 10, [7.0] * 10, seed=1)
    assert (told.auc, told.slower, told.d, told.mean_interval_ms) == (0.5, 0.5, 0.0, (0.0, 0.0))


def test_auc_of_times_apart_is_one() -> None:
    low, high = np.arange(5.0), np.arange(10.0, 15.0)
    assert auc(high, low) == 1
    assert auc(low, high) == 0


def test_a_difference_within_noise_is_inside_its_interval_and_a_clear_one_is_not() -> None:
    random_ = np.random.default_rng(5)
    base, noise = random_.uniform(20, 40, 600), random_.normal(0, 1, 600)
    none, clear = compare(list(base + noise), list(base), 1), compare(list(base + noise + 0.5), list(base), 1)
    assert none.mean_interval_ms[0] < 0 < none.mean_interval_ms[1]
    assert 0 < clear.mean_interval_ms[0] < 0.5 < clear.mean_interval_ms[1]
    assert clear.d == pytest.approx(0.5, abs=0.1)
