"""Claims that could not be decided: refused like any other, and in a queue for those who may see what they are from."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from service.bootstrap import online_path
from service.domain.answers import Question
from service.domain.reviews import Review
from service.errors import Unavailable
from tests.fakes.model_server import ModelServer, by_schema
from tests.integration.http.doors import Door, document
from tests.integration.http.material import bearer, refused
from tests.integration.world import who

CORPUS = "reviewed"
WARRANTY = "The warranty period is 12 months."
ASKED = "How long is the warranty period?"
PARAPHRASE = "The guarantee lasts 12 months."
DOCUMENTS = [
    document("warranty", f"# Warranty\n\n{WARRANTY} Batteries are excluded from the warranty.\n"),
    document("kitchen", "# Kitchen\n\nThe kitchen opens at eight in the morning.\n"),
    document("secret", "# Warranty\n\nThe warranty period of secret devices is 99 months.\n", "group:hr"),
]


@pytest.fixture(scope="module")
def shop(door: Door) -> Door:
    door.publish(CORPUS, DOCUMENTS)
    return door


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer() as server:
        yield server


class Desk:
    """Asks through one application, and looks at its queue."""

    def __init__(self, shop: Door, model: ModelServer) -> None:
        self.shop, self.model = shop, model
        self.client = shop.app(llm_url=model.url, llm_model="m")

    def ask(self, claim: str, *groups: str) -> Any:
        self.model.says(by_schema((claim, "S1")))
        asker = self.shop.who("alice", *groups)
        response = self.shop.post(
            asker, "/v1/answers", CORPUS, ASKED, client=self.client, profile="generated"
        )
        return response.get_json()

    def operator(self, subject: str, *groups: str, **changes: Any) -> dict[str, str]:
        return bearer(
            self.shop.settings, subject=subject, groups=list(groups), roles=["operator"], ttl_s=600, **changes
        )

    def listed(self, headers: dict[str, str], query: str = f"?corpus={CORPUS}") -> list[Any]:
        response = self.client.get(f"/v1/ops/reviews{query}", headers=headers)
        assert response.status_code == 200, response.text
        found: list[Any] = response.get_json()["reviews"]
        return found

    def of(self, claim: str, headers: dict[str, str]) -> Any:
        """The review of the claim, once it is there: it is kept beside the answer, not before it."""
        until = time.monotonic() + 10
        while not (found := [one for one in self.listed(headers) if one["claim"] == claim]):
            assert time.monotonic() < until, "the claim did not come into the queue"
            time.sleep(0.05)
        [one] = found
        return one

    def mark(self, headers: dict[str, str], review_id: str, **body: Any) -> Any:
        return self.client.post(f"/v1/ops/reviews/{review_id}/mark", json=body, headers=headers)


@pytest.fixture
def desk(shop: Door, model: ModelServer) -> Desk:
    return Desk(shop, model)


def test_a_paraphrase_is_refused_and_queued_and_what_is_wrong_is_refused_alone(desk: Desk) -> None:
    olga = desk.operator("olga")
    wrong = ["The guarantee lasts 77 months.", "The warranty period is not 12 months.", "It is the one."]
    for claim in wrong:
        assert desk.ask(claim)["reasonCode"] == "CITATION_VALIDATION_FAILED"
    assert desk.ask(WARRANTY)["status"] == "answered"
    answer = desk.ask(PARAPHRASE)
    assert (answer["status"], answer["reasonCode"]) == ("no_answer", "CITATION_VALIDATION_FAILED")
    assert (answer["answer"], answer["claims"], answer["sources"]) == (None, [], [])
    assert "guarantee" not in str(answer)
    # Claims are kept in the order they come in: had one before been kept, it would be there.
    review = desk.of(PARAPHRASE, olga)
    assert {one["claim"] for one in desk.listed(olga)}.isdisjoint({*wrong, WARRANTY})
    assert (review["reason"], review["state"], review["traceId"]) == ("words", "open", answer["traceId"])
    assert review["corpusVersion"] == answer["retrieval"]["corpusVersion"]
    [cited] = review["citations"]
    source = desk.client.get(
        f"/v1/sources/{cited['documentId']}/{cited['documentVersion']}"
        f"?start={cited['startOffset']}&end={cited['endOffset']}",
        headers=desk.shop.who("olga"),
    )
    assert WARRANTY in source.get_json()["text"]
    trace = desk.shop.trace(desk.shop.who("alice"), answer["traceId"])
    assert "guarantee" not in str(trace), "a trace has no text"
    # The same claim again is the same review.
    desk.ask(PARAPHRASE)
    desk.ask("The guarantee period is 12 months.")
    desk.of("The guarantee period is 12 months.", olga)
    assert [one["claim"] for one in desk.listed(olga)].count(PARAPHRASE) == 1


def test_who_may_not_see_every_document_it_is_from_sees_no_review(desk: Desk) -> None:
    """The claim names one source; its words may be of any that the model was sent."""
    claim = "The guarantee of gadgets lasts."
    desk.ask(claim, "hr")
    hr = desk.operator("hanna", "hr")
    review = desk.of(claim, hr)
    for headers in (desk.operator("olga"), desk.operator("hanna", "hr", tenant="other")):
        assert claim not in {one["claim"] for one in desk.listed(headers)}
        hidden = refused(desk.mark(headers, review["reviewId"], verdict="supported"), 404, "NOT_FOUND")
        missing = refused(desk.mark(headers, "0" * 32, verdict="supported"), 404, "NOT_FOUND")
        assert hidden == missing
    for headers in (desk.shop.who("alice", "hr"), bearer(desk.shop.settings, roles=["reader"])):
        refused(desk.client.get("/v1/ops/reviews", headers=headers), 403, "ROLE_REQUIRED")
        refused(desk.mark(headers, review["reviewId"], verdict="supported"), 403, "ROLE_REQUIRED")
    assert desk.of(claim, hr)["state"] == "open"


def test_the_first_mark_stands_and_the_second_person_hears_of_it(desk: Desk) -> None:
    claim = "The guarantee for all devices lasts 12 months."
    desk.ask(claim)
    ann, bob = desk.operator("ann"), desk.operator("bob")
    review_id = desk.of(claim, ann)["reviewId"]
    assert desk.mark(ann, review_id, verdict="unsupported").status_code == 200
    marked = desk.mark(ann, review_id, verdict="supported", note="保修").get_json()
    assert (marked["state"], marked["markedBy"], marked["note"]) == ("supported", "user:ann", "保修")
    error = refused(desk.mark(bob, review_id, verdict="unsupported"), 409, "CONFLICT")
    assert "user:ann marked this supported" in error["message"]
    seen = desk.of(claim, bob)
    assert (seen["state"], seen["markedBy"]) == ("supported", "user:ann")
    for state, there in (("open", False), ("unsupported", False), ("supported", True)):
        listed = desk.listed(bob, f"?corpus={CORPUS}&state={state}")
        assert (claim in {one["claim"] for one in listed}) is there
    for body in (
        {"verdict": "open"},
        {},
        {"verdict": "supported", "note": "a\x00"},
        {"verdict": "supported", "x": 1},
    ):
        refused(desk.mark(ann, review_id, **body), 400)
    assert desk.listed(ann, "?corpus=nowhere") == []


def test_a_review_store_that_fails_or_hangs_takes_nothing_from_an_answer(
    shop: Door, model: ModelServer
) -> None:
    lost: list[str] = []
    settings = shop.settings.model_copy(update={"llm_url": model.url, "llm_model": "m"})
    online = online_path(
        settings,
        shop.services.engine,
        shop.embedder,
        shop.embedder.count_tokens,
        lambda kind, name, value: lost.append(name) if kind == "review" else None,
    )

    class Failing:
        def get(self, review_id: str) -> Review | None:
            raise Unavailable("down")

        def write(self, review: Review) -> Review:
            time.sleep(3)
            raise Unavailable("down")

        def scan(self, corpus: str) -> Iterator[Review]:
            raise Unavailable("down")

    engine = replace(shop.services.engine, reviews=Failing())
    online = replace(online, story=replace(online.story, engine=engine))
    model.says(by_schema(("The guarantee of failures lasts 12 months.", "S1")))
    started = time.monotonic()
    answer = online.answer(Question("q", ASKED, CORPUS, profile="generated"), who("alice"))
    assert time.monotonic() - started < 3
    assert (answer.fault, answer.degraded) == ("unsupported_claim", ())
    until = time.monotonic() + 10
    while not lost:
        assert time.monotonic() < until
        time.sleep(0.05)
    assert lost == ["lost"]
