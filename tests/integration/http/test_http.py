"""The HTTP door over the embedded engine and the lesson corpus: what a caller sends, what comes back."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest
from flask.testing import FlaskClient

import service
from service.app import create_app
from service.bootstrap import build
from service.profiles.corpus import read_corpus_profile
from service.settings import Settings
from service.web.auth import issue_token

LESSON = Path(service.__file__).parent / "samples" / "lesson"
RETRY = "同一任务自动重试耗尽后消息进入哪里？"
SECRET = "0123456789abcdef0123456789abcdef"
POSTS = {"/v1/answers": "text", "/v1/search": "text", "/api/chat": "question"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    values = {"engine": "embedded", "prefix": "test-http", "data_dir": tmp_path_factory.mktemp("http")}
    return Settings.model_validate({**values, "token_secret": SECRET})


@pytest.fixture(scope="module")
def client(settings: Settings) -> Iterator[FlaskClient]:
    opened = build(settings)
    profile = read_corpus_profile(LESSON)
    assert profile is not None
    opened.offline.ingest("lesson", [LESSON], profile, None, lambda step, done, total: None)
    manifest = opened.offline.build("lesson", lambda step, done, total: None)
    opened.offline.publish("lesson", manifest.generation)
    yield create_app(settings).test_client()
    opened.engine.erase()


def token(settings: Settings, **changes: Any) -> str:
    who: dict[str, Any] = {
        "tenant": "demo",
        "subject": "alice",
        "groups": [],
        "labels": [],
        "roles": ["reader"],
        "ttl_s": 60,
    }
    return issue_token(settings, **{**who, **changes})


@pytest.fixture
def headers(settings: Settings) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(settings)}"}


def ask(client: FlaskClient, headers: dict[str, str], path: str = "/v1/answers", text: str = RETRY) -> Any:
    response = client.post(path, json={POSTS[path]: text, "corpus": "lesson"}, headers=headers)
    assert response.status_code == 200, response.text
    return response.get_json()


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from strings(part)
    elif isinstance(value, str):
        yield value


def citations(value: Any) -> Iterator[dict[str, Any]]:
    """Every object that names a document, a version and a span, wherever it stands."""
    if isinstance(value, dict):
        if {"documentId", "documentVersion", "startOffset", "endOffset"} <= value.keys():
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from citations(part)


def test_an_answer_is_what_the_archive_says_at_the_cited_span(
    client: FlaskClient, headers: dict[str, str]
) -> None:
    answer = ask(client, headers)
    assert answer["status"] == "answered"
    assert "隔离队列" in answer["answer"]
    found = list(citations(answer["claims"]))
    assert found
    for cited in found:
        path = f"/v1/sources/{cited['documentId']}/{cited['documentVersion']}"
        source = client.get(f"{path}?start={cited['startOffset']}&end={cited['endOffset']}", headers=headers)
        assert source.status_code == 200
        assert source.get_json()["text"] == cited["quote"]


def test_chat_says_what_answers_says(client: FlaskClient, headers: dict[str, str]) -> None:
    answer, chat = ask(client, headers), ask(client, headers, "/api/chat")
    assert any(answer["answer"].split(" [S1]")[0] in text for text in strings(chat))


def test_search_finds_the_passage(client: FlaskClient, headers: dict[str, str]) -> None:
    assert any("隔离队列" in text for text in strings(ask(client, headers, "/v1/search")))


def test_out_of_scope_is_a_reason_without_candidates(client: FlaskClient, headers: dict[str, str]) -> None:
    answer = ask(client, headers, text="明年的价格是多少？")
    assert answer["status"] == "no_answer"
    assert "QUESTION_OUT_OF_SCOPE" in set(strings(answer))
    assert not list(citations(answer))


def test_the_restricted_document_shows_for_its_label_only(
    client: FlaskClient, settings: Settings, headers: dict[str, str]
) -> None:
    question = "内部恢复开关用于什么？"
    assert "restricted-runbook" not in json.dumps(ask(client, headers, "/v1/search", question))
    allowed = {"Authorization": f"Bearer {token(settings, labels=['restricted-demo'])}"}
    assert "restricted-runbook" in json.dumps(ask(client, allowed, "/v1/search", question))


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_operations_need_no_token(client: FlaskClient, path: str) -> None:
    assert client.get(path).status_code == 200


BAD_BODIES: dict[str, tuple[bytes, str, int]] = {
    "malformed": (b'{"text": ', "application/json", 400),
    "empty body": (b"", "application/json", 400),
    "an array": (b"[]", "application/json", 400),
    "a string": (b'"x"', "application/json", 400),
    "null": (b"null", "application/json", 400),
    "not UTF-8": (b'{"text": "\xff\xfe"}', "application/json", 400),
    "deep nesting": (b'{"text": ' + b"[" * 20_000 + b"]" * 20_000 + b"}", "application/json", 400),
    "a form": (b"text=x&corpus=lesson", "application/x-www-form-urlencoded", 415),
    "plain text": (b'{"text": "x"}', "text/plain", 415),
    "too large": (b'{"text": "' + b"x" * 100_000 + b'"}', "application/json", 413),
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_body_that_cannot_be_read(
    client: FlaskClient, headers: dict[str, str], path: str, name: str
) -> None:
    body, content_type, status = BAD_BODIES[name]
    refused(client.post(path, data=body, content_type=content_type, headers=headers), status)


BAD_VALUES: dict[str, dict[str, Any]] = {
    "no question": {"TEXT": None},
    "empty": {"TEXT": ""},
    "blank": {"TEXT": " \n\t "},
    "over-long": {"TEXT": "问" * 2001},
    "a number": {"TEXT": 5},
    "a list": {"TEXT": ["x"]},
    "control character": {"TEXT": "a\u0000b"},
    "right-to-left override": {"TEXT": "a\u202eb"},
    "half a pair": {"TEXT": "a\ud800b"},
    "unknown field": {"filters": {}},
    "principal in the body": {"principal": {"groups": ["hr"]}},
    "no corpus": {"corpus": None},
    "a wildcard corpus": {"corpus": "*"},
    "a corpus with a path": {"corpus": "../lesson"},
    "two corpora": {"corpus": "lesson,lesson"},
    "an over-long corpus": {"corpus": "x" * 500},
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("name", BAD_VALUES)
def test_a_value_that_means_nothing(
    client: FlaskClient, headers: dict[str, str], path: str, name: str
) -> None:
    body: dict[str, Any] = {POSTS[path]: "什么？", "corpus": "lesson"}
    for key, value in BAD_VALUES[name].items():
        body[POSTS[path] if key == "TEXT" else key] = value
    refused(client.post(path, data=json.dumps(body), content_type="application/json", headers=headers), 400)


@pytest.mark.parametrize("query", ["start=-1", "start=x", "end=0", "start=5&end=2", "start=1e9", "extra=1"])
def test_a_span_that_cannot_be(client: FlaskClient, headers: dict[str, str], query: str) -> None:
    cited = next(citations(ask(client, headers)["claims"]))
    path = f"/v1/sources/{cited['documentId']}/{cited['documentVersion']}"
    response = client.get(f"{path}?{query}", headers=headers)
    assert response.status_code in (400, 404)
    refused(response, response.status_code)


def test_missing_and_forbidden_look_alike(
    client: FlaskClient, settings: Settings, headers: dict[str, str]
) -> None:
    allowed = {"Authorization": f"Bearer {token(settings, labels=['restricted-demo'])}"}
    hits = ask(client, allowed, "/v1/search", "内部恢复开关用于什么？")
    hidden = next(hit for hit in hits["hits"] if hit["documentId"] == "restricted-runbook")
    version = hidden["documentVersion"]
    assert client.get(f"/v1/sources/restricted-runbook/{version}", headers=allowed).status_code == 200
    denied = [
        f"/v1/sources/restricted-runbook/{version}",
        f"/v1/sources/restricted-runbook/{version}?start=0&end=3",
        f"/v1/sources/restricted-runbook/{'0' * 64}",
        f"/v1/sources/no-such-document/{version}",
        f"/v1/sources/retry-policy/{version}",
        "/v1/nothing-here",
    ]
    bodies = {client.get(path, headers=headers).data for path in denied}
    assert {client.get(path, headers=headers).status_code for path in denied} == {404}
    assert len(bodies) == 1


def test_an_unknown_corpus_is_not_found(client: FlaskClient, headers: dict[str, str]) -> None:
    refused(client.post("/v1/answers", json={"text": "x", "corpus": "none-such"}, headers=headers), 404)
    body = {"text": "x", "corpus": "lesson", "allowedCorpusVersion": "cv000000000000"}
    refused(client.post("/v1/answers", json=body, headers=headers), 404)


def test_a_wrong_method(client: FlaskClient, headers: dict[str, str]) -> None:
    refused(client.get("/v1/answers", headers=headers), 405)
    refused(client.delete("/api/chat", headers=headers), 405)


def claims(settings: Settings, **changes: Any) -> dict[str, Any]:
    now = int(time.time())
    base: dict[str, Any] = {
        "iss": settings.token_issuer,
        "aud": settings.token_audience,
        "iat": now,
        "exp": now + 60,
        "sub": "alice",
        "tenant": "demo",
        "groups": [],
        "labels": [],
        "roles": ["reader"],
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def unsigned(settings: Settings) -> str:
    return jwt.encode(claims(settings), "", algorithm="none")


BAD_TOKENS: dict[str, Any] = {
    "no header": lambda s: None,
    "another scheme": lambda s: f"Basic {token(s)}",
    "nothing after Bearer": lambda s: "Bearer ",
    "not a token": lambda s: "Bearer abc",
    "alg none": lambda s: f"Bearer {unsigned(s)}",
    "another secret": lambda s: f"Bearer {jwt.encode(claims(s), 'x' * 32, 'HS256')}",
    "another algorithm": lambda s: f"Bearer {jwt.encode(claims(s), SECRET * 2, 'HS512')}",
    "expired": lambda s: f"Bearer {jwt.encode(claims(s, exp=1_000_000), SECRET, 'HS256')}",
    "another audience": lambda s: f"Bearer {jwt.encode(claims(s, aud='them'), SECRET, 'HS256')}",
    "another issuer": lambda s: f"Bearer {jwt.encode(claims(s, iss='them'), SECRET, 'HS256')}",
    "no subject": lambda s: f"Bearer {jwt.encode(claims(s, sub=None), SECRET, 'HS256')}",
    "no tenant": lambda s: f"Bearer {jwt.encode(claims(s, tenant=None), SECRET, 'HS256')}",
    "no expiry": lambda s: f"Bearer {jwt.encode(claims(s, exp=None), SECRET, 'HS256')}",
    "blank tenant": lambda s: f"Bearer {jwt.encode(claims(s, tenant=' '), SECRET, 'HS256')}",
    "groups as text": lambda s: f"Bearer {jwt.encode(claims(s, groups='hr'), SECRET, 'HS256')}",
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_a_token_that_does_not_hold(client: FlaskClient, settings: Settings, name: str) -> None:
    value = BAD_TOKENS[name](settings)
    response = client.post(
        "/v1/answers",
        json={"text": RETRY, "corpus": "lesson"},
        headers={} if value is None else {"Authorization": value},
    )
    refused(response, 401)
    assert response.get_json()["error"]["code"] == "UNAUTHENTICATED"
    assert response.get_json()["error"]["message"] == "A valid bearer token is needed."


def test_a_role_that_is_missing(client: FlaskClient, settings: Settings) -> None:
    nobody = {"Authorization": f"Bearer {token(settings, roles=[])}"}
    refused(client.post("/v1/answers", json={"text": RETRY, "corpus": "lesson"}, headers=nobody), 403)
    reader = {"Authorization": f"Bearer {token(settings)}"}
    body = {"text": RETRY, "corpus": "lesson", "explain": True}
    refused(client.post("/v1/search", json=body, headers=reader), 403)


def refused(response: Any, status: int) -> None:
    """The one shape of every failure: a stable code and a sentence, and nothing of the inside."""
    assert response.status_code == status, response.text
    error = response.get_json()["error"]
    assert error["code"].isupper()
    assert len(error["message"]) > 10
    assert "Traceback" not in response.text
    assert "service/" not in response.text
