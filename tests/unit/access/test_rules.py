"""Access rules as people write them: what is understood, and what a refusal says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.access.policy import principal_of, scope_of, visible
from service.access.rules import from_json, read_access, to_json
from service.domain.rights import Access
from service.errors import InvalidAccess

names = st.frozensets(st.text(max_size=6), max_size=4)


def read(rule: dict[str, Any]) -> Access:
    return read_access(rule, tenant="acme", where="pay.md front matter")


def test_a_full_rule() -> None:
    rule = {
        "tenant": "Acme",
        "labels": ["Secret", "HR  Data"],
        "allow": ["group:HR", "user:Alice"],
        "deny": ["user:bob"],
    }
    assert read(rule) == Access(
        "acme",
        frozenset({"secret", "hr data"}),
        frozenset({"group:hr", "user:alice"}),
        frozenset({"user:bob"}),
    )


def test_without_labels_a_document_is_public_and_without_deny_nobody_is_denied() -> None:
    assert read({"allow": ["*"]}) == Access("acme", frozenset({"public"}), frozenset({"*"}), frozenset())
    assert read({"allow": ["*"], "labels": [], "deny": []}) == read({"allow": ["*"]})


@pytest.mark.parametrize(
    "spelling", ["group:Finance Team", "GROUP: finance  team ", "ｇｒｏｕｐ：ＦＩＮＡＮＣＥ team"]
)
def test_a_rule_and_a_token_meet_however_the_name_is_written(spelling: str) -> None:
    access = read({"allow": [spelling]})
    inside = principal_of(tenant="ACME", subject="ann", groups=["finance\tTEAM"], labels=[], roles=[])
    outside = principal_of(tenant="acme", subject="finance team", groups=["team"], labels=[], roles=[])
    assert visible(access, scope_of(inside))
    assert not visible(access, scope_of(outside))


def test_deny_is_stronger_than_allow() -> None:
    access = read({"allow": ["*"], "deny": ["group:interns"]})
    ann = principal_of(tenant="acme", subject="ann", groups=["eng"], labels=[], roles=[])
    ben = principal_of(tenant="acme", subject="ben", groups=["eng", "interns"], labels=[], roles=[])
    assert visible(access, scope_of(ann))
    assert not visible(access, scope_of(ben))


def test_every_label_is_needed() -> None:
    access = read({"allow": ["*"], "labels": ["secret", "hr"]})
    for labels, seen in (
        ([], False),
        (["secret"], False),
        (["hr", "secret"], True),
        (["hr", "secret", "x"], True),
    ):
        somebody = principal_of(tenant="acme", subject="ann", groups=[], labels=labels, roles=[])
        assert visible(access, scope_of(somebody)) == seen


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        ({}, r"needs `allow`.*group:eng"),
        ({"allow": []}, r"needs `allow`"),
        ({"labels": ["public"]}, r"needs `allow`"),
        ({"allow": "*"}, r"`allow` must be a list"),
        ({"allow": None}, r"`allow` must be a list"),
        ({"allow": [7]}, r"`allow` must be a list of non-empty strings"),
        ({"allow": [""]}, r"non-empty"),
        ({"allow": ["\u3000"]}, r"non-empty"),
        ({"allow": [["*"]]}, r"list of non-empty strings"),
        ({"allow": ["eng"]}, r"'eng' is not a subject; write \"group:<name>\""),
        ({"allow": ["everyone"]}, r"not a subject"),
        ({"allow": ["group:"]}, r"not a subject"),
        ({"allow": ["user: "]}, r"not a subject"),
        ({"allow": ["role:admin"]}, r"not a subject"),
        ({"allow": ["**"]}, r"not a subject"),
        ({"allow": ["*"], "deny": ["bob"]}, r"'bob' is not a subject"),
        ({"allow": ["*"], "deny": "user:bob"}, r"`deny` must be a list"),
        ({"allow": ["*"], "labels": "secret"}, r"`labels` must be a list"),
        ({"allow": ["*"], "labels": [""]}, r"`labels` must be"),
        ({"allow": ["*"], "tenant": ""}, r"`tenant` must be a non-empty string"),
        ({"allow": ["*"], "tenant": 7}, r"`tenant` must be"),
        ({"allow": ["*"], "tenant": None}, r"`tenant` must be"),
        ({"alow": ["*"]}, r"unknown access key 'alow'; known are .*'allow'"),
        ({"allow": ["*"], 7: 1}, r"unknown access key '7'"),
    ],
)  # fmt: skip
def test_a_bad_rule_is_refused_with_its_place_and_what_to_write(rule: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidAccess, match=says) as refused:
        read(rule)
    assert refused.value.message.startswith("pay.md front matter: ")
    assert refused.value.message.endswith(".")


@given(st.builds(Access, tenant=st.text(max_size=6), labels=names, allow=names, deny=names))
def test_rights_are_stored_and_read_back(access: Access) -> None:
    assert from_json(to_json(access)) == access


@pytest.mark.parametrize("lost", ["tenant", "labels", "allow"])
@pytest.mark.parametrize("empty", [None, "", []])
def test_stored_rights_that_lost_a_part_show_nothing(lost: str, empty: Any) -> None:
    whole = to_json(read({"allow": ["*"]}))
    everybody = scope_of(principal_of(tenant="acme", subject="ann", groups=[], labels=[], roles=[]))
    assert visible(from_json(whole), everybody)
    assert not visible(from_json(whole | {lost: empty}), everybody)
    assert not visible(from_json({key: value for key, value in whole.items() if key != lost}), everybody)


@given(
    st.dictionaries(
        st.sampled_from(["allow", "deny", "labels", "tenant", "x"]),
        st.recursive(
            st.none()
            | st.booleans()
            | st.integers()
            | st.text(max_size=8)
            | st.just("*")
            | st.just("group:a"),
            lambda inner: st.lists(inner, max_size=3),
        ),
    )
)
def test_any_mapping_gives_rights_with_somebody_in_them_or_a_refusal(rule: dict[str, Any]) -> None:
    try:
        access = read(rule)
    except InvalidAccess:
        return
    assert access.tenant and access.labels and access.allow
