"""Engines for tests. Each test gets a prefix of its own, and only that prefix is removed afterwards."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.adapters.elastic import open_elastic
from service.adapters.embedded import open_embedded
from service.domain.ports import Engine

# Where `scripts/stack up` puts its node when nothing else is said.
LOCAL_ES_URL = "http://127.0.0.1:9271"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden files anew")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(scope="session")
def es_url() -> str:
    """A reachable Elasticsearch. Without one the test fails: a skipped test proves nothing."""
    url = os.environ.get("ES_URL") or LOCAL_ES_URL
    state = open_elastic("test-reach", url.split(",")).ready()["elasticsearch"]
    if state != "ok":
        pytest.fail(f"No Elasticsearch at {url} ({state}); start one with `scripts/stack up` or set ES_URL.")
    return url


@pytest.fixture
def prefix() -> str:
    return f"test-{secrets.token_hex(5)}"


@pytest.fixture
def make_elastic(es_url: str) -> Iterator[Callable[[str], Engine]]:
    """Opens engines on Elasticsearch and removes all their prefixes at the end."""
    opened: list[Engine] = []

    def open_one(prefix: str) -> Engine:
        assert prefix.startswith("test-"), "tests may only reach indices with the test prefix"
        engine = open_elastic(prefix, es_url.split(","))
        opened.append(engine)
        return engine

    yield open_one
    for engine in opened:
        engine.erase()


@pytest.fixture
def elastic(make_elastic: Callable[[str], Engine], prefix: str) -> Engine:
    return make_elastic(prefix)


@pytest.fixture
def embedded(tmp_path: Path, prefix: str) -> Iterator[Engine]:
    engine = open_embedded(tmp_path / "data", prefix)
    yield engine
    engine.erase()


@pytest.fixture(params=["embedded", pytest.param("elastic", marks=pytest.mark.elasticsearch)])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine in turn: what a test with this fixture says holds for both."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, Engine)
    return found
