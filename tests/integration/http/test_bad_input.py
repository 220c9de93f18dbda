"""What cannot be read or means nothing is a 4xx with a code and a sentence, on every route that takes a body."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flask.testing import FlaskClient

from tests.integration.http.material import POSTS, refused

GOOD = b'"corpus": "lesson"'
JSON = "application/json"

# QUESTION stands for the field that holds the question on the route under test.
BODIES: dict[str, tuple[bytes, str, int, str]] = {
    "malformed": (b'{"QUESTION": ', JSON, 400, "MALFORMED_JSON"),
    "two values": (b"{} {}", JSON, 400, "MALFORMED_JSON"),
    "empty body": (b"", JSON, 400, "MALFORMED_JSON"),
    "an array": (b"[]", JSON, 400, "INVALID_REQUEST"),
    "an array of bodies": (b'[{"QUESTION": "x", "corpus": "lesson"}]', JSON, 400, "INVALID_REQUEST"),
    "a string": (b'"x"', JSON, 400, "INVALID_REQUEST"),
    "null": (b"null", JSON, 400, "INVALID_REQUEST"),
    "not UTF-8": (b'{"QUESTION": "\xff\xfe", ' + GOOD + b"}", JSON, 400, "MALFORMED_JSON"),
    "deep nesting": (
        b'{"QUESTION": ' + b"[" * 20_000 + b"]" * 20_000 + b"}",
        JSON,
        400,
        "MALFORMED_JSON",
    ),
    "raw control": (b'{"QUESTION": "a\x01b", ' + GOOD + b"}", JSON, 400, "MALFORMED_JSON"),
    "the question twice": (
        b'{"QUESTION": "x", "QUESTION": "y", ' + GOOD + b"}",
        JSON,
        400,
        "MALFORMED_JSON",
    ),
    "the corpus twice": (
        b'{"QUESTION": "x", "corpus": "other", ' + GOOD + b"}",
        JSON,
        400,
        "MALFORMED_JSON",
    ),
    "twice below": (b'{"QUESTION": {"a": 1, "a": 2}, ' + GOOD + b"}", JSON, 400, "MALFORMED_JSON"),
    "NaN": (b'{"QUESTION": NaN, ' + GOOD + b"}", JSON, 400, "MALFORMED_JSON"),
    "Infinity": (b'{"QUESTION": "x", "size": -Infinity, ' + GOOD + b"}", JSON, 400, "MALFORMED_JSON"),
    "an endless number": (
        b'{"QUESTION": "x", "size": ' + b"1" * 5000 + b", " + GOOD + b"}",
        JSON,
        400,
        "MALFORMED_JSON",
    ),
    "a form": (b"QUESTION=x&corpus=lesson", "application/x-www-form-urlencoded", 415, ""),
    "plain text": (b'{"QUESTION": "x", ' + GOOD + b"}", "text/plain", 415, ""),
    "no type": (b'{"QUESTION": "x", ' + GOOD + b"}", "", 415, ""),
    "too large": (b'{"QUESTION": "' + b"x" * 100_000 + b'"}', JSON, 413, "BODY_TOO_LARGE"),
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("name", BODIES)
def test_a_body_that_cannot_be_read(
    client: FlaskClient, headers: dict[str, str], path: str, name: str
) -> None:
    body, content_type, status, code = BODIES[name]
    body = body.replace(b"QUESTION", POSTS[path].encode())
    response = client.post(path, data=body, content_type=content_type, headers=headers)
    refused(response, status, code or "UNSUPPORTED_MEDIA_TYPE")


# One change to a good body, and the field that the refusal names.
VALUES: dict[str, tuple[str, Any, str]] = {
    "no question": ("QUESTION", None, "QUESTION"),
    "empty": ("QUESTION", "", "QUESTION"),
    "blank": ("QUESTION", " \n\t\u3000 ", "QUESTION"),
    "over-long": ("QUESTION", "问" * 2001, "QUESTION"),
    "a number": ("QUESTION", 5, "QUESTION"),
    "a truth value": ("QUESTION", True, "QUESTION"),
    "a list": ("QUESTION", ["x"], "QUESTION"),
    "an object": ("QUESTION", {"$ne": ""}, "QUESTION"),
    "NUL": ("QUESTION", "a\u0000b", "QUESTION"),
    "escape": ("QUESTION", "a\u001b[2Jb", "QUESTION"),
    "C1 control": ("QUESTION", "a\u0085b", "QUESTION"),
    "right-to-left override": ("QUESTION", "a\u202eb", "QUESTION"),
    "first half of a pair": ("QUESTION", "a\ud800b", "QUESTION"),
    "second half of a pair": ("QUESTION", "a\udc00b", "QUESTION"),
    "pair the wrong way round": ("QUESTION", "\ude00\ud83d", "QUESTION"),
    "unknown field": ("filters", {}, "filters"),
    "principal in the body": ("principal", {"groups": ["hr"]}, "principal"),
    "tenant in the body": ("tenant", "demo", "tenant"),
    "no corpus": ("corpus", None, "corpus"),
    "a number for a corpus": ("corpus", 1, "corpus"),
    "a list of corpora": ("corpus", ["lesson"], "corpus"),
    "an empty corpus": ("corpus", "", "corpus"),
    "a wildcard corpus": ("corpus", "*", "corpus"),
    "part of a wildcard": ("corpus", "less*", "corpus"),
    "a corpus with a path": ("corpus", "../lesson", "corpus"),
    "two corpora": ("corpus", "lesson,lesson", "corpus"),
    "capitals": ("corpus", "Lesson", "corpus"),
    "a line end": ("corpus", "lesson\n", "corpus"),
    "an alias": ("corpus", "lesson@live", "corpus"),
    "a Han corpus": ("corpus", "课程", "corpus"),
    "half a pair in the corpus": ("corpus", "\ud800", "corpus"),
    "an over-long corpus": ("corpus", "x" * 41, "corpus"),
}


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("name", VALUES)
def test_a_value_that_means_nothing(
    client: FlaskClient, headers: dict[str, str], path: str, name: str
) -> None:
    field, value, named = VALUES[name]
    body = {POSTS[path]: "什么？", "corpus": "lesson", field.replace("QUESTION", POSTS[path]): value}
    response = client.post(path, data=json.dumps(body), content_type=JSON, headers=headers)
    error = refused(response, 400, "INVALID_REQUEST")
    assert error["field"] == named.replace("QUESTION", POSTS[path])
    assert error["message"].startswith(error["field"])


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("missing", ["QUESTION", "corpus"])
def test_a_field_that_is_missing(
    client: FlaskClient, headers: dict[str, str], path: str, missing: str
) -> None:
    body = {POSTS[path]: "什么？", "corpus": "lesson"}
    del body[missing.replace("QUESTION", POSTS[path])]
    error = refused(client.post(path, json=body, headers=headers), 400, "INVALID_REQUEST")
    assert error["field"] == missing.replace("QUESTION", POSTS[path])


@pytest.mark.parametrize("path", ["/v1/answers", "/v1/search"])
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("allowedCorpusVersion", None),
        ("allowedCorpusVersion", ""),
        ("allowedCorpusVersion", "cv*"),
        ("allowedCorpusVersion", "live,live"),
        ("queryId", ""),
        ("queryId", "x" * 101),
        ("queryId", "a b"),
        ("queryId", 7),
        ("profile", "../default"),
        ("profile", "x" * 41),
        ("locale", "chinese"),
        ("locale", 1),
        ("explain", "true"),
        ("explain", 1),
        ("query_id", "x"),
    ],
)
def test_an_option_outside_its_limits(
    client: FlaskClient, headers: dict[str, str], path: str, field: str, value: Any
) -> None:
    body = {"text": "什么？", "corpus": "lesson", field: value}
    assert refused(client.post(path, json=body, headers=headers), 400, "INVALID_REQUEST")["field"] == field


@pytest.mark.parametrize("size", [0, -1, 51, 10**30, 1.5, 10.0, "10", True, None, [10]])
def test_a_size_outside_its_limits(client: FlaskClient, headers: dict[str, str], size: Any) -> None:
    body = {"text": "什么？", "corpus": "lesson", "size": size}
    response = client.post("/v1/search", json=body, headers=headers)
    assert refused(response, 400, "INVALID_REQUEST")["field"] == "size"


def test_only_search_takes_a_size(client: FlaskClient, headers: dict[str, str]) -> None:
    body = {"text": "什么？", "corpus": "lesson", "size": 10}
    assert refused(client.post("/v1/answers", json=body, headers=headers), 400)["field"] == "size"


def test_an_unknown_profile_is_told_with_the_known_ones(client: FlaskClient, headers: dict[str, str]) -> None:
    body = {"text": "什么？", "corpus": "lesson", "profile": "none-such"}
    error = refused(client.post("/v1/answers", json=body, headers=headers), 400, "INVALID_INPUT")
    assert "default" in error["message"] and "none-such" not in error["message"]


@pytest.mark.parametrize("path", POSTS)
def test_limits_are_inclusive_and_a_whole_pair_is_one_character(
    client: FlaskClient, headers: dict[str, str], path: str
) -> None:
    for text in ("问" * 2000, "\U0001f600" * 2000):
        # json.dumps writes each of the latter as an escaped pair: 12 bytes on the wire, one code point here.
        body = json.dumps({POSTS[path]: text, "corpus": "lesson"})
        assert client.post(path, data=body, content_type=JSON, headers=headers).status_code == 200


@pytest.mark.parametrize("path", POSTS)
def test_what_was_sent_is_not_echoed(client: FlaskClient, headers: dict[str, str], path: str) -> None:
    secret = "my-secret-value\u0007"
    for field in (POSTS[path], "corpus"):
        body = {POSTS[path]: "x", "corpus": "lesson", field: secret}
        assert "my-secret" not in client.post(path, json=body, headers=headers).text
    body = {POSTS[path]: "x", "corpus": "lesson", "k" * 30_000: "x"}
    response = client.post(path, json=body, headers=headers)
    refused(response, 400, "INVALID_REQUEST")
    assert len(response.data) < 500


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("method", ["GET", "PUT", "PATCH", "DELETE"])
def test_a_wrong_method_names_the_right_one(
    client: FlaskClient, headers: dict[str, str], path: str, method: str
) -> None:
    response = client.open(path, method=method, headers=headers)
    refused(response, 405, "METHOD_NOT_ALLOWED")
    assert "POST" in {name.strip() for name in response.headers["Allow"].split(",")}
