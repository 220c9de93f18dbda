"""Which labels and subjects a tenant's documents carry, and that nothing else of a scope makes a difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.policy import effective_scope, visible
from service.adapters.elastic import bodies
from service.domain.ports import Engine
from service.domain.rights import Access, RightsInUse, Scope
from tests.contract.material import TIMEOUT_S, allowed_to, built, chunk

PUBLIC = frozenset({"public"})


def test_what_a_tenant_s_chunks_carry_now(engine: Engine) -> None:
    odd = Access(
        "acme", frozenset({"public", "机密"}), frozenset({"group:a\0b", "user:%00"}), frozenset({"*"})
    )
    generation = built(
        engine,
        [
            chunk("a", access=allowed_to("eng")),
            chunk("b", access=odd),
            chunk("c", access=Access("rival", frozenset({"theirs"}), frozenset({"group:theirs"}))),
        ],
    )

    def in_use(tenant: str = "acme") -> RightsInUse | None:
        return engine.retrieval.rights_in_use(generation, tenant, TIMEOUT_S)

    assert in_use() == RightsInUse(
        frozenset({"public", "机密"}), frozenset({"group:eng", "group:a\0b", "user:%00", "*"})
    )
    assert in_use("rival") == RightsInUse(frozenset({"theirs"}), frozenset({"group:theirs"}))
    assert in_use("nobody") == in_use("") == in_use("\ud800") == RightsInUse(frozenset(), frozenset())
    engine.generations.spread_access(generation, "b", allowed_to("hr"))
    assert in_use() == RightsInUse(PUBLIC, frozenset({"group:eng", "group:hr"}))
    engine.generations.spread_access(generation, "a", None)
    assert in_use() == RightsInUse(PUBLIC, frozenset({"group:hr"}))


@pytest.mark.elasticsearch
def test_too_many_names_are_no_list(elastic: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    generation = built(elastic, [chunk(name, access=allowed_to(name)) for name in "abcd"])
    monkeypatch.setattr(bodies, "MAX_NAMES", 3)
    assert elastic.retrieval.rights_in_use(generation, "acme", TIMEOUT_S) is None


NAMES = st.frozensets(st.sampled_from(["a", "b", "c", "d", "*", "public"]), max_size=4)
ACCESSES = st.builds(Access, tenant=st.sampled_from(["t", "u"]), labels=NAMES, allow=NAMES, deny=NAMES)
SCOPES = st.builds(Scope, tenant=st.sampled_from(["t", "u", ""]), labels=NAMES, subjects=NAMES)


@given(st.lists(ACCESSES, max_size=5), SCOPES, SCOPES)
def test_equal_effective_scopes_see_the_same(documents: list[Access], one: Scope, other: Scope) -> None:
    def effective(scope: Scope) -> Scope:
        own = [d for d in documents if d.tenant == scope.tenant]
        labels = frozenset().union(*(d.labels for d in own))
        subjects = frozenset().union(*(d.allow | d.deny for d in own))
        return effective_scope(scope, RightsInUse(labels, subjects))

    for scope in (one, other):
        assert [visible(d, scope) for d in documents] == [visible(d, effective(scope)) for d in documents]
        assert effective_scope(scope, None) == scope
    if effective(one) == effective(other):
        assert [visible(d, one) for d in documents] == [visible(d, other) for d in documents]
