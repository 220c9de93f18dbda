"""Tokens: RS256 or ES256 by `kid` from a key file, HS256 for development. What fails is a 401 without detail."""

from __future__ import annotations

import json
import re
import time
from base64 import urlsafe_b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jwt

from service.access.policy import LONGEST_NAME, normalise_name, principal_of
from service.domain.rights import Principal
from service.errors import InvalidInput, Misconfigured, RoleRequired, Unauthenticated
from service.settings import Settings
from service.text.wellformed import storable
from service.web.keys import KeyFile
from service.web.strict_json import each_name_once, no_constant

ROLES = ("reader", "inspect", "operator", "admin")
LONGEST_TOKEN = 16_384  # characters
MOST_NAMES = 1_000  # of a token's groups, labels or roles
_LATEST = 253_402_300_799  # seconds: the end of the year 9999
_REQUIRED = ["exp", "aud", "iss", "sub", "tenant"]
_TOKEN = re.compile(r"[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+")
# What a header may not ask for: extensions, and an unencoded or a nested payload.
_UNKNOWN_HEADERS = {"crit", "b64", "cty", "zip", "enc"}
_TYPES = {"jwt", "at+jwt"}
_BAD = (jwt.PyJWTError, ValueError, TypeError, LookupError, OverflowError, RecursionError)


class _StrictTokens(jwt.PyJWT):
    """PyJWT, with a payload read as strictly as a request's body: no claim twice, times are numbers."""

    def _decode_payload(self, decoded: dict[str, Any]) -> dict[str, Any]:
        payload = _object(decoded["payload"])
        for name in ("exp", "nbf", "iat"):
            if name in payload and not _is_time(payload[name]):
                raise ValueError(f"{name} is no time")
        return payload


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
        if scheme.lower() != "bearer":
            raise Unauthenticated
        return self.principal_of_token(token.strip())

    def principal_of_token(self, token: str) -> Principal:
        """The principal of a bare token, as `principal`."""
        if len(token) > LONGEST_TOKEN or _TOKEN.fullmatch(token) is None:
            raise Unauthenticated
        return _principal(self._claims(token))

    def _claims(self, token: str) -> Mapping[str, Any]:
        settings = self.settings
        try:
            key, algorithm = self._key(_header(token))
            claims: Mapping[str, Any] = _StrictTokens().decode(
                token,
                key,
                algorithms=[algorithm],
                audience=settings.token_audience,
                issuer=settings.token_issuer,
                leeway=settings.token_leeway_s,
                options={"require": _REQUIRED},
            )
        except _BAD as error:
            raise Unauthenticated from error
        return claims

    def _key(self, header: Mapping[str, Any]) -> tuple[Any, str]:
        """The key and the one algorithm it may be used with; the header chooses among ours, never its own.

        A key, or the address of one, that the header brings along (`jwk`, `jku`, `x5c`, `x5u`) is not looked at.
        """
        algorithm, kid = header.get("alg"), header.get("kid")
        if algorithm == "HS256" and takes_secret(self.settings):
            assert self.settings.token_secret is not None
            return self.settings.token_secret.get_secret_value(), "HS256"
        if self.keys is None or not isinstance(kid, str) or not isinstance(algorithm, str):
            raise Unauthenticated
        found = self.keys.key(kid, algorithm)
        if found is None:
            raise Unauthenticated
        return found.key, found.algorithm_name


def takes_secret(settings: Settings) -> bool:
    """Whether HS256 is taken: beside a key file only where that is wanted, since who checks by a secret can sign."""
    return settings.token_secret is not None and (
        settings.token_keys_file is None or settings.token_secret_with_keys
    )


def _header(token: str) -> Mapping[str, Any]:
    encoded = token.partition(".")[0]
    header = _object(urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    kind = header.get("typ", "JWT")
    if _UNKNOWN_HEADERS & set(header) or not isinstance(kind, str):
        raise Unauthenticated
    if kind.lower().removeprefix("application/") not in _TYPES:
        raise Unauthenticated
    return header


def _object(raw: bytes) -> dict[str, Any]:
    found = json.loads(raw.decode("utf-8"), object_pairs_hook=each_name_once, parse_constant=no_constant)
    if not isinstance(found, dict):
        raise ValueError("no JSON object")
    return found


def _is_time(value: object) -> bool:
    """A NumericDate: a number of seconds. To Python `true` is one too, and JSON's 1e400 an infinity."""
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= _LATEST


def _principal(claims: Mapping[str, Any]) -> Principal:
    lists = {name: claims.get(name, []) for name in ("groups", "labels", "roles")}
    strings = [claims["sub"], claims["tenant"]]
    for values in lists.values():
        if not isinstance(values, list) or len(values) > MOST_NAMES:
            raise Unauthenticated
        strings += values
    if not all(map(_is_name, strings)):
        raise Unauthenticated
    return principal_of(
        tenant=claims["tenant"],
        subject=claims["sub"],
        groups=lists["groups"],
        labels=lists["labels"],
        roles=[role for role in lists["roles"] if normalise_name(role) in ROLES],
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and storable(value) and 0 < len(normalise_name(value)) <= LONGEST_NAME


def holds(principal: Principal, role: str) -> bool:
    """Whether the principal has the role. `admin` holds every one."""
    return role in principal.roles or "admin" in principal.roles


def require(principal: Principal, role: str) -> None:
    """Raises RoleRequired."""
    if not holds(principal, role):
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
    if not takes_secret(settings):
        raise Misconfigured(
            "Tokens signed with ATTEST_TOKEN_SECRET are refused while ATTEST_TOKEN_KEYS_FILE is set; unset it, or "
            "set ATTEST_TOKEN_SECRET_WITH_KEYS=true."
        )
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
