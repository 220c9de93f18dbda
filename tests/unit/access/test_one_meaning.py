"""The visibility rule has one meaning: the predicate and both compiled forms agree on whatever may come."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from service.access.compile import elastic_filter, sql_condition
from service.access.policy import principal_of, scope_hash, scope_of, visible
from service.adapters.embedded.rights import escape
from service.domain.rights import Access, Scope

# Few names, so that sets meet often; odd ones, so that no encoding forges another.
NAMES = st.sampled_from(
    ["a", "b", "a,b", '["a"]', "a\x00b", "", " ", "*", "user:a", "group:a", "公", "%", "'"]
)
SETS = st.frozensets(NAMES, max_size=4)
TENANTS = st.sampled_from(["t", "u", "", "t\x00"])
ACCESSES = st.builds(Access, tenant=TENANTS, labels=SETS, allow=SETS, deny=SETS)
SCOPES = st.builds(Scope, tenant=TENANTS, labels=SETS, subjects=SETS)


def holds(clause: dict[str, Any], record: dict[str, Any]) -> bool:
    """What Elasticsearch means by the few clauses the filter is made of, on one document."""
    [(kind, body)] = clause.items()
    if kind == "match_none":
        return False
    if kind == "bool":
        assert set(body) <= {"filter", "must_not"}
        return all(holds(c, record) for c in body["filter"]) and not any(
            holds(c, record) for c in body["must_not"]
        )
    [(field, value)] = body.items()
    stored = record[field]
    if kind == "term":
        return bool(stored == value)
    if kind == "terms":
        return bool(set(stored) & set(value))
    if kind == "range":
        return bool(stored >= value["gte"])
    assert kind == "terms_set"
    matching = len(set(stored) & set(value["terms"]))
    # Elasticsearch asks for at least one match even where the minimum is 0.
    return matching >= max(1, record[value["minimum_should_match_field"]])


@settings(max_examples=3000)
@given(ACCESSES, SCOPES)
def test_predicate_filter_and_sql_agree(access: Access, scope: Scope) -> None:
    record = {
        "access.tenant": access.tenant,
        "access.labels": access.labels,
        "access.labelCount": len(access.labels),
        "access.allow": access.allow,
        "access.deny": access.deny,
    }
    expected = visible(access, scope)
    assert holds(elastic_filter(scope), record) == expected
    # The embedded engine stores and asks for names without NUL, at which SQLite's JSON functions end a string.
    stored = [frozenset(map(escape, names)) for names in (access.labels, access.allow, access.deny)]
    asked = Scope(escape(scope.tenant), *(frozenset(map(escape, n)) for n in (scope.labels, scope.subjects)))
    condition, parameters = sql_condition(asked, "d")
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE TABLE d (tenant, labels, allow, deny)")
        lists = [json.dumps(sorted(names), ensure_ascii=False) for names in stored]
        connection.execute("INSERT INTO d VALUES (?, ?, ?, ?)", (escape(access.tenant), *lists))
        found = connection.execute(f"SELECT count(*) FROM d WHERE {condition}", parameters).fetchone()[0]
    finally:
        connection.close()
    assert bool(found) == expected


@given(ACCESSES)
def test_nobody_sees_nothing(access: Access) -> None:
    for scope in (Scope("", frozenset("a"), frozenset("a")), Scope("t", frozenset("a"), frozenset())):
        assert not visible(access, scope)
    assert not visible(access, Scope("t", frozenset(), frozenset({"*", "a"})))


@given(SCOPES, SCOPES)
def test_equal_hashes_are_equal_scopes(one: Scope, other: Scope) -> None:
    assert (scope_hash(one) == scope_hash(other)) == (one == other)


def test_a_group_cannot_pass_for_a_user_or_for_everyone() -> None:
    principal = principal_of(
        tenant="t", subject="eve", groups=["user:alice", "*", "HR  Team"], labels=[], roles=[]
    )
    assert scope_of(principal).subjects == {"user:eve", "group:user:alice", "group:*", "group:hr team", "*"}


def test_without_a_tenant_or_subject_there_is_no_scope() -> None:
    for tenant, subject in (("", "a"), ("t", ""), (" ", "a"), ("t", "\t")):
        scope = scope_of(principal_of(tenant=tenant, subject=subject, groups=["g"], labels=["l"], roles=[]))
        assert scope.empty
