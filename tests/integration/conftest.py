"""The services of both paths, over each engine in turn."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.bootstrap import EMBEDDERS, Services, build
from service.onnx.embedder import OnnxEmbedder
from service.settings import Settings
from tests.integration.world import FILES, World


@pytest.fixture(scope="session")
def embedder() -> OnnxEmbedder:
    """The shipped model, loaded once."""
    return OnnxEmbedder(EMBEDDERS / "multilingual-e5-small", threads=2)


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def services(
    request: pytest.FixtureRequest, prefix: str, tmp_path: Path, embedder: OnnxEmbedder
) -> Iterator[Services]:
    # No Redis, whatever the environment names: tests that want a cache bring their own.
    values: dict[str, Any] = {"engine": request.param, "prefix": prefix, "data_dir": tmp_path / "data"}
    if request.param == "elasticsearch":
        values["es_url"] = request.getfixturevalue("es_url")
    opened = build(Settings.model_validate({**values, "redis_url": None}))
    opened.__dict__["embedder"] = embedder
    yield opened
    opened.engine.erase()


@pytest.fixture
def world(services: Services, tmp_path: Path) -> World:
    """`FILES` read, built and live: one document for the group hr, two for everybody."""
    folder = tmp_path / "sources"
    folder.mkdir()
    made = World.of(services, folder)
    made.write(FILES)
    made.ingest()
    made.publish()
    return made
