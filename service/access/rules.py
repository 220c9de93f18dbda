"""Access rules as people write them: a mapping in front matter, beside a document, in a folder, or `--access`.

Nearest wins; docs/documents.md has the one list of what goes before what. Nothing found → the document is
refused: rights are never guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from service.access.policy import LONGEST_NAME, normalise_name
from service.domain.rights import EVERYONE, PUBLIC_LABEL, Access
from service.errors import InvalidAccess

_KEYS = {"tenant", "labels", "allow", "deny"}


def read_access(rule: Mapping[str, Any], *, tenant: str, where: str) -> Access:
    """An Access value from a rule. Raises InvalidAccess with the place and what to write instead."""
    unknown = set(rule) - _KEYS
    if unknown:
        raise InvalidAccess(
            f"{where}: unknown access key {sorted(map(str, unknown))[0]!r}; known are {sorted(_KEYS)}."
        )
    allow = frozenset(_subject(value, where) for value in _names(rule, "allow", where))
    if not allow:
        raise InvalidAccess(
            f'{where}: an access rule needs `allow`, a list of subjects such as "group:eng", "user:alice" '
            'or "*" for everyone in the tenant.'
        )
    own_tenant = rule.get("tenant", tenant)
    if not isinstance(own_tenant, str) or not normalise_name(own_tenant):
        raise InvalidAccess(f"{where}: `tenant` must be a non-empty string.")
    labels = frozenset(_name(value, where) for value in _names(rule, "labels", where))
    return Access(
        tenant=_name(own_tenant, where),
        labels=labels or frozenset({PUBLIC_LABEL}),
        allow=allow,
        deny=frozenset(_subject(value, where) for value in _names(rule, "deny", where)),
    )


def misspelt_access(keys: Iterable[object]) -> str | None:
    """A key that means `access` and is not spelt so: overlooked, its document would take a wider rule."""
    meant = (key for key in keys if isinstance(key, str) and normalise_name(key) == "access")
    return next((key for key in meant if key != "access"), None)


def _names(rule: Mapping[str, Any], key: str, where: str) -> list[str]:
    values = rule.get(key, [])
    if not isinstance(values, list) or not all(isinstance(v, str) and normalise_name(v) for v in values):
        raise InvalidAccess(f"{where}: `{key}` must be a list of non-empty strings.")
    return values


def _name(value: str, where: str) -> str:
    """The name as it is compared. Refuses what no token can hold: a longer one, and half a UTF-16 pair, which JSON
    and YAML can write as an escape."""
    name = normalise_name(value)
    if len(name) > LONGEST_NAME:
        raise InvalidAccess(f"{where}: the name {name[:20]!r}… is longer than {LONGEST_NAME} characters.")
    if any("\ud800" <= character <= "\udfff" for character in name):
        raise InvalidAccess(f"{where}: the name {name!r} has half a surrogate pair: no character.")
    return name


def _subject(value: str, where: str) -> str:
    """`group:` or `user:` and the name, which may hold colons itself: only the first one parts the two."""
    name = normalise_name(value)
    kind, _, rest = name.partition(":")
    if name == EVERYONE or (kind in {"user", "group"} and rest.strip()):
        return name if name == EVERYONE else f"{kind}:{_name(rest, where)}"
    raise InvalidAccess(f'{where}: {value!r} is not a subject; write "group:<name>", "user:<name>" or "*".')


def to_json(access: Access) -> dict[str, Any]:
    """The form in which rights are stored and audited."""
    return {
        "tenant": access.tenant,
        "labels": sorted(access.labels),
        "allow": sorted(access.allow),
        "deny": sorted(access.deny),
    }


def from_json(value: Mapping[str, Any]) -> Access:
    """The reverse of `to_json`; anything missing or emptied stays empty, and so invisible."""
    return Access(
        tenant=str(value.get("tenant") or ""),
        labels=frozenset(value.get("labels") or ()),
        allow=frozenset(value.get("allow") or ()),
        deny=frozenset(value.get("deny") or ()),
    )
