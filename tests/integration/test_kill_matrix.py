"""The builder killed by the kernel at some of the points, on both engines; the experiment has all of them."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path

import pytest

from service.bootstrap import Services
from service.cli.killing import Worlds
from service.domain.generations import Generation
from service.errors import BuildRefused, Unavailable
from service.evaluation.experiments import kill_matrix, kill_matrix_world
from service.evaluation.experiments.kill_matrix_points import POINTS, STEPS, Point, Trap, chosen, named
from service.evaluation.experiments.kill_matrix_world import CORPUS, Opened
from service.offline.story import quiet

TRIED = (
    ("in the spread of a deletion", "ingest"),
    ("mid bulk", "build"),
    ('after the manifest "ready"', "build"),
    ("after the alias call", "publish"),
    ("after the alias call back", "rollback"),
)


def lost() -> None:
    raise Unavailable("The connection was lost.")


@pytest.mark.timeout(600)  # Ten processes, each of which loads the model.
@pytest.mark.parametrize(
    "engine", ["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
def test_a_killed_builder_loses_nothing_and_its_command_is_run_again(
    engine: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if engine == "elasticsearch":
        monkeypatch.setenv("ES_URL", request.getfixturevalue("es_url"))
    points = [named(*one) for one in TRIED]
    rows = kill_matrix.run(Worlds(engine).open, points, quiet)
    assert [(row.point, row.step) for row in rows] == list(TRIED)
    assert "\n".join(str(row) for row in rows if not row.holds) == ""


@pytest.fixture
def opened(services: Services, tmp_path: Path) -> Opened:
    made = Opened(services.offline, services.online, {})
    (tmp_path / "sources").mkdir()
    kill_matrix_world.set_up(made, tmp_path / "sources")
    return made


def test_every_point_is_met(opened: Opened, tmp_path: Path) -> None:
    """A point that nothing comes by would kill nobody."""
    met: list[Point] = []
    for step in STEPS:
        engine = opened.offline.engine
        for point in POINTS:
            if point.step == step:
                engine = Trap(point, partial(met.append, point)).on(engine)
        kill_matrix_world.perform(
            step, dataclasses.replace(opened.offline, engine=engine), tmp_path / "sources"
        )
    assert [(point.name, point.step) for point in POINTS if met.count(point) != 1] == []
    assert kill_matrix_world.faults(opened) == []


def test_a_step_that_failed_after_its_alias_call_is_not_done_twice(opened: Opened, tmp_path: Path) -> None:
    """A rollback that an error ended right after the alias call: once more would be one too far."""
    for step in STEPS[: STEPS.index("rollback")]:
        kill_matrix_world.perform(step, opened.offline, tmp_path / "sources")
    trap = Trap(named("after the alias call back", "rollback"), lost)
    with pytest.raises(Unavailable):
        dataclasses.replace(opened.offline, engine=trap.on(opened.offline.engine)).rollback(CORPUS)
    manifest, switched = opened.offline.rollback(CORPUS)
    assert (manifest.state, switched.changed) == ("live", False)
    assert kill_matrix_world.faults(opened) == []
    with pytest.raises(BuildRefused, match="nothing to go back to"):
        opened.offline.rollback(CORPUS)


def test_a_failed_generation_that_cannot_be_read_lends_nothing_and_holds_nobody_up(
    opened: Opened, tmp_path: Path
) -> None:
    """Its one copy may have gone with a node."""
    kill_matrix_world.perform("ingest", opened.offline, tmp_path / "sources")
    engine = opened.offline.engine
    fails = Trap(named("before the seal", "build"), lost).on(engine)
    with pytest.raises(Unavailable):
        dataclasses.replace(opened.offline, engine=fails).build(CORPUS, quiet)
    unread = Trap(Point("the first scan", "build", "generations.scan", "before"), lost).on(engine)
    assert dataclasses.replace(opened.offline, engine=unread).build(CORPUS, quiet).state == "ready"


def test_what_is_left_behind_is_found(opened: Opened) -> None:
    """Of every kind of leftover the experiment looks for, one is made by hand."""
    engine = opened.offline.engine
    assert kill_matrix_world.faults(opened) == []
    before = kill_matrix_world.snapshot(opened)
    [live] = engine.builds.scan(CORPUS)
    generation = Generation.parse(live.generation)
    assert generation is not None
    engine.generations.create(dataclasses.replace(generation, number=7), opened.offline.index)
    engine.builds.write(
        dataclasses.replace(live, generation=f"{live.generation}9", state="building", token=None)
    )
    engine.generations.spread_access(generation, "retry-policy.md", None)
    found = " | ".join(kill_matrix_world.faults(opened))
    assert "index without a manifest that stands" in found
    assert "manifest left building" in found
    assert "4 chunks, 4 different, 5 expected" in found
    after = kill_matrix_world.snapshot(opened)
    assert after.generations != before.generations
    assert kill_matrix.differences(before.answers, after.answers) != ""


def test_a_short_run_goes_from_the_first_point_to_the_last() -> None:
    assert chosen(POINTS, None) == POINTS
    for count in (1, 2, 5, len(POINTS)):
        few = chosen(POINTS, count)
        assert len(few) == count
        assert few[0] == POINTS[0]
    assert chosen(POINTS, 5)[-1] == POINTS[-1]
    assert len({(point.name, point.step) for point in POINTS}) == len(POINTS) >= 12
