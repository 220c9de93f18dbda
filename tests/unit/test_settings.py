"""Settings, and the environment that gives them again in another process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from service.settings import Settings, environment_of, load_settings


def test_another_process_loads_the_same_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [n for n in os.environ if n.startswith("ATTEST_") or n in ("ES_URL", "REDIS_URL")]:
        monkeypatch.delenv(name)
    values = {
        "engine": "elasticsearch",
        "prefix": "another",
        "data_dir": tmp_path,
        "es_url": "http://one:1,http://two:2",
        "redis_url": None,
        "token_secret": "s" * 32,
        "token_secret_with_keys": True,
        "request_timeout_s": 2.5,
    }
    settings = Settings.model_validate(values)
    for name, value in environment_of(settings).items():
        monkeypatch.setenv(name, value)
    assert load_settings() == settings
    assert load_settings().token_secret == settings.token_secret
