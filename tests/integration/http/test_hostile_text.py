"""Text that means something elsewhere is only text here: a literal search in the same scope, or a clean refusal."""

from __future__ import annotations

import json
import time
from urllib.parse import quote

import pytest
from flask.testing import FlaskClient

from service.app import create_app
from service.settings import Settings
from tests.integration.http.material import POSTS, bearer, refused

# Of the lesson corpus, what callers without its label may not see.
HIDDEN = "restricted-runbook"
MIB = 1024 * 1024

SYNTAX = [
    "* OR acl:hr",
    "* OR access.labels:restricted-demo",
    "_exists_:canonicalText",
    "a AND NOT (b OR",
    '"unclosed',
    "body:x^5~2 [a TO z] {a TO *}",
    "/.*/",
    "*",
    "?",
    "((((((((((",
    "]]]]]}}}}}",
    "\\",
    "\\\\\\\\\"'`",
    '{"query": {"match_all": {}}}',
    '"}], "filter": [], "x": [{"y": "',
    "'; DROP TABLE registry; --",
    "' OR '1'='1",
    "x' UNION SELECT text FROM archive --",
    "%' ESCAPE '\\",
    "../../../../etc/passwd",
    "..\\..\\windows",
    "file:///etc/passwd",
    "${jndi:ldap://127.0.0.1/a}",
    "{{7*7}} <%= 7*7 %> #{7*7}",
    "<script>alert(1)</script>",
    "%00%0d%0aSet-Cookie: a=b",
    "%s%s%s%n {0} {0.__class__}",
    "restricted-runbook",
    "restricted-runbook@live[0:9999]",
    "（“”‘’）〔〕【】《》＊？＂＼／",
    "\u200b\u200e\u200f\u00ad\ufeff",
    "á" * 3 + "e" + "\u0301" * 200,
    "👩‍👩‍👧‍👦🏳️‍🌈",
    "\U0010fffd\ue000",
    "\n\t\n",
    "9" * 400,
    "-" * 2000,
    "a" * 2000,
    "的" * 2000,
    "(" * 2000,
    "[S1] " * 300,
]


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("text", SYNTAX, ids=lambda text: ascii(text[:24]))
def test_what_looks_like_syntax_widens_nothing(
    client: FlaskClient, headers: dict[str, str], path: str, text: str
) -> None:
    for question in (text, f"内部恢复开关 {text}"[:2000]):
        began = time.perf_counter()
        response = client.post(path, json={POSTS[path]: question, "corpus": "lesson"}, headers=headers)
        seconds = time.perf_counter() - began
        if not question.strip():
            refused(response, 400, "INVALID_REQUEST")
        else:
            assert response.status_code == 200, response.text
        assert seconds < 5
        assert not shows_hidden(response.text)


def shows_hidden(text: str) -> bool:
    """Whether the hidden document is told of, rather than asked for by its name."""
    told = [f'"documentId":"{HIDDEN}"', f'"document_id":"{HIDDEN}"', f"{HIDDEN}@"]
    return any(sign in text.replace(" ", "") for sign in told)


@pytest.mark.parametrize("path", POSTS)
def test_the_same_text_finds_it_for_whoever_may_see_it(
    client: FlaskClient, settings: Settings, path: str
) -> None:
    body = {POSTS[path]: "内部恢复开关用于什么？", "corpus": "lesson"}
    holder = bearer(settings, labels=["restricted-demo"])
    assert shows_hidden(client.post(path, json=body, headers=holder).text)
    assert not shows_hidden(client.post(path, json=body, headers=bearer(settings)).text)


FORBIDDEN = [
    *range(0x09), 0x0B, 0x0C, 0x0D, *range(0x0E, 0x20), *range(0x7F, 0xA0),
    *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xFFFE, 0xFFFF, 0xD800, 0xDFFF,
]  # fmt: skip


@pytest.mark.parametrize("path", POSTS)
def test_controls_are_refused_one_by_one(client: FlaskClient, headers: dict[str, str], path: str) -> None:
    for number in FORBIDDEN:
        body = json.dumps({POSTS[path]: f"a{chr(number)}b", "corpus": "lesson"})
        response = client.post(path, data=body, content_type="application/json", headers=headers)
        assert refused(response, 400, "INVALID_REQUEST")["field"] == POSTS[path], hex(number)


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def roomy(client: FlaskClient, settings: Settings) -> FlaskClient:
    """The same service, told to take bodies of a mebibyte, so that the limits behind that one are met."""
    return create_app(settings.model_copy(update={"max_body_bytes": MIB})).test_client()


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize(
    "character", ["a", "的", " ", "\0", "\u202e", "(", '"', "\\", "*", "0", "\U0001f600"]
)
def test_100_000_of_one_character(
    client: FlaskClient, roomy: FlaskClient, headers: dict[str, str], path: str, character: str
) -> None:
    body = json.dumps({POSTS[path]: character * 100_000, "corpus": "lesson"}, ensure_ascii=False)
    for one, status in ((client, 413), (roomy, 400)):
        began = time.perf_counter()
        response = one.post(path, data=body.encode(), content_type="application/json", headers=headers)
        refused(response, status)
        assert time.perf_counter() - began < 1
        assert len(response.data) < 500


def shapes() -> dict[str, bytes]:
    good = b'"corpus": "lesson", "text": "x", "queryId": '
    return {
        "deep lists": b"{" + good + b"[" * 100_000 + b"]" * 100_000 + b"}",
        "deep objects": b"{" + good + b'{"a":' * 50_000 + b"1" + b"}" * 50_000 + b"}",
        "deep and unclosed": b"{" + good + b"[" * 500_000,
        "not so deep": b"{" + good + b"[" * 200 + b"]" * 200 + b"}",
        "many fields": b"{" + b", ".join(b'"f%d": 1' % number for number in range(50_000)) + b"}",
        "many fields below": b"{"
        + good
        + b"{"
        + b", ".join(b'"f%d": 1' % number for number in range(50_000))
        + b"}}",
        "a long list": b"{" + good + b"[" + b"1," * 300_000 + b"1]}",
        "a long name": b'{"' + b"n" * 900_000 + b'": 1}',
        "a long number": b"{" + good + b"1" * 900_000 + b"}",
        "a long fraction": b"{" + good + b"0." + b"1" * 900_000 + b"}",
        "a large exponent": b"{" + good + b"1e999999999}",
        "escapes": b'{"corpus": "lesson", "text": "' + b"\\u0041" * 150_000 + b'"}',
        "blanks": b" " * 900_000,
    }


@pytest.mark.parametrize("name", shapes())
def test_a_body_of_a_costly_shape_is_refused_quickly(
    roomy: FlaskClient, headers: dict[str, str], name: str
) -> None:
    began = time.perf_counter()
    response = roomy.post(
        "/v1/answers", data=shapes()[name], content_type="application/json", headers=headers
    )
    refused(response, 400)
    assert time.perf_counter() - began < 3
    assert len(response.data) < 500


# ── addresses ───────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "document",
    ["%00", "%2e%2e%2fregistry", "..%5c..", "a%0d%0aX-A:b", "%e2%80%ae", "%ed%a0%80", "%ff%fe", "*", "%3F", "%25",
     "x'%20OR%20'1'='1", quote("* OR acl:hr"), quote('"\\'), quote("的" * 300)],
)  # fmt: skip
def test_an_id_that_cannot_be_one_is_what_a_missing_one_is(
    client: FlaskClient, headers: dict[str, str], document: str
) -> None:
    missing = client.get(f"/v1/sources/no-such-document/{'0' * 64}", headers=headers)
    response = client.get(f"/v1/sources/{document}/{'0' * 64}", headers=headers)
    assert (response.status_code, response.data) == (404, missing.data)
    assert "X-A" not in response.headers


@pytest.mark.parametrize("where", ["sources/{}/" + "0" * 64, "sources/x/{}", "traces/{}"])
@pytest.mark.parametrize("text", ["a" * 100_000, quote("的" * 20_000), "%00" * 5000, "../" * 5000])
def test_an_endless_address_is_refused(
    client: FlaskClient, settings: Settings, where: str, text: str
) -> None:
    inspector = bearer(settings, roles=["reader", "inspect"])
    response = client.get("/v1/" + where.format(text), headers=inspector)
    assert response.status_code in (400, 404)
    refused(response, response.status_code)
    assert len(response.data) < 500


@pytest.mark.parametrize(
    "query",
    ["a=" + "1" * 100_000, "&".join("a" for _ in range(20_000)), "start=" + "0" * 50_000, "%" * 10_000],
)
def test_an_endless_query_is_refused(client: FlaskClient, headers: dict[str, str], query: str) -> None:
    began = time.perf_counter()
    response = client.get(f"/v1/sources/x/{'0' * 64}?{query}", headers=headers)
    assert response.status_code in (400, 404)
    refused(response, response.status_code)
    assert time.perf_counter() - began < 1
    assert len(response.data) < 500


# ── tokens ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "value",
    ["Bearer " + "a" * MIB, "Bearer " + "." * MIB, "Bearer " + "a." * 500_000, "B" * MIB, "Bearer " + " " * MIB,
     "Bearer eyJhbGciOiJSUzI1NiIsImtpZCI6Ing" + "A" * MIB + ".e30.AA", "Bearer " + "é" * 500_000],
    ids=range(7),
)  # fmt: skip
def test_a_token_of_a_mebibyte_costs_little(client: FlaskClient, value: str) -> None:
    began = time.perf_counter()
    refused(client.post("/v1/answers", json={}, headers={"Authorization": value}), 401, "UNAUTHENTICATED")
    assert time.perf_counter() - began < 0.5
