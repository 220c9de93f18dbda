"""Tokens against a key file: each key with its own algorithm, rotation without a restart, no confusion of kinds."""

from __future__ import annotations

import base64
import hmac
import json
import os
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from service.errors import InvalidInput, Misconfigured, Unauthenticated
from service.settings import Settings
from service.web.auth import TokenChecker, issue_token
from tests.integration.http.material import SECRET, claims

RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
OTHER_RSA = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC = ec.generate_private_key(ec.SECP256R1())


def write_keys(path: Path, keys: dict[str, Any]) -> None:
    entries = []
    for kid, key in keys.items():
        kind = ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else RSAAlgorithm
        entries.append({**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid})
    path.write_text(json.dumps({"keys": entries}), encoding="utf-8")


@pytest.fixture
def key_file(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    write_keys(path, {"r": RSA, "e": EC})
    return path


def settings(**changes: Any) -> Settings:
    return Settings.model_validate({"engine": "embedded", "redis_url": None, **changes})


@pytest.fixture
def checker(key_file: Path) -> TokenChecker:
    return TokenChecker.of(settings(token_keys_file=key_file))


def sign(checker: TokenChecker, key: Any, algorithm: str, kid: str | None, **changes: Any) -> str:
    headers = None if kid is None else {"kid": kid}
    return "Bearer " + jwt.encode(claims(checker.settings, **changes), key, algorithm, headers=headers)


@pytest.mark.parametrize(("key", "algorithm", "kid"), [(RSA, "RS256", "r"), (EC, "ES256", "e")])
def test_a_key_is_chosen_by_kid(checker: TokenChecker, key: Any, algorithm: str, kid: str) -> None:
    who = checker.principal(sign(checker, key, algorithm, kid, groups=["Eng"], labels=["hr"]))
    assert (who.tenant, who.subject, who.roles) == ("demo", "alice", frozenset({"reader"}))
    assert {"user:alice", "group:eng"} <= who.subjects
    assert "hr" in who.labels


@pytest.mark.parametrize(
    ("key", "algorithm", "kid"),
    [
        (RSA, "RS256", "unknown"),
        (RSA, "RS256", None),
        (RSA, "RS256", "e"),
        (EC, "ES256", "r"),
        (OTHER_RSA, "RS256", "r"),
        (RSA, "RS512", "r"),
        (RSA, "PS256", "r"),
        (SECRET, "HS256", "r"),
    ],
)
def test_a_key_serves_its_own_kid_and_algorithm_only(
    checker: TokenChecker, key: Any, algorithm: str, kid: str | None
) -> None:
    with pytest.raises(Unauthenticated):
        checker.principal(sign(checker, key, algorithm, kid))


def test_a_public_key_is_no_hmac_secret(checker: TokenChecker) -> None:
    public = RSA.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    # Signed by hand: the library itself refuses to make such a token.
    header = {"alg": "HS256", "typ": "JWT", "kid": "r"}
    parts = [json.dumps(part).encode() for part in (header, claims(checker.settings))]
    signed = b".".join(base64.urlsafe_b64encode(part).rstrip(b"=") for part in parts)
    mac = base64.urlsafe_b64encode(hmac.digest(public, signed, "sha256")).rstrip(b"=")
    with pytest.raises(Unauthenticated):
        checker.principal(f"Bearer {(signed + b'.' + mac).decode()}")


def test_without_a_secret_no_hs256(checker: TokenChecker) -> None:
    with pytest.raises(Unauthenticated):
        checker.principal(sign(checker, SECRET, "HS256", None))


def test_a_key_file_is_read_again_when_it_changes(checker: TokenChecker, key_file: Path) -> None:
    old, new = sign(checker, RSA, "RS256", "r"), sign(checker, OTHER_RSA, "RS256", "new")
    assert checker.principal(old)
    with pytest.raises(Unauthenticated):
        checker.principal(new)
    write_keys(key_file, {"new": OTHER_RSA})
    later = key_file.stat().st_mtime + 10
    os.utime(key_file, (later, later))
    assert checker.principal(new)
    with pytest.raises(Unauthenticated):
        checker.principal(old)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"keys": 1}', '{"keys": [1]}'])
def test_a_key_file_that_cannot_be_read_is_the_operators_fault(
    checker: TokenChecker, key_file: Path, content: str
) -> None:
    key_file.write_text(content, encoding="utf-8")
    with pytest.raises(Misconfigured) as caught:
        checker.principal(sign(checker, RSA, "RS256", "r"))
    assert key_file.name in caught.value.message
    assert str(key_file.parent) not in caught.value.message


def test_a_missing_key_file_is_the_operators_fault(tmp_path: Path) -> None:
    checker = TokenChecker.of(settings(token_keys_file=tmp_path / "none.json"))
    with pytest.raises(Misconfigured):
        checker.principal(sign(checker, RSA, "RS256", "r"))


def test_keys_of_a_kind_we_do_not_take_are_passed_over(checker: TokenChecker, key_file: Path) -> None:
    entries = json.loads(key_file.read_text(encoding="utf-8"))["keys"]
    strange = [{"kty": "oct", "k": "c2VjcmV0", "kid": "o"}, {"kty": "OKP", "kid": "x"}, {"kty": "RSA"}]
    key_file.write_text(json.dumps({"keys": strange + entries}), encoding="utf-8")
    assert checker.principal(sign(checker, RSA, "RS256", "r"))


def test_issuing_needs_a_secret_and_known_roles() -> None:
    who: dict[str, Any] = {"tenant": "t", "subject": "s", "groups": [], "labels": [], "ttl_s": 60}
    with pytest.raises(Misconfigured):
        issue_token(settings(token_secret=None), roles=["reader"], **who)
    with pytest.raises(InvalidInput):
        issue_token(settings(token_secret=SECRET), roles=["reader", "root"], **who)


def test_an_issued_token_is_its_principal() -> None:
    chosen = settings(token_secret=SECRET)
    issued = issue_token(
        chosen, tenant="t", subject="bo", groups=["g"], labels=["l"], roles=["inspect"], ttl_s=60
    )
    who = TokenChecker.of(chosen).principal(f"Bearer {issued}")
    assert (who.tenant, who.subject, who.roles) == ("t", "bo", frozenset({"inspect"}))
    assert {"user:bo", "group:g"} <= who.subjects and "l" in who.labels
    expired = issue_token(chosen, tenant="t", subject="bo", groups=[], labels=[], roles=[], ttl_s=-60)
    with pytest.raises(Unauthenticated):
        TokenChecker.of(chosen).principal(f"Bearer {expired}")
