"""A service whose embedder is not that of the live generations: told as not ready, with what helps and without a name."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.bootstrap import build
from service.cli.doctor import _corpus
from service.domain.generations import Generation, live_alias
from service.domain.ports import IndexSettings
from tests.fakes.hash_embedder import HashEmbedder
from tests.integration.http.doors import Door, document, open_door
from tests.integration.http.material import SECRET, refused

TEXT = [document("retry", "The job is retried three times.")]
ASKED = "How many times is the job retried?"


class Counting(HashEmbedder):
    def count_tokens(self, text: str) -> int:
        return len(text)


@pytest.fixture
def two(door: Door, tmp_path: Path) -> Iterator[tuple[Door, Door]]:
    """One engine under a prefix of its own, and two services over it, each with an embedder of its own."""
    prefix = f"test-{secrets.token_hex(5)}"
    dimension = door.embedder.dimension
    other = Counting(dimension, identity="another-model@1")
    first = open_door(door.engine, prefix, tmp_path, other, SECRET, door.settings.es_url)
    yield first, Door(build(first.settings), door.embedder, tmp_path)
    first.services.engine.erase()


def ready(door: Door) -> tuple[int, dict[str, str]]:
    response = door.client.get("/readyz")
    return response.status_code, response.get_json()["parts"]


def test_no_live_generation_of_ours_is_not_ready(two: tuple[Door, Door]) -> None:
    built, runs = two
    manifest = built.publish("salaries", TEXT)
    assert ready(built) == (200, {built.engine: "ok", "cache": "ok"})
    status, parts = ready(runs)
    assert status == 503 and parts.keys() == {runs.engine, "cache", "generations"}
    told = parts["generations"]
    assert (
        told.startswith("1 of 1 ") and "attest doctor" in told and "start the service with that one" in told
    )
    for hidden in ("salaries", "another-model", runs.embedder.identity, manifest.generation):
        assert hidden not in told
    refused(runs.post(runs.who("ann"), "/v1/answers", "salaries", ASKED), 503, "UNAVAILABLE")
    by_name = _corpus(runs.services.engine, "salaries", runs.embedder.identity)
    assert "another-model@1" in by_name and "ATTEST_EMBEDDER=another-model," in by_name
    renewed = _corpus(runs.services.engine, "salaries", "another-model@2")
    assert "ATTEST_EMBEDDER" not in renewed and "attest build salaries" in renewed
    # What doctor says helps, helps.
    runs.publish("salaries", TEXT)
    assert ready(runs) == (200, {runs.engine: "ok", "cache": "ok"})
    assert ready(built)[0] == 503


def test_one_of_two_corpora_is_degraded(two: tuple[Door, Door]) -> None:
    built, runs = two
    built.publish("salaries", TEXT)
    runs.publish("holidays", TEXT)
    for door in two:
        status, parts = ready(door)
        assert status == 200 and parts["generations"].startswith("degraded: 1 of 2 ")


def test_a_live_generation_without_a_manifest_is_told(two: tuple[Door, Door]) -> None:
    built, _ = two
    manifest = built.publish("salaries", TEXT)
    engine = built.services.engine
    unknown = manifest.generation[:-4] + "0009"
    named = Generation.parse(unknown)
    assert named is not None
    engine.generations.create(named, IndexSettings(built.embedder.dimension))
    live = live_alias(engine.prefix, "salaries")
    engine.generations.switch({live: unknown}, [(live, manifest.generation)])
    status, parts = ready(built)
    assert status == 503 and parts["manifests"].startswith("1 of 1 ") and "salaries" not in parts["manifests"]
