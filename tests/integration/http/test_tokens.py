"""Who gets in: a token that does not hold is one 401 without detail, a missing role one 403."""

from __future__ import annotations

import base64
import hmac
import json
import time
from collections.abc import Callable

import jwt
import pytest
from flask.testing import FlaskClient

from service.settings import Settings
from tests.integration.http.material import POSTS, RETRY, SECRET, ask, bearer, claims, refused, token


def signed(settings: Settings, **changes: object) -> str:
    return "Bearer " + jwt.encode(claims(settings, **changes), SECRET, "HS256")


def headed(settings: Settings, **header: object) -> str:
    """Signed with the secret over whatever header: the library would refuse to make some of these."""
    parts = [{"alg": "HS256", "typ": "JWT", **header}, claims(settings)]
    body = b".".join(base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in parts)
    mac = base64.urlsafe_b64encode(hmac.digest(SECRET.encode(), body, "sha256")).rstrip(b"=")
    return f"Bearer {(body + b'.' + mac).decode()}"


def tampered(settings: Settings) -> str:
    head, body, signature = token(settings).split(".")
    raw = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)).replace(b"reader", b"admin!")
    return "Bearer " + ".".join([head, base64.urlsafe_b64encode(raw).rstrip(b"=").decode(), signature])


def deep_header(settings: Settings) -> str:
    raw = b'{"alg": ' + b"[" * 3000 + b"]" * 3000 + b"}"
    return "Bearer " + base64.urlsafe_b64encode(raw).rstrip(b"=").decode() + ".e30.AAAA"


BAD_TOKENS: dict[str, Callable[[Settings], str | None]] = {
    "no header": lambda s: None,
    "empty header": lambda s: "",
    "another scheme": lambda s: f"Basic {token(s)}",
    "no scheme": lambda s: token(s),
    "nothing after Bearer": lambda s: "Bearer ",
    "not a token": lambda s: "Bearer abc",
    "three dots": lambda s: "Bearer a.b.c",
    "not ASCII": lambda s: "Bearer é.é.é",
    "two tokens": lambda s: f"Bearer {token(s)} {token(s)}",
    "no signature": lambda s: "Bearer " + token(s).rsplit(".", 1)[0] + ".",
    "changed after signing": tampered,
    "a header too deep": deep_header,
    "alg none": lambda s: "Bearer " + jwt.encode(claims(s), "", "none"),
    "another secret": lambda s: "Bearer " + jwt.encode(claims(s), "x" * 32, "HS256"),
    "another algorithm": lambda s: "Bearer " + jwt.encode(claims(s), SECRET * 2, "HS512"),
    "expired": lambda s: signed(s, exp=int(time.time()) - s.token_leeway_s - 5),
    "not yet": lambda s: signed(s, nbf=int(time.time()) + s.token_leeway_s + 60),
    "expiry as text": lambda s: signed(s, exp="soon"),
    "another audience": lambda s: signed(s, aud="them"),
    "another issuer": lambda s: signed(s, iss="them"),
    "no audience": lambda s: signed(s, aud=None),
    "no issuer": lambda s: signed(s, iss=None),
    "no subject": lambda s: signed(s, sub=None),
    "no tenant": lambda s: signed(s, tenant=None),
    "no expiry": lambda s: signed(s, exp=None),
    "blank tenant": lambda s: signed(s, tenant=" "),
    "tenant a number": lambda s: signed(s, tenant=7),
    "half a pair": lambda s: signed(s, sub="\ud800"),
    "groups as text": lambda s: signed(s, groups="hr"),
    "labels as an object": lambda s: signed(s, labels={"a": 1}),
    "a role that is a number": lambda s: signed(s, roles=[1]),
    "expiry past all numbers": lambda s: signed(s, exp=float("inf")),
    "expiry a truth": lambda s: signed(s, exp=True),
    "issued tomorrow": lambda s: signed(s, iat=int(time.time()) + 86_400),
    "an audience that is a number": lambda s: signed(s, aud=[s.token_audience, 7]),
    "a tenant that shows nothing": lambda s: signed(s, tenant="\u200b"),
    "more groups than may be": lambda s: signed(s, groups=["g"] * 1_001),
    "a name too long": lambda s: signed(s, groups=["g" * 257]),
    "100 kB": lambda s: signed(s, note="x" * 100_000),
    "a critical header": lambda s: headed(s, crit=["exp"]),
    "an unencoded payload": lambda s: headed(s, b64=False, crit=["b64"]),
    "a nested token": lambda s: headed(s, cty="JWT"),
    "another type": lambda s: headed(s, typ="JWE"),
    "a key that is a path": lambda s: headed(s, alg="RS256", kid="../../etc/passwd"),
    "a key that is a number": lambda s: headed(s, alg="RS256", kid=7),
    "a key brought along": lambda s: headed(s, alg="RS256", jwk={"kty": "oct", "k": "eA"}),
}


@pytest.mark.parametrize("name", BAD_TOKENS)
def test_a_token_that_does_not_hold_is_one_401(client: FlaskClient, settings: Settings, name: str) -> None:
    value = BAD_TOKENS[name](settings)
    headers = {} if value is None else {"Authorization": value}
    bare = client.get("/v1/traces/x")
    responses = [
        client.post(path, json={field: RETRY, "corpus": "lesson"}, headers=headers)
        for path, field in POSTS.items()
    ]
    responses += [
        client.get(path, headers=headers)
        for path in (f"/v1/sources/retry-policy/{'0' * 64}", f"/v1/traces/{'0' * 32}")
    ]
    for response in responses:
        assert refused(response, 401, "UNAUTHENTICATED") == {
            "code": "UNAUTHENTICATED",
            "message": "A valid bearer token is needed.",
        }
        assert response.data == bare.data
        assert response.headers["WWW-Authenticate"] == "Bearer"


def test_a_token_is_asked_for_before_anything_is_read(client: FlaskClient) -> None:
    for path in POSTS:
        for body in (b"", b"{", b'{"x": 1}', b"[]"):
            refused(client.post(path, data=body, content_type="application/json"), 401)
        refused(client.post(path, data=b"x", content_type="text/plain"), 401)
    refused(client.get("/v1/sources/x/not-a-version?start=-1"), 401)


def test_within_the_leeway_and_with_several_audiences(client: FlaskClient, settings: Settings) -> None:
    just_over = {"Authorization": signed(settings, exp=int(time.time()) - 1)}
    assert ask(client, just_over)["status"] == "answered"
    several = {"Authorization": signed(settings, aud=["them", settings.token_audience])}
    assert ask(client, several)["status"] == "answered"
    lower = {"Authorization": "bearer " + token(settings)}
    assert ask(client, lower)["status"] == "answered"


@pytest.mark.parametrize("roles", [[], ["inspect"], ["operator"], ["readers"]])
def test_reading_needs_the_role_reader(client: FlaskClient, settings: Settings, roles: list[str]) -> None:
    who = {"Authorization": signed(settings, roles=roles)}
    for path, field in POSTS.items():
        body = {field: RETRY, "corpus": "lesson"}
        assert (
            "'reader'" in refused(client.post(path, json=body, headers=who), 403, "ROLE_REQUIRED")["message"]
        )
    refused(client.get(f"/v1/sources/retry-policy/{'0' * 64}", headers=who), 403, "ROLE_REQUIRED")


def test_explain_needs_inspect_and_admin_holds_every_role(client: FlaskClient, settings: Settings) -> None:
    body = {"text": RETRY, "corpus": "lesson", "explain": True}
    for path in ("/v1/answers", "/v1/search"):
        refused(client.post(path, json=body, headers=bearer(settings)), 403, "ROLE_REQUIRED")
        for roles in (["reader", "inspect"], ["admin"]):
            found = client.post(path, json=body, headers=bearer(settings, roles=roles))
            assert found.status_code == 200


def test_admin_sees_no_more_documents(client: FlaskClient, settings: Settings) -> None:
    found = ask(client, bearer(settings, roles=["admin"]), "/v1/search", "内部恢复开关用于什么？")
    assert "restricted-runbook" not in str(found)
