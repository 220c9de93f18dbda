"""Access classes: the distinct rights of a generation, each stored once, and the SQL that chooses them."""

from __future__ import annotations

import json
import sqlite3

from service.access.compile import sql_condition
from service.access.rules import from_json
from service.adapters.acceptance import askable_scope
from service.domain.rights import Access, RightsInUse, Scope
from service.text.wellformed import storable


def class_of(connection: sqlite3.Connection, access: Access) -> int:
    """The id of these rights, new or known."""
    columns = (
        escape(access.tenant),
        _list(access.labels),
        _list(access.allow),
        _list(access.deny),
    )
    connection.execute(
        "INSERT OR IGNORE INTO access_class (tenant, labels, allow, deny) VALUES (?, ?, ?, ?)", columns
    )
    [(id_,)] = connection.execute(
        "SELECT id FROM access_class WHERE tenant = ? AND labels = ? AND allow = ? AND deny = ?", columns
    ).fetchall()
    return int(id_)


def access_of(tenant: str, labels: str, allow: str, deny: str) -> Access:
    lists = {"labels": labels, "allow": allow, "deny": deny}
    return from_json(
        {"tenant": unescape(tenant)}
        | {key: [unescape(name) for name in json.loads(value)] for key, value in lists.items()}
    )


def rights_in_use(connection: sqlite3.Connection, tenant: str) -> RightsInUse:
    """The labels and subjects that the tenant's chunks carry now; a class without chunks counts for nothing."""
    if not storable(tenant):
        return RightsInUse(frozenset(), frozenset())
    rows = connection.execute(
        "SELECT labels, allow, deny FROM access_class WHERE tenant = ?"
        " AND EXISTS (SELECT 1 FROM chunk WHERE chunk.access_class = access_class.id)",
        (escape(tenant),),
    ).fetchall()
    classes = [access_of(escape(tenant), *lists) for lists in rows]
    return RightsInUse(
        labels=frozenset().union(*(c.labels for c in classes)),
        subjects=frozenset().union(*(c.allow | c.deny for c in classes)),
    )


def visible_classes(scope: Scope) -> tuple[str, tuple[str, ...]]:
    """A condition on `chunk.access_class`, with its parameters, that holds for what the scope may see."""
    scope = askable_scope(scope)
    escaped = Scope(
        escape(scope.tenant), frozenset(map(escape, scope.labels)), frozenset(map(escape, scope.subjects))
    )
    condition, parameters = sql_condition(escaped, "own_class")
    return f"access_class IN (SELECT own_class.id FROM access_class own_class WHERE {condition})", parameters


def escape(name: str) -> str:
    """The name without NUL. SQLite's JSON functions end a string at one, so that the group `a\\0b` would be
    taken for `a`. Injective, so that no two names meet."""
    return name.replace("%", "%25").replace("\0", "%00")


def unescape(name: str) -> str:
    return name.replace("%00", "\0").replace("%25", "%")


def _list(names: frozenset[str]) -> str:
    return json.dumps(sorted(map(escape, names)), ensure_ascii=False)
