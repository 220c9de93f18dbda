"""Public keys that tokens are checked with: a JWKS file, read again whenever it changes.

Keys of a kind that is not taken are passed over: a provider's file holds others too. A key that must not be
trusted refuses the whole file, and so does a file that cannot be read: older keys never serve in its place.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from jwt import PyJWK

from service.errors import Misconfigured

# An algorithm belongs to a kind of key. Without this a public RSA key could be used as an HMAC secret.
_ALGORITHM_OF_KEY = {"RSA": "RS256", "EC": "ES256"}
_CURVE = "P-256"  # the one of ES256
_RSA_BITS = range(2048, 8193)  # below: can be factored; above: checking one signature takes too long
_PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"}
_LARGEST = 1024 * 1024  # bytes of the file
# A file may change twice within one tick of its clock: until this long after its last change it is read each time.
_SETTLED_NS = 2_000_000_000
# What reading a file of the wrong shape can raise: the operator's fault, never told as a caller's bad token.
_NO_KEYS = (ValueError, LookupError, TypeError, AttributeError, RecursionError, jwt.PyJWTError)

_Stamp = tuple[int, ...]


@dataclass(slots=True)
class KeyFile:
    """The keys by kid and algorithm. A rotated key needs no restart; a removed one is gone at once."""

    path: Path
    _stamp: _Stamp | None = None
    _keys: Mapping[tuple[str, str], PyJWK] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def key(self, kid: str, algorithm: str) -> PyJWK | None:
        """The key of that kid for that algorithm, or None. Raises Misconfigured where the file gives no keys."""
        with self._lock:
            try:
                if self._stamp is None or self._stamp != _stamp(self.path.stat()):
                    self._stamp, self._keys = None, {}
                    self._stamp, self._keys = _read(self.path)
            except OSError as error:
                self._stamp, self._keys = None, {}
                raise Misconfigured(
                    f"The key file {self.path.name} cannot be read: {error.strerror}."
                ) from error
            return self._keys.get((kid, algorithm))


def _stamp(found: os.stat_result) -> _Stamp:
    return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)


def _read(path: Path) -> tuple[_Stamp | None, Mapping[tuple[str, str], PyJWK]]:
    """The keys, and how the file they came from stands; None while it is too young to tell a change by that."""
    with path.open("rb") as opened:
        found = os.fstat(opened.fileno())
        raw = opened.read(_LARGEST + 1)
    if len(raw) > _LARGEST:
        raise Misconfigured(f"The key file {path.name} is larger than {_LARGEST} bytes.")
    try:
        keys = _keys(json.loads(raw.decode("utf-8"))["keys"], path.name)
    except _NO_KEYS as error:
        raise Misconfigured(f"The key file {path.name} is no JWKS: {type(error).__name__}.") from error
    settled = time.time_ns() - max(found.st_mtime_ns, found.st_ctime_ns) > _SETTLED_NS
    return (_stamp(found) if settled else None), keys


def _keys(entries: list[dict[str, Any]], name: str) -> Mapping[tuple[str, str], PyJWK]:
    keys: dict[tuple[str, str], PyJWK] = {}
    for entry in entries:
        if entry.get("kty") != "oct" and _PRIVATE & set(entry):
            kid = str(entry.get("kid"))[:100]
            raise Misconfigured(f"The key file {name} holds the private part of key {kid!r}; leave it out.")
        if not _taken(entry):
            continue
        kid, algorithm = entry["kid"], _ALGORITHM_OF_KEY[entry["kty"]]
        key = PyJWK(entry, algorithm=algorithm)
        if isinstance(key.key, RSAPublicKey) and key.key.key_size not in _RSA_BITS:
            raise Misconfigured(
                f"Key {kid!r} of the key file {name} has {key.key.key_size} bits; "
                f"an RSA key needs {_RSA_BITS.start} to {_RSA_BITS.stop - 1}."
            )
        if (kid, algorithm) in keys:
            raise Misconfigured(
                f"The key file {name} holds two {entry['kty']} keys {kid!r}; give each its kid."
            )
        keys[kid, algorithm] = key
    if not keys:
        raise Misconfigured(
            f"The key file {name} holds no key that can be used: RSA for RS256 or EC on P-256 for ES256, each "
            "with a kid."
        )
    return keys


def _taken(entry: Mapping[str, Any]) -> bool:
    """Whether the entry is a signature key of a kind that is used here."""
    kid, kty = entry.get("kid"), entry.get("kty")
    return (
        isinstance(kid, str)
        and kid != ""
        and kty in _ALGORITHM_OF_KEY
        and (kty != "EC" or entry.get("crv") == _CURVE)
        and entry.get("alg", _ALGORITHM_OF_KEY[kty]) == _ALGORITHM_OF_KEY[kty]
        and entry.get("use", "sig") == "sig"
        and "verify" in entry.get("key_ops", ["verify"])
    )
