"""A language model in settings, in profiles and in what is installed: what is missing is told in a sentence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from service.bootstrap import EMBEDDERS, open_writer
from service.errors import Misconfigured
from service.profiles.ranking import FOLDER, load_profile, read_profile
from service.settings import Settings, load_settings

MODEL = {"llm_url": "http://127.0.0.1:9/v1", "llm_model": "m"}


def settings(**more: object) -> Settings:
    return Settings.model_validate({"engine": "embedded", "redis_url": None, **MODEL, **more})


@pytest.mark.parametrize(
    ("changes", "said"), [({"llm_model": None}, "ATTEST_LLM_MODEL"), ({"llm_url": "ftp://x"}, "llm_url")]
)
def test_settings_that_do_not_hold(changes: dict[str, object], said: str) -> None:
    with pytest.raises(Misconfigured, match=said):
        load_settings(**{**MODEL, **changes})


def test_without_its_extra_the_command_that_installs_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "service.adapters.generator", raising=False)
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(Misconfigured, match=r"openai is not installed: pip install 'attest\[llm\]'"):
        open_writer(settings(), len)
    assert open_writer(settings(llm_url=None), len) is None


def test_evidence_is_counted_by_the_models_tokenizer_where_it_is_named(tmp_path: Path) -> None:
    own = open_writer(
        settings(llm_tokenizer=EMBEDDERS / "multilingual-e5-small" / "tokenizer.json"), lambda text: -1
    )
    assert own is not None and 2 <= own.count_tokens("任务失败后重试") <= 7
    without = open_writer(settings(), lambda text: -1)
    assert without is not None and without.count_tokens("任务失败后重试") == -1
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(Misconfigured, match="ATTEST_LLM_TOKENIZER"):
        open_writer(settings(llm_tokenizer=tmp_path / "tokenizer.json"), len)


def test_a_profile_has_the_rest_from_its_base() -> None:
    default, generated = load_profile("default"), load_profile("generated")
    assert (default.answer.by, generated.answer.by) == ("quotes", "model")
    assert generated.identity == f"generated@{generated.version}+{default.identity}"
    own = {"name", "version", "answer", "base", "changes"}
    assert generated.model_dump(exclude=own) == default.model_dump(exclude=own)
    text = (FOLDER / "generated.toml").read_text(encoding="utf-8")
    tuned = read_profile(text + "\n[rerank.weights]\ncosine = 3.0\n", where="test")
    assert tuned.rerank.weights == {**default.rerank.weights, "cosine": 3.0}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('name = "x"\nversion = 1\nbase = "nowhere"\n', "no profile 'nowhere'"),
        ('name = "x"\nversion = 1\nbase = "generated"\n', "has a base itself"),
        ('name = "x"\nversion = 1\nbase = "default"\n[answer]\nby = "magic"\n', "answer.by"),
        ('name = "x"\nversion = 1\nbase = "default"\n[legs]\nweight = 1\n', "legs.weight"),
        ('name = "x"\nversion = 1\nbase = "default"\nlegs = 3\n', "legs"),
    ],
)
def test_a_profile_that_does_not_hold(text: str, said: str) -> None:
    with pytest.raises(Misconfigured, match=said):
        read_profile(text, where="test")
