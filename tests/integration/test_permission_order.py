"""The lesson of the order of permission filtering holds on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from service.bootstrap import Services, build
from service.evaluation.experiments import Expectation, permission_order
from service.evaluation.experiments.permission_asked import marks, question
from service.evaluation.experiments.permission_world import PUBLIC, WORLDS, World, publish
from service.evaluation.experiments.permission_wrong import Memory, WrongOrder
from service.settings import Settings


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def services(request: pytest.FixtureRequest, prefix: str, tmp_path: Path) -> Iterator[Services]:
    values: dict[str, Any] = {"engine": request.param, "prefix": prefix, "data_dir": tmp_path / "data"}
    if request.param == "elasticsearch":
        values["es_url"] = request.getfixturevalue("es_url")
    opened = build(Settings.model_validate(values))
    yield opened
    opened.engine.erase()


def failing(expectations: list[Expectation]) -> list[tuple[str, str]]:
    return [(e.what, e.seen) for e in expectations if not e.holds]


def test_rights_last_leak_and_rights_first_do_not(services: Services) -> None:
    told = permission_order.run(services.offline, services.online)
    assert failing(told) == []
    for world in WORLDS:
        mine = [e.what for e in told if e.what.startswith(f"{world.name}, ")]
        assert len(mine) == len(set(mine))
        assert sum("wrong order" in what for what in mine) == 13
        assert sum("right order, permitted first" in what for what in mine) == 14
        assert sum("as if absent, built together" in what for what in mine) == 24


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_the_worlds_show_what_they_should(world: World) -> None:
    assert not marks(world, world.questions)
    assert not marks(world, [asdict(page) | {"access": None} for page in world.public])
    assert marks(world, asdict(world.restricted) | {"access": None}) == list(world.marks())


def test_the_wrong_path_is_a_search_all_the_same(services: Services) -> None:
    """Where nothing is restricted it finds what it should: it is the order of its steps that is wrong."""
    world = WORLDS[0]
    publish(services.offline, "zh-without", world.public)
    wrong = WrongOrder(services.online, PUBLIC, Memory())
    found = wrong.search(question(world, "without", 2), PUBLIC, 3)
    assert found.hits[0].document_id == "buoy-boat"
    assert [hit.rank for hit in found.hits] == [1, 2, 3]
    assert found.trace["filtered"] == []
