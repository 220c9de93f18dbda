"""The key file: which keys are taken, passed over or refused, and that an older file never serves."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from service.errors import Misconfigured, Unauthenticated
from service.web import keys
from service.web.auth import TokenChecker
from tests.integration.http.material import claims
from tests.unit.web.test_auth import EC, OTHER_RSA, RSA, settings, sign

SMALL = rsa.generate_private_key(public_exponent=65537, key_size=1024)


def jwk(key: Any, kid: str = "k", **changes: Any) -> dict[str, Any]:
    kinds = {rsa.RSAPrivateKey: RSAAlgorithm, ec.EllipticCurvePrivateKey: ECAlgorithm}
    kind = next((k for base, k in kinds.items() if isinstance(key, base)), OKPAlgorithm)
    return {**kind.to_jwk(key.public_key(), as_dict=True), "kid": kid, **changes}


def checker_of(path: Path, *entries: Any) -> TokenChecker:
    path.write_text(json.dumps({"keys": entries}), encoding="utf-8")
    return TokenChecker.of(settings(token_keys_file=path))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "keys.json"


def takes(checker: TokenChecker, key: Any, algorithm: str, kid: str = "k") -> bool:
    try:
        return bool(checker.principal(sign(checker, key, algorithm, kid)))
    except Unauthenticated:
        return False


@pytest.mark.parametrize(
    "changes", [{}, {"use": "sig"}, {"alg": "RS256"}, {"key_ops": ["verify"]}, {"x5t": "?"}]
)
def test_a_signature_key_is_taken(path: Path, changes: dict[str, Any]) -> None:
    assert takes(checker_of(path, jwk(RSA, **changes)), RSA, "RS256")


@pytest.mark.parametrize(
    ("key", "algorithm", "changes"),
    [
        (RSA, "RS256", {"use": "enc"}),
        (RSA, "RS256", {"use": 7}),
        (RSA, "RS256", {"alg": "RSA-OAEP"}),
        (RSA, "RS512", {"alg": "RS512"}),
        (RSA, "RS256", {"alg": "ES256"}),
        (RSA, "RS256", {"key_ops": ["encrypt"]}),
        (RSA, "RS256", {"key_ops": []}),
        (RSA, "RS256", {"kid": ""}),
        (RSA, "RS256", {"kid": 7}),
        (ec.generate_private_key(ec.SECP384R1()), "ES384", {}),
        (ec.generate_private_key(ec.SECP256K1()), "ES256K", {}),
        (ec.generate_private_key(ec.SECP256K1()), "ES256", {}),
        (ed25519.Ed25519PrivateKey.generate(), "EdDSA", {}),
    ],
)
def test_a_key_of_another_kind_is_passed_over(
    path: Path, key: Any, algorithm: str, changes: dict[str, Any]
) -> None:
    checker = checker_of(path, jwk(key, **changes), jwk(EC, "good"))
    with suppress(jwt.InvalidKeyError, TypeError):  # some the library itself does not sign with
        assert not takes(checker, key, algorithm)
    assert takes(checker, EC, "ES256", "good")
    with pytest.raises(Misconfigured, match="no key that can be used"):
        takes(checker_of(path, jwk(key, **changes)), RSA, "RS256")


@pytest.mark.parametrize(
    ("entries", "says"),
    [
        ([RSAAlgorithm.to_jwk(RSA, as_dict=True) | {"kid": "k"}], "private part of key 'k'"),
        ([ECAlgorithm.to_jwk(EC, as_dict=True) | {"kid": "k"}], "private part"),
        ([jwk(RSA, "k", k="c2VjcmV0")], "private part"),
        ([jwk(SMALL)], "1024 bits"),
        ([jwk(RSA), jwk(OTHER_RSA)], "two RSA keys 'k'"),
        ([jwk(RSA), jwk(RSA)], "two RSA keys 'k'"),
        ([jwk(RSA, n="AQAB")], "no JWKS"),
        ([jwk(RSA, e="AQ")], "no JWKS"),
        ([jwk(RSA, n=None)], "no JWKS"),
        ([jwk(EC, x="AQAB")], "no JWKS"),
        ([jwk(EC, y=jwk(EC)["x"])], "no JWKS"),
        ([], "no key that can be used"),
        ([7], "no JWKS"),
        ([jwk(RSA, key_ops=7)], "no JWKS"),
    ],
)  # fmt: skip
def test_a_key_that_must_not_be_trusted_refuses_the_file(path: Path, entries: list[Any], says: str) -> None:
    checker = checker_of(path, *entries, jwk(EC, "good")) if entries else checker_of(path)
    for _ in range(2):  # the second time too: nothing of the file was kept
        with pytest.raises(Misconfigured, match=says) as refused:
            takes(checker, EC, "ES256", "good")
        secret = RSAAlgorithm.to_jwk(RSA, as_dict=True)["d"]
        assert secret not in refused.value.message and str(path.parent) not in refused.value.message


def test_one_kid_may_name_a_key_of_each_kind(path: Path) -> None:
    checker = checker_of(path, jwk(RSA), jwk(EC))
    assert takes(checker, RSA, "RS256") and takes(checker, EC, "ES256")
    assert not takes(checker, OTHER_RSA, "RS256")


@pytest.mark.parametrize("header", ["jwk", "jku", "x5u", "x5c"])
def test_a_key_that_the_token_brings_along_is_not_looked_at(path: Path, header: str) -> None:
    checker = checker_of(path, jwk(RSA))
    brought: dict[str, Any] = {
        "jwk": jwk(OTHER_RSA), "jku": path.as_uri(), "x5u": "https://evil.example/k", "x5c": ["MIIB"],
    }  # fmt: skip
    for key, good in ((OTHER_RSA, False), (RSA, True)):
        headers = {"kid": "k", header: brought[header]}
        token = jwt.encode(claims(checker.settings), key, "RS256", headers=headers)
        if good:
            assert checker.principal(f"Bearer {token}")
        else:
            with pytest.raises(Unauthenticated):
                checker.principal(f"Bearer {token}")


def same_length(one: Any, other: Any) -> tuple[str, str]:
    texts = [json.dumps({"keys": [jwk(key)]}) for key in (one, other)]
    longest = max(map(len, texts))
    return texts[0].ljust(longest), texts[1].ljust(longest)


def test_a_change_within_one_tick_of_the_clock_is_seen(path: Path) -> None:
    """Same size, same modification time, same inode: a young file is read each time."""
    first, second = same_length(RSA, OTHER_RSA)
    path.write_text(first)
    checker = TokenChecker.of(settings(token_keys_file=path))
    before = path.stat()
    assert takes(checker, RSA, "RS256")
    with path.open("r+") as opened:
        opened.write(second)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns and path.stat().st_size == before.st_size
    assert takes(checker, OTHER_RSA, "RS256") and not takes(checker, RSA, "RS256")


def test_a_settled_file_is_read_once_and_again_when_anything_of_it_changes(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keys, "_SETTLED_NS", -(10**18))  # as if the file were old
    read = keys._read
    first, second = same_length(RSA, OTHER_RSA)
    path.write_text(first)
    checker = TokenChecker.of(settings(token_keys_file=path))
    reads: list[Path] = []

    def counted(path: Path) -> Any:
        reads.append(path)
        return read(path)

    monkeypatch.setattr(keys, "_read", counted)
    assert takes(checker, RSA, "RS256") and takes(checker, RSA, "RS256")
    assert reads == [path]
    # Replaced by a file of the same size and time, as a rotation does.
    before = path.stat()
    new = tmp_path / "new.json"
    new.write_text(second)
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(path)
    assert takes(checker, OTHER_RSA, "RS256") and not takes(checker, RSA, "RS256")


@pytest.mark.parametrize("damage", ["removed", "emptied", "half", "no keys", "a folder", "too large"])
def test_old_keys_do_not_outlive_their_file(path: Path, damage: str) -> None:
    checker = checker_of(path, jwk(RSA))
    assert takes(checker, RSA, "RS256")
    text = path.read_text()
    path.unlink()
    if damage == "a folder":
        path.mkdir()
    elif damage != "removed":
        path.write_text(
            {"emptied": "", "half": text[:200], "no keys": '{"keys": []}', "too large": text + " " * 2**20}[
                damage
            ]
        )
    for _ in range(2):
        with pytest.raises(Misconfigured, match=r"key file keys\.json"):
            takes(checker, RSA, "RS256")
    if damage == "a folder":
        path.rmdir()
    path.write_text(text)
    assert takes(checker, RSA, "RS256")
