"""Tokens as an attacker, or a careless issuer, would write them: rightly signed, and still no token."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

import jwt
import pytest

from service.access.policy import LONGEST_NAME
from service.errors import Misconfigured, Unauthenticated
from service.settings import Settings
from service.web.auth import LONGEST_TOKEN, MOST_NAMES, TokenChecker, issue_token
from tests.integration.http.material import SECRET, claims


def now() -> int:
    return int(time.time())


def settings(**changes: Any) -> Settings:
    return Settings.model_validate(
        {"engine": "embedded", "redis_url": None, "token_secret": SECRET, "token_keys_file": None, **changes}
    )


CHECKER = TokenChecker.of(settings())


def encoded(part: bytes) -> bytes:
    return base64.urlsafe_b64encode(part).rstrip(b"=")


def signed(payload: bytes, header: bytes = b'{"alg":"HS256","typ":"JWT"}') -> str:
    """A token over any bytes, with a good signature: what the library would refuse to make."""
    body = encoded(header) + b"." + encoded(payload)
    return (body + b"." + encoded(hmac.digest(SECRET.encode(), body, "sha256"))).decode()


def raw(**changes: str) -> bytes:
    """A good payload as text, some claims written by hand."""
    parts = {name: json.dumps(value) for name, value in claims(CHECKER.settings).items()} | changes
    return ("{" + ",".join(f'"{name}":{value}' for name, value in parts.items()) + "}").encode()


def holds(token: str) -> bool:
    try:
        CHECKER.principal(f"Bearer {token}")
    except Unauthenticated:
        return False
    return True


def test_what_is_signed_here_by_hand_holds() -> None:
    assert holds(signed(raw()))
    assert holds(signed(raw(exp=f"{now() + 60}.5", nbf=f"{now()}.0")))
    assert holds(signed(raw(), b'{"alg":"HS256"}'))
    assert holds(signed(raw(), b'{"alg":"HS256","typ":"at+jwt"}'))


@pytest.mark.parametrize("claim", ["exp", "nbf", "iat"])
@pytest.mark.parametrize(
    "value",
    ["true", "false", "null", '"9999999999"', "Infinity", "-Infinity", "NaN", "1e400", "-1", "-1e400", "1e18",
     "9" * 400, "9" * 5000, "[9999999999]", '{"a":1}'],
)  # fmt: skip
def test_a_time_is_a_number_of_seconds(claim: str, value: str) -> None:
    # `null` is a claim left out, which nbf and iat may be; their type is what it is about here.
    assert not holds(signed(raw(**{claim: value})))


def test_times_are_held_to_the_clock() -> None:
    leeway = CHECKER.settings.token_leeway_s
    for claim in ("nbf", "iat"):
        assert holds(signed(raw(**{claim: str(now() + leeway - 5)})))
        assert not holds(signed(raw(**{claim: str(now() + leeway + 60)})))
    assert not holds(signed(raw(exp=str(now() - leeway - 5))))


@pytest.mark.parametrize(
    ("claim", "value"),
    [
        ("aud", '["attest", 7]'),
        ("aud", "[]"),
        ("aud", '{"attest": 1}'),
        ("aud", "true"),
        ("aud", '"ATTEST"'),
        ("iss", '["attest"]'),
        ("iss", "1"),
        ("sub", '["alice"]'),
        ("sub", "7"),
        ("sub", '"\\u200b"'),
        ("sub", '"\\u0085"'),
        ("tenant", '"\\u200d"'),
        ("tenant", '["demo"]'),
        ("tenant", "null"),
        ("groups", "null"),
        ("groups", '{"eng": true}'),
        ("groups", '["eng", ["hr"]]'),
        ("groups", '["\\udcff"]'),
        ("labels", '[""]'),
        ("roles", '"admin"'),
        ("roles", "[true]"),
        ("jti", "7"),
    ],
)
def test_claims_have_their_type(claim: str, value: str) -> None:
    assert not holds(signed(raw(**{claim: value})))


def test_a_claim_that_stands_twice_is_taken_neither_way() -> None:
    for extra in ('"roles":["admin"]', '"sub":"alice"', '"tenant":"other"', '"exp":1'):
        twice = raw()[:-1] + f",{extra}".encode() + b"}"
        assert not holds(signed(twice))
    nested = raw()[:-1] + b',"x":{"a":1,"a":2}}'
    assert not holds(signed(nested))


@pytest.mark.parametrize(
    "payload",
    [b"", b"[]", b"null", b'"x"', b"{", b"\xff", raw() + b"x", b"\xef\xbb\xbf" + raw(), raw(x='"\x01"'),
     b'{"x":' + b"[" * 3000 + b"]" * 3000 + b"}", raw()[:-1] + b',"x":NaN}',
     signed(raw()).encode()],
)  # fmt: skip
def test_a_payload_is_one_json_object(payload: bytes) -> None:
    assert not holds(signed(payload))


@pytest.mark.parametrize(
    "header",
    [
        b'{"alg":"HS256","crit":["exp"]}',
        b'{"alg":"HS256","crit":[]}',
        b'{"alg":"HS256","crit":["b64"],"b64":false}',
        b'{"alg":"HS256","b64":false}',
        b'{"alg":"HS256","b64":true}',
        b'{"alg":"HS256","cty":"JWT"}',
        b'{"alg":"HS256","zip":"DEF"}',
        b'{"alg":"HS256","typ":"JWE"}',
        b'{"alg":"HS256","typ":"dpop+jwt"}',
        b'{"alg":"HS256","typ":7}',
        b'{"alg":"none","alg":"HS256"}',
        b'{"alg":"hs256"}',
        b'{"alg":"HS256 "}',
        b'{"alg":["HS256"]}',
        b'{"alg":{"a":1}}',
        b'{"alg":null}',
        b'{"alg":"none"}',
        b"{}",
        b"[]",
        b"7",
        b"",
        b"\xff",
    ],
)
def test_a_header_asks_for_nothing_else(header: bytes) -> None:
    assert not holds(signed(raw(), header))


@pytest.mark.parametrize("kid", ['"../../etc/passwd"', '"\' OR 1=1 --"', "7", "null", "[1]", '{"a":1}', '""', '"' + "k" * 9000 + '"'])  # fmt: skip
def test_a_kid_is_looked_up_and_nothing_else_is_done_with_it(kid: str) -> None:
    for algorithm in ("RS256", "ES256", "none", "HS512"):
        assert not holds(signed(raw(), f'{{"alg":"{algorithm}","kid":{kid}}}'.encode()))


def test_a_token_is_three_parts_of_base64url() -> None:
    good = signed(raw())
    head, body, mac = good.split(".")
    for bad in (f"{head}.{body}", f"{good}.{mac}", f"{head}.{body}.", f".{body}.{mac}", f"{head}..{mac}", f"{good}=", f"{head}=.{body}.{mac}",
                f"{head}.{body}.{mac[:-4]}", f"{head}\n.{body}.{mac}", f"{head}.{body}.{mac}\x00", good.replace(".", "．"),
                f"{head}.{body}.{mac[:10]}!{mac[10:]}", f"{head}.{body},{head}.{body}.{mac}"):  # fmt: skip
        assert not holds(bad)


def test_sizes_are_bounded() -> None:
    assert not holds(signed(raw(x=json.dumps("x" * 100_000))))
    room = LONGEST_TOKEN - 1000
    assert holds(signed(raw(x=json.dumps("x" * (room * 3 // 4)))))
    for name in ("groups", "labels", "roles"):
        assert holds(signed(raw(**{name: json.dumps(["g"] * MOST_NAMES)})))
        assert not holds(signed(raw(**{name: json.dumps(["g"] * (MOST_NAMES + 1))})))
        assert holds(signed(raw(**{name: json.dumps(["g" * LONGEST_NAME])})))
        assert not holds(signed(raw(**{name: json.dumps(["g" * (LONGEST_NAME + 1)])})))
    for name in ("sub", "tenant"):
        assert not holds(signed(raw(**{name: json.dumps("s" * (LONGEST_NAME + 1))})))
        # One character that is eighteen when normalised.
        assert not holds(signed(raw(**{name: json.dumps("\ufdfa" * 20)})))


def test_roles_are_normalised_and_unknown_ones_are_none() -> None:
    token = signed(raw(roles='["Reader", "INSPECT ", "root", "admin,reader", "administrator"]'))
    assert CHECKER.principal(f"Bearer {token}").roles == {"reader", "inspect"}


def test_beside_a_key_file_the_secret_signs_nothing_unless_it_is_wanted(tmp_path: Any) -> None:
    from tests.unit.web.test_auth import RSA, write_keys

    path = tmp_path / "keys.json"
    write_keys(path, {"r": RSA})
    token = f"Bearer {jwt.encode(claims(CHECKER.settings), SECRET, 'HS256')}"
    both = settings(token_keys_file=path)
    with pytest.raises(Unauthenticated):
        TokenChecker.of(both).principal(token)
    who: dict[str, Any] = {
        "tenant": "t",
        "subject": "s",
        "groups": [],
        "labels": [],
        "roles": [],
        "ttl_s": 60,
    }
    with pytest.raises(Misconfigured, match="ATTEST_TOKEN_SECRET_WITH_KEYS"):
        issue_token(both, **who)
    wanted = settings(token_keys_file=path, token_secret_with_keys=True)
    assert TokenChecker.of(wanted).principal(token)
    assert issue_token(wanted, **who)
