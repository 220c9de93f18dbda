"""attest doctor: what is left behind and belongs to nothing is told, and what the engine stands on."""

from __future__ import annotations

import dataclasses
import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.cli.doctor import _left_behind
from service.domain.generations import Generation
from service.domain.ports import IndexSettings
from service.offline.work import new_job
from tests.fakes.model_server import ModelServer, Say
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


def test_what_the_engine_stands_on_is_told_at_the_shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ATTEST_TOKEN", "REDIS_URL", "ATTEST_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_ENGINE", "embedded")
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    told = json.loads(result.stdout)["findings"]
    assert "GiB free" in told["data folder"] and told["embedded"] == "ok"
    well = all(finding.startswith(("ok", "degraded")) for finding in told.values())
    assert result.exit_code == (0 if well else 1)
    assert "data folder" in CliRunner().invoke(cli, ["doctor"]).stdout


def test_whether_a_language_model_answers_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ATTEST_TOKEN", "REDIS_URL", "ATTEST_REDIS_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ATTEST_ENGINE", "embedded")
    monkeypatch.setenv("ATTEST_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("ATTEST_LLM_MODEL", "scripted")
    with ModelServer() as server:
        monkeypatch.setenv("ATTEST_LLM_URL", server.url)
        found = []
        for reply in (Say("ready"), Say(status=500)):
            server.says(reply)
            told = CliRunner().invoke(cli, ["doctor", "--json"])
            found.append(json.loads(told.stdout)["findings"]["language model"])
    assert found == ["ok: scripted", "degraded: scripted gives no whole reply (refused)"]
