"""Who asks, what a document allows, and the scope that every query must carry."""

from __future__ import annotations

from dataclasses import dataclass

PUBLIC_LABEL = "public"
EVERYONE = "*"


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks, as the token says. `subjects` are the user, the groups and `*`."""

    tenant: str
    subject: str
    subjects: frozenset[str]
    labels: frozenset[str]
    roles: frozenset[str]


@dataclass(frozen=True, slots=True)
class Access:
    """The rights a document carries. Every document has at least one label."""

    tenant: str
    labels: frozenset[str]
    allow: frozenset[str]
    deny: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Scope:
    """What a principal may see, ready to compile. Made only by `access.policy.scope_of`.

    An empty tenant or no subjects means that nothing is visible; every compiler turns that into match-none.
    """

    tenant: str
    labels: frozenset[str]
    subjects: frozenset[str]

    @property
    def empty(self) -> bool:
        return not self.tenant or not self.subjects


@dataclass(frozen=True, slots=True)
class RightsInUse:
    """The labels and subjects that one tenant's documents carry in one generation."""

    labels: frozenset[str]
    subjects: frozenset[str]
