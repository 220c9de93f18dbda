"""A live alias put on N-1 beside N by somebody's hand: told by readiness and doctor, never mixed, mended by one call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from service.cli import cli
from service.cli import doctor as doctor_module
from service.domain.generations import live_alias, version_alias
from tests.fakes.redis_server import Server, free_port
from tests.integration.http.doors import Door, document, ids
from tests.integration.http.material import POSTS, refused

OLD = [document("retry", "The job is retried three times."), document("door", "The door opens at eight.")]
NEW = [document("retry", "The job is retried two times."), document("door", "The door opens at eight.")]
ASKED = "How many times is the job retried?"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path, free_port())
    yield started
    started.stop()


def faults(door: Door, corpus: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What `attest doctor` has against the corpus; where there is something, its exit code says so."""
    monkeypatch.setattr(doctor_module, "services", lambda: door.services)
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    findings = json.loads(result.stdout)["findings"].items()
    told = [finding for part, finding in findings if part.startswith(f"corpus {corpus}")]
    assert told, "the corpus is looked at"
    wrong = [finding for finding in told if not finding.startswith(("ok", "degraded"))]
    assert not wrong or result.exit_code == 1
    return wrong


@pytest.mark.parametrize("name", ["live", "version"])
def test_an_alias_on_two_generations(
    door: Door, redis: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    corpus, client, who = f"doubled-{name}", door.app(redis_url=redis.url), door.who("ann")
    offline, engine = door.services.offline, door.services.engine
    first = door.publish(corpus, OLD)
    second = door.publish(corpus, NEW)
    asked = {} if name == "live" else {"allowedCorpusVersion": second.corpus_version}
    paths = POSTS if name == "live" else ("/v1/answers", "/v1/search")  # The chat asks what is live.
    for path in paths:
        assert door.post(who, path, corpus, ASKED, client=client, **asked).status_code == 200
    assert faults(door, corpus, monkeypatch) == []
    alias = {
        "live": live_alias(engine.prefix, corpus),
        "version": version_alias(engine.prefix, corpus, second.corpus_version),
    }[name]
    engine.generations.switch({alias: first.generation}, [])

    [fault] = faults(door, corpus, monkeypatch)
    assert "stands on 2 generations" in fault and f"attest repair {corpus}" in fault
    for path in paths:  # Not even from the cache, which has the right reply to it.
        refused(door.post(who, path, corpus, ASKED, client=client, **asked), 503, "ALIAS_ON_SEVERAL")

    calls: list[Any] = []
    counting: Any = Counting(engine.generations, calls)
    replace(offline, engine=replace(engine, generations=counting)).publish(corpus, second.generation)
    [(add, remove)] = calls
    assert (add, list(remove)) == ({}, [(alias, first.generation)])
    assert faults(door, corpus, monkeypatch) == []
    found = door.search(who, corpus, ASKED, **asked)
    assert sorted(ids(found)) == ["door", "retry"] and "three" not in str(found)
    assert found["retrieval"]["generation"] == second.generation
    assert set(engine.generations.names(corpus)) == {first.generation, second.generation}


class Counting:
    """The generations port, which notes each alias call on its way."""

    def __init__(self, inner: Any, calls: list[Any]) -> None:
        self._inner, self._calls = inner, calls

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def switch(self, add: Any, remove: Any) -> None:
        self._calls.append((add, remove))
        self._inner.switch(add, remove)
