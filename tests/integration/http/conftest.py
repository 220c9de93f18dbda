"""The application on the embedded engine with the lesson corpus published: made once for all HTTP tests."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import service
from service.app import create_app
from service.bootstrap import build
from service.onnx.embedder import OnnxEmbedder
from service.profiles.corpus import read_corpus_profile
from service.settings import Settings
from tests.integration.http.doors import Door, open_door
from tests.integration.http.material import SECRET, bearer

LESSON = Path(service.__file__).parent / "samples" / "lesson"


@pytest.fixture(scope="session")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    # No Redis, whatever the environment names: a cached answer of another run would prove nothing here. No rate
    # either: one caller asks everything.
    values = {"engine": "embedded", "prefix": "test-http", "data_dir": tmp_path_factory.mktemp("http")}
    return Settings.model_validate(
        {**values, "token_secret": SECRET, "redis_url": None, "rate_per_minute": 0}
    )


@pytest.fixture(scope="session")
def client(settings: Settings) -> Iterator[FlaskClient]:
    opened = build(settings)
    profile = read_corpus_profile(LESSON)
    assert profile is not None
    opened.offline.ingest("lesson", [LESSON], profile, None, lambda step, done, total: None)
    manifest = opened.offline.build("lesson", lambda step, done, total: None)
    opened.offline.publish("lesson", manifest.generation)
    yield create_app(settings).test_client()
    opened.engine.erase()


@pytest.fixture
def headers(settings: Settings) -> dict[str, str]:
    return bearer(settings)


@pytest.fixture(
    scope="session", params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)]
)
def door(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, embedder: OnnxEmbedder
) -> Iterator[Door]:
    """The application over each engine in turn, without corpora; every test publishes under names of its own."""
    url = request.getfixturevalue("es_url") if request.param == "elasticsearch" else None
    prefix = f"test-{secrets.token_hex(5)}"
    opened = open_door(request.param, prefix, tmp_path_factory.mktemp("door"), embedder, SECRET, url)
    yield opened
    opened.services.engine.erase()
