"""attest doctor: what is left behind and belongs to nothing is told, on both engines."""

from __future__ import annotations

import dataclasses
import socket
import subprocess
import sys

from service.cli.doctor import _left_behind
from service.domain.generations import Generation
from service.domain.ports import IndexSettings
from service.offline.work import new_job
from tests.integration.world import CORPUS, World


def told(world: World) -> dict[str, str]:
    return dict(_left_behind(world.services.engine, CORPUS, world.offline.mapping_version))


def test_a_healthy_corpus_has_nothing_left_behind(world: World) -> None:
    assert told(world) == {}


def test_orphans_half_built_ones_and_lost_jobs_are_told(world: World) -> None:
    engine = world.services.engine
    [live] = engine.builds.scan(CORPUS)
    orphan = Generation(engine.prefix, CORPUS, "cv000000000000", 8)
    engine.generations.create(orphan, IndexSettings(world.services.embedder.dimension))
    half = dataclasses.replace(orphan, number=9)
    engine.builds.write(dataclasses.replace(live, generation=half.name, state="building", token=None))
    ready = dataclasses.replace(orphan, number=10)
    engine.builds.write(dataclasses.replace(live, generation=ready.name, state="ready", token=None))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    lost = dataclasses.replace(
        new_job(CORPUS, "build", "olaf"), state="running", host=socket.gethostname(), pid=gone.pid
    )
    engine.jobs.write(lost)
    found = told(world)
    assert found.keys() == {orphan.name, half.name, ready.name, f"job {lost.job_id}"}
    assert "without a manifest" in found[orphan.name]
    assert "half built" in found[half.name]
    assert "without its index" in found[ready.name]
    assert "is lost" in found[f"job {lost.job_id}"]


def test_another_mapping_than_this_release_has_is_told(world: World) -> None:
    [(name, finding)] = _left_behind(world.services.engine, CORPUS, "chunks.v99:0")
    assert name == world.offline.engine.generations.live()[CORPUS][0]
    assert "chunks.v99" in finding
