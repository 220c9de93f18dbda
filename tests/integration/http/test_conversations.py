"""Conversations over HTTP, in both shapes."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.settings import Settings
from tests.integration.http.material import bearer

FIRST = "同一任务最多自动重试几次？"


def post(client: FlaskClient, headers: dict[str, str], path: str = "/v1/answers", **body: Any) -> Any:
    return client.post(path, headers=headers, json={"corpus": "lesson", **body})


def test_a_turn_follows_the_one_before(client: FlaskClient, headers: dict[str, str]) -> None:
    first = post(client, headers, text=FIRST, conversationId="new").get_json()
    assert first["status"] == "answered"
    assert first["resolvedQuestion"] == FIRST
    second = post(client, headers, text="那缓存呢？它可以写入吗？", conversationId=first["conversationId"])
    assert second.status_code == 200
    third = post(client, headers, text="它会进入哪里？", conversationId=first["conversationId"]).get_json()
    assert third["conversationId"] == first["conversationId"]
    chat = post(
        client, headers, "/api/chat", question="该任务失败呢？", conversation_id=first["conversationId"]
    )
    assert chat.get_json()["conversation_id"] == first["conversationId"]


def test_without_a_conversation_there_is_none(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = post(client, headers, text=FIRST).get_json()
    assert (answer["conversationId"], answer["resolvedQuestion"]) == (None, None)


def test_what_nothing_settles_is_a_refusal_with_its_gap(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = post(client, headers, text="那 X300 呢？", conversationId="new").get_json()
    assert (answer["status"], answer["reasonCode"]) == ("no_answer", "EVIDENCE_BELOW_THRESHOLD")
    assert "X300" in answer["gap"]["missing"]
    assert answer["resolvedQuestion"] is None and answer["conversationId"]


def test_another_s_conversation_is_the_same_404_as_none(client: FlaskClient, settings: Settings) -> None:
    mine = post(client, bearer(settings), text=FIRST, conversationId="new").get_json()["conversationId"]
    unknown = post(client, bearer(settings), text=FIRST, conversationId="A" * 32)
    for other in (bearer(settings, subject="eve"), bearer(settings, tenant="other")):
        answer = post(client, other, text=FIRST, conversationId=mine)
        assert (answer.status_code, answer.data) == (404, unknown.data)


@pytest.mark.parametrize("wrong", ["", "old", "a" * 31, "a" * 33, "../" + "a" * 29, 5])
def test_ids_that_are_none(client: FlaskClient, headers: dict[str, str], wrong: Any) -> None:
    answer = post(client, headers, text=FIRST, conversationId=wrong)
    assert (answer.status_code, answer.get_json()["error"]["field"]) == (400, "conversationId")


def test_a_search_has_no_conversation(client: FlaskClient, headers: dict[str, str]) -> None:
    assert post(client, headers, "/v1/search", text=FIRST, conversationId="new").status_code == 400
