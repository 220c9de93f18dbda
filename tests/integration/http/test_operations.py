"""Health, readiness, metrics, the index page: no token, nothing about documents, headers on everything."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient
from prometheus_client.parser import text_string_to_metric_families

from tests.integration.http.material import PRICE, RETRY, ask, refused


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/readyz", "/metrics", "/openapi/", "/openapi/openapi.json"]
)
def test_operations_need_no_token(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 200


def test_ready_names_every_part(client: FlaskClient) -> None:
    assert client.get("/healthz").get_json() == {"status": "ok"}
    assert client.get("/readyz").get_json() == {
        "status": "ready",
        "parts": {"embedded": "ok", "cache": "ok"},
    }


def count(client: FlaskClient, name: str, **labels: str) -> float:
    families = text_string_to_metric_families(client.get("/metrics").text)
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


def test_metrics_count_requests_and_outcomes(client: FlaskClient, headers: dict[str, str]) -> None:
    answered = count(client, "attest_answers_total", outcome="answered")
    refusals = count(client, "attest_answers_total", outcome="QUESTION_OUT_OF_SCOPE")
    denied = count(client, "attest_requests_total", route="/v1/answers", status="401")
    ask(client, headers)
    ask(client, headers, text=PRICE)
    client.post("/v1/answers", json={})
    assert count(client, "attest_answers_total", outcome="answered") == answered + 1
    assert count(client, "attest_answers_total", outcome="QUESTION_OUT_OF_SCOPE") == refusals + 1
    assert count(client, "attest_requests_total", route="/v1/answers", status="401") == denied + 1


def test_metrics_hold_no_question_document_or_address(client: FlaskClient, headers: dict[str, str]) -> None:
    ask(client, headers)
    client.get("/v1/sources/someones-document/" + "0" * 64, headers=headers)
    client.get("/an-address-of-my-own")
    text = client.get("/metrics").text
    for secret in (RETRY, "retry-policy", "someones-document", "an-address", "alice", "demo"):
        assert secret not in text


@pytest.mark.parametrize("path", ["/healthz", "/v1/answers", "/nowhere"])
def test_every_response_has_the_security_headers(client: FlaskClient, path: str) -> None:
    sent = client.get(path).headers
    assert sent["Cache-Control"] == "no-store"
    assert sent["X-Content-Type-Options"] == "nosniff"
    assert sent["Referrer-Policy"] == "no-referrer"
    assert sent["X-Frame-Options"] == "DENY"


def test_an_unknown_address_is_not_found(client: FlaskClient) -> None:
    for path in ("/nowhere", "/v1", "/v1/answers/", "/api/chat/x", "/v1/sources/only-one"):
        refused(client.get(path), 404, "NOT_FOUND")
