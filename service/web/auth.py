"""Tokens: HS256 for development, RS256 or ES256 by `kid` from a JWKS file. What fails is a 401 without detail."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import jwt
from jwt import PyJWK

from service.access.policy import principal_of
from service.domain.rights import Principal
from service.errors import InvalidInput, Misconfigured, RoleRequired, Unauthenticated
from service.settings import Settings
from service.text.wellformed import storable

ROLES = ("reader", "inspect", "operator", "admin")
_REQUIRED = ["exp", "aud", "iss", "sub", "tenant"]
# What reading a key file of the wrong shape can raise: the operator's fault, never told as a caller's bad token.
_NO_KEYS = (OSError, ValueError, LookupError, TypeError, AttributeError, jwt.PyJWTError)
# An algorithm belongs to a kind of key. Without this a public RSA key could be used as an HMAC secret.
_ALGORITHM_OF_KEY = {"RSA": "RS256", "EC": "ES256"}


@dataclass(slots=True)
class KeyFile:
    """A JWKS file, read again when it changes: a rotated key needs no restart."""

    path: Path
    _mtime: float = -1.0
    _keys: dict[str, PyJWK] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def key(self, kid: str) -> PyJWK | None:
        with self._lock:
            try:
                mtime = self.path.stat().st_mtime
                if mtime != self._mtime:
                    self._keys = _read_keys(self.path)
                    self._mtime = mtime
            except _NO_KEYS as error:
                raise Misconfigured(f"The key file {self.path.name} cannot be read: {error}") from error
            return self._keys.get(kid)


def _read_keys(path: Path) -> dict[str, PyJWK]:
    entries = json.loads(path.read_text(encoding="utf-8"))["keys"]
    return {
        entry["kid"]: PyJWK(entry, algorithm=_ALGORITHM_OF_KEY[entry["kty"]])
        for entry in entries
        if entry.get("kty") in _ALGORITHM_OF_KEY and entry.get("kid")
    }


@dataclass(frozen=True, slots=True)
class TokenChecker:
    """Checks bearer tokens by the settings it was made with."""

    settings: Settings
    keys: KeyFile | None

    @classmethod
    def of(cls, settings: Settings) -> TokenChecker:
        return cls(settings, KeyFile(settings.token_keys_file) if settings.token_keys_file else None)

    def principal(self, authorization: str | None) -> Principal:
        """The principal of an `Authorization` header. Raises Unauthenticated for anything that does not hold."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Unauthenticated
        return _principal(self._claims(token.strip()))

    def _claims(self, token: str) -> Mapping[str, Any]:
        settings = self.settings
        try:
            key, algorithm = self._key(jwt.get_unverified_header(token))
            claims: Mapping[str, Any] = jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                audience=settings.token_audience,
                issuer=settings.token_issuer,
                leeway=settings.token_leeway_s,
                options={"require": _REQUIRED},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise Unauthenticated from error
        return claims

    def _key(self, header: Mapping[str, Any]) -> tuple[Any, str]:
        """The key and the one algorithm it may be used with; the header chooses among ours, never its own."""
        algorithm = header.get("alg")
        if algorithm == "HS256" and self.settings.token_secret is not None:
            return self.settings.token_secret.get_secret_value(), "HS256"
        kid = header.get("kid")
        found = self.keys.key(kid) if self.keys is not None and isinstance(kid, str) else None
        if found is None or found.algorithm_name != algorithm:
            raise Unauthenticated
        return found.key, found.algorithm_name


def _principal(claims: Mapping[str, Any]) -> Principal:
    lists = {name: claims.get(name, []) for name in ("groups", "labels", "roles")}
    strings = [claims["sub"], claims["tenant"]]
    for values in lists.values():
        if not isinstance(values, list):
            raise Unauthenticated
        strings += values
    if not all(isinstance(value, str) and value.strip() and storable(value) for value in strings):
        raise Unauthenticated
    return principal_of(
        tenant=claims["tenant"],
        subject=claims["sub"],
        groups=lists["groups"],
        labels=lists["labels"],
        roles=lists["roles"],
    )


def require(principal: Principal, role: str) -> None:
    """Raises RoleRequired. `admin` holds every role."""
    if role not in principal.roles and "admin" not in principal.roles:
        raise RoleRequired(role)


def issue_token(
    settings: Settings,
    *,
    tenant: str,
    subject: str,
    groups: list[str],
    labels: list[str],
    roles: list[str],
    ttl_s: int,
) -> str:
    """A signed development token. Raises InvalidInput for an unknown role, Misconfigured without a secret."""
    if settings.token_secret is None:
        raise Misconfigured("ATTEST_TOKEN_SECRET is not set; make one with `openssl rand -hex 32`.")
    unknown = sorted(set(roles) - set(ROLES))
    if unknown:
        raise InvalidInput(f"There is no role {unknown[0]!r}; roles are {', '.join(ROLES)}.")
    now = int(time.time())
    claims = {
        "iss": settings.token_issuer,
        "aud": settings.token_audience,
        "iat": now,
        "exp": now + ttl_s,
        "sub": subject,
        "tenant": tenant,
        "groups": groups,
        "labels": labels,
        "roles": roles,
    }
    return jwt.encode(claims, settings.token_secret.get_secret_value(), algorithm="HS256")
