"""Questions and index are never of two embedders: not at the start of a service, not after a switch."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import pytest
from click.testing import CliRunner

from service.bootstrap import Services, build
from service.cli import cli
from service.cli import doctor as doctor_module
from service.domain.generations import Manifest, live_alias
from service.errors import BuildRefused
from service.offline.generations.gates import Force
from tests.integration.http.doors import Door, document, quiet
from tests.integration.http.material import POSTS, refused

PAGES = [document("retry", "The job is retried three times."), document("door", "The door opens at eight.")]
ASKED = "How many times is the job retried?"


@dataclass
class Renamed:
    """The shipped model under another identity, as another release of it would have; of the same dimension, so that
    nothing but the identity can tell."""

    model: Any
    identity: str = "another-model@1"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)


@pytest.fixture
def other(door: Door) -> Door:
    """The same engine, with a service that runs another embedder: started anew, as after a change of settings."""
    opened: Services = build(door.settings)
    return Door(opened, Renamed(door.embedder), door.folder)


def aliases(door: Door, corpus: str) -> dict[str, tuple[str, ...]]:
    return door.services.engine.generations.aliases(corpus)


def told_by_doctor(door: Door, corpus: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, str]:
    monkeypatch.setattr(doctor_module, "services", lambda: door.services)
    result = CliRunner().invoke(cli, ["doctor", "--json"])
    return result.exit_code, json.loads(result.stdout)["findings"][f"corpus {corpus}"]


def test_a_service_started_with_another_embedder_answers_nothing_from_the_live_index(
    door: Door, other: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus = "embedder-start"
    live = door.publish(corpus, PAGES)
    for path in POSTS:
        assert door.post(door.who("ann"), path, corpus, ASKED).status_code == 200
        message = refused(other.post(other.who("ann"), path, corpus, ASKED), 503, "UNAVAILABLE")["message"]
        assert "attest doctor" in message
        # Who may see nothing of the corpus does not hear of it.
        stranger = other.post(other.who("eve", tenant="rivals"), path, corpus, ASKED)
        missing = other.post(other.who("eve", tenant="rivals"), path, "no-such-corpus", ASKED)
        assert (stranger.status_code, stranger.get_json()) == (404, missing.get_json())
    code, told = told_by_doctor(other, corpus, monkeypatch)
    assert code == 1
    assert live.processors.embedder in told and "another-model@1" in told
    assert told_by_doctor(door, corpus, monkeypatch)[1].startswith("ok")


def test_no_switch_brings_a_generation_of_another_embedder(door: Door, other: Door) -> None:
    """Publish by name, publish of the newest, publish by force, rollback: each refused, each before any alias call."""
    corpus = "embedder-switch"
    first = door.publish(corpus, PAGES)
    second = other.publish(corpus, PAGES)
    assert second.processors.embedder == "another-model@1"
    before = aliases(door, corpus)
    assert before[live_alias(door.settings.prefix, corpus)] == (second.generation,)
    with pytest.raises(BuildRefused, match=r"was built with .*another-model@1"):
        other.services.offline.rollback(corpus)
    for force in (None, Force("we want it back")):
        with pytest.raises(BuildRefused, match=r"was built with .*another-model@1"):
            other.services.offline.publish(corpus, first.generation, force=force)
        for name in (second.generation, None):
            with pytest.raises(BuildRefused, match="was built with another-model@1"):
                door.services.offline.publish(corpus, name, force=force)
    assert aliases(door, corpus) == before
    # What the refusals say helps: with its own embedder the rollback goes through, and is answered from.
    refused(door.post(door.who("ann"), "/v1/answers", corpus, ASKED), 503, "UNAVAILABLE")
    manifest, switched = door.services.offline.rollback(corpus)
    assert (manifest.generation, switched.before) == (first.generation, second.generation)
    found = door.search(door.who("ann"), corpus, ASKED)
    assert found["retrieval"]["generation"] == first.generation
    refused(other.post(other.who("ann"), "/v1/answers", corpus, ASKED), 503, "UNAVAILABLE")


def test_a_pinned_corpus_version_of_another_embedder_is_not_asked_either(door: Door, other: Door) -> None:
    corpus = "embedder-pinned"
    old = door.publish(corpus, PAGES)
    new = other.publish(corpus, PAGES)

    def found(at: Door, manifest: Manifest) -> Any:
        return at.post(
            at.who("ann"), "/v1/search", corpus, ASKED, allowedCorpusVersion=manifest.corpus_version
        )

    for at, own, strange in ((door, old, new), (other, new, old)):
        assert found(at, own).get_json()["retrieval"]["generation"] == own.generation
        refused(found(at, strange), 503, "UNAVAILABLE")


def test_a_manifest_that_says_otherwise_than_its_vectors_is_found_by_the_sample(
    door: Door, other: Door
) -> None:
    """A page embedded by another model under our name: the identity cannot tell, embedding it anew does."""
    corpus = "embedder-said"
    door.publish(corpus, PAGES[:1])
    door.ingest(corpus, PAGES)
    built = replace(door.services.offline, embedder=Turned(door.embedder)).build(corpus, quiet)
    assert built.state == "ready" and built.processors.embedder == door.embedder.identity
    before = aliases(door, corpus)
    with pytest.raises(BuildRefused, match=r"integrity: .*door@"):
        door.services.offline.publish(corpus, built.generation)
    assert aliases(door, corpus) == before


@dataclass
class Turned:
    """A model with the shipped one's name, whose vectors lie elsewhere."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def embed_passages(self, texts: Any) -> Any:
        return self.model.embed_passages(texts)[:, ::-1]
