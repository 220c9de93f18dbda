"""Kinds of fault that people reported of systems like this one, each as a whole kind.

The services are those of the integration tests, over each engine in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from service.access.policy import principal_of
from service.bootstrap import Services
from service.domain.answers import GroundedAnswer, Question
from service.profiles.corpus import CorpusProfile
from tests.integration.conftest import embedder, services

__all__ = ["Ask", "asking", "embedder", "services"]

Ask = Callable[[str], GroundedAnswer]
READER = principal_of(tenant="demo", subject="reader", groups=[], labels=[], roles=["reader"])


@pytest.fixture
def asking(services: Services, tmp_path: Path) -> Callable[[dict[str, str | bytes]], Ask]:
    """Files → a corpus of them that can be asked by everybody."""

    def of(files: dict[str, str | bytes]) -> Ask:
        folder = tmp_path / "docs"
        folder.mkdir()
        for name, content in files.items():
            (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        profile = CorpusProfile(name="reports", tenant="demo", default_access={"allow": ["*"]})
        report = services.offline.ingest("reports", [folder], profile, None, lambda *_: None)
        assert sorted(report.added) == sorted(files)
        manifest = services.offline.build("reports", lambda *_: None)
        services.offline.publish("reports", manifest.generation)
        return lambda text: services.online.answer(Question("q", text, "reports"), READER)

    return of
