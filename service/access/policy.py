"""The visibility rule as a predicate, and the only maker of `Scope`.

Visible ⇔ same tenant ∧ labels ⊆ principal.labels ∧ allow ∩ subjects ≠ ∅ ∧ deny ∩ subjects = ∅.
`access.compile` says the same thing to the engines; a property test holds the three together.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata

from service.domain.rights import EVERYONE, PUBLIC_LABEL, Access, Principal, RightsInUse, Scope

LONGEST_NAME = 256  # characters of a name, normalised; rules and tokens with a longer one are refused

# Unicode's Default_Ignorable_Code_Point: joiners, zero-width spaces, marks of direction, variation selectors, fillers.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def visible(access: Access, scope: Scope) -> bool:
    """Whether a document with these rights may be seen in this scope. Missing rights give nothing."""
    return (
        not scope.empty
        and bool(access.tenant)
        and access.tenant == scope.tenant
        and bool(access.labels)
        and access.labels <= scope.labels
        and not access.allow.isdisjoint(scope.subjects)
        and access.deny.isdisjoint(scope.subjects)
    )


def scope_of(principal: Principal) -> Scope:
    """What this principal may see, to be compiled into every query."""
    if not principal.tenant or not principal.subject:
        return Scope(tenant="", labels=frozenset(), subjects=frozenset())
    return Scope(
        tenant=principal.tenant,
        labels=principal.labels | {PUBLIC_LABEL},
        subjects=principal.subjects | {EVERYONE},
    )


def effective_scope(scope: Scope, in_use: RightsInUse | None) -> Scope:
    """The scope cut down to what documents can ask of it; the whole scope where that is not known.

    Over documents that carry nothing but `in_use`, the two see the same: a document asks for its own labels and
    subjects only. So principals whose effective scopes are equal may share what was found for one of them.
    """
    if in_use is None:
        return scope
    return Scope(scope.tenant, scope.labels & in_use.labels, scope.subjects & in_use.subjects)


def scope_hash(scope: Scope) -> str:
    """sha256 (hex) of the canonical scope: JSON lists, so no separator inside a name can forge another."""
    canonical = json.dumps(
        [scope.tenant, sorted(scope.labels), sorted(scope.subjects)],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    return hashlib.sha256(canonical.encode()).hexdigest()


def normalise_name(value: str) -> str:
    """One spelling for a tenant, label or subject, the same for rules and tokens; normalised again it is the same.

    NFKC (width), case folded, characters that show nothing left out (Unicode's NFKC_Casefold), runs of space made
    one. So `ß` is `ss` and the Kelvin sign `k`; dotless `ı` is no `i`, nor is a letter of another script.
    """
    while True:
        seen = _INVISIBLE.sub("", unicodedata.normalize("NFKC", value).casefold())
        if (name := " ".join(seen.split())) == value:
            return name
        value = name


def principal_of(
    *, tenant: str, subject: str, groups: list[str], labels: list[str], roles: list[str]
) -> Principal:
    """A principal from a token's claims. The `user:` and `group:` prefixes are put on here, so no group
    name can pass for a user or for everyone."""
    user = normalise_name(subject)
    subjects = {f"user:{user}"} if user else set()
    subjects |= {f"group:{name}" for name in map(normalise_name, groups) if name}
    return Principal(
        tenant=normalise_name(tenant),
        subject=user,
        subjects=frozenset(subjects | {EVERYONE}) if user else frozenset(),
        labels=frozenset(name for name in map(normalise_name, labels) if name) | {PUBLIC_LABEL},
        roles=frozenset(map(normalise_name, roles)),
    )
