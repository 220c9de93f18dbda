"""A generation that was pruned under a request, and a live alias on two generations: told, never mixed."""

from __future__ import annotations

import dataclasses

import pytest

from service.domain.answers import Question
from service.domain.generations import Generation, live_alias
from service.errors import GenerationGone
from service.offline.generations.switch import live_generation
from tests.integration.http.doors import Door, document, ids
from tests.integration.http.material import refused
from tests.integration.world import ALICE

OLD = [document("retry", "The job is retried three times.")]
NEW = [document("retry", "The job is retried two times.")]
ASKED = "How many times is the job retried?"


def test_a_pruned_generation_is_gone_and_asking_again_helps(door: Door) -> None:
    corpus = "moved-pruned"
    first = door.publish(corpus, OLD)
    second = door.publish(corpus, NEW)
    pinned = Generation.parse(first.generation)
    online = dataclasses.replace(door.services.online, pinned=pinned)
    assert door.services.offline.prune(corpus, keep=0, dry_run=False) == (first.generation,)
    # Pinned before, asked after.
    with pytest.raises(GenerationGone) as gone:
        online.answer(Question("q", ASKED, corpus), ALICE)
    assert gone.value.retry_after_s
    version = first.corpus_version
    response = door.post(door.who("ann"), "/v1/answers", corpus, ASKED, allowedCorpusVersion=version)
    assert "live" in refused(response, 503, "GENERATION_GONE")["message"]
    assert int(response.headers["Retry-After"]) > 0
    never = door.post(door.who("ann"), "/v1/answers", corpus, ASKED, allowedCorpusVersion="cv000000000000")
    refused(never, 404, "NOT_FOUND")
    # Who may see nothing of the corpus cannot tell that the version ever was.
    stranger = door.who("sam", tenant="elsewhere")
    hidden = door.post(stranger, "/v1/answers", corpus, ASKED, allowedCorpusVersion=version)
    refused(hidden, 404, "NOT_FOUND")
    assert door.search(door.who("ann"), corpus, ASKED)["retrieval"]["generation"] == second.generation


def test_a_live_alias_on_two_generations_is_told_and_mended_in_one_call(door: Door) -> None:
    corpus = "moved-doubled"
    first = door.publish(corpus, OLD)
    second = door.publish(corpus, NEW)
    engine = door.services.engine
    assert "aliases" not in door.client.get("/readyz").get_json()["parts"]
    engine.generations.switch({live_alias(engine.prefix, corpus): first.generation}, [])
    told = door.client.get("/readyz").get_json()["parts"]["aliases"]
    assert "several generations" in told and corpus not in told
    for path in ("/v1/search", "/v1/answers"):
        refused(door.post(door.who("ann"), path, corpus, ASKED), 503, "ALIAS_ON_SEVERAL")
        # Who may see nothing of it does not hear that there is something to be mended.
        stranger = door.post(door.who("eve", tenant="rivals"), path, corpus, ASKED)
        missing = door.post(door.who("eve", tenant="rivals"), path, "no-such-corpus", ASKED)
        assert (stranger.status_code, stranger.get_json()) == (404, missing.get_json())
    door.services.offline.publish(corpus, second.generation)
    assert live_generation(engine, corpus) == second.generation
    assert ids(door.search(door.who("ann"), corpus, ASKED)) == ["retry"]
    assert "aliases" not in door.client.get("/readyz").get_json()["parts"]
