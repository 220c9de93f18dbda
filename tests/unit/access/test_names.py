"""Names of tenants, labels, users and groups: one spelling on both sides, and no separator forges another name."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.access.policy import LONGEST_NAME, normalise_name, principal_of, scope_hash, scope_of, visible
from service.access.rules import read_access
from service.domain.rights import Access, Scope
from service.errors import InvalidAccess

ODD = (
    "aAbßsSkK\u212aiIıİée\u0301\u0345ΣςﬁfΩ\u2126Ａ：:,/*\0 \u3000\u0085\u200b\u200d\ufe0f\xad\u0338´\t\n\\\"'"
)
WORDS = ["group:", "user:", "group:user:alice", "siteA/", "siteB/", "owners", "*", "\0", "：", "ｇｒｏｕｐ"]
NAMES = st.one_of(
    st.text(max_size=12),
    st.text(st.sampled_from(ODD), max_size=8),
    st.lists(st.sampled_from(WORDS) | st.text(st.sampled_from(ODD), max_size=2), max_size=4).map("".join),
).filter(lambda name: not any("\ud800" <= c <= "\udfff" for c in name))


def allowed(*subjects: str) -> Access:
    return read_access({"allow": list(subjects)}, tenant="t", where="rule")


def scope(*groups: str, user: str = "ann") -> Scope:
    return scope_of(principal_of(tenant="t", subject=user, groups=list(groups), labels=[], roles=[]))


@given(NAMES)
def test_a_name_normalised_again_is_the_same(name: str) -> None:
    once = normalise_name(name)
    assert normalise_name(once) == once
    assert once == once.strip()


def test_every_character_settles() -> None:
    for code in range(0x110000):
        for text in (chr(code), f"a{chr(code)}b"):
            once = normalise_name(text)
            assert normalise_name(once) == once


@given(NAMES)
def test_a_group_of_a_rule_is_the_group_of_a_token(name: str) -> None:
    assume(normalise_name(name))
    assert visible(allowed(f"group:{name}"), scope(name))
    assert visible(allowed(f"user:{name}"), scope(user=name))


@given(NAMES, NAMES)
def test_no_other_group_is_let_in_and_no_user_of_that_name(one: str, other: str) -> None:
    assume(normalise_name(one) and normalise_name(other))
    same = normalise_name(one) == normalise_name(other)
    assert visible(allowed(f"group:{one}"), scope(other)) == same
    assert visible(allowed(f"user:{one}"), scope(user=other)) == same
    assert not visible(allowed(f"group:{one}"), scope(user=one))
    assert not visible(allowed(f"user:{one}"), scope(one, user="nobody else" * 3))


@given(NAMES, NAMES)
def test_denied_names_meet_as_allowed_ones_do(one: str, other: str) -> None:
    assume(normalise_name(one) and normalise_name(other))
    access = read_access({"allow": ["*"], "deny": [f"group:{one}"]}, tenant="t", where="rule")
    assert visible(access, scope(other)) == (normalise_name(one) != normalise_name(other))


@given(st.lists(NAMES, max_size=4), st.lists(NAMES, max_size=4))
def test_scopes_are_equal_only_where_the_normalised_groups_are(one: list[str], other: list[str]) -> None:
    same = set(filter(None, map(normalise_name, one))) == set(filter(None, map(normalise_name, other)))
    assert (scope(*one) == scope(*other)) == same
    assert (scope_hash(scope(*one)) == scope_hash(scope(*other))) == same


def test_one_name_on_two_sites_is_two_groups() -> None:
    """A report from onyx#13109: owners of one site saw what those of another may see."""
    access = allowed("group:siteA/owners")
    assert visible(access, scope("siteA/owners")) and visible(access, scope("SITEA/Owners"))
    forged = ["owners", "siteA", "siteA,owners", "siteA:owners", "x,group:siteA/owners", "siteA/owners,x"]
    for group in ("siteB/owners", *forged):
        assert not visible(access, scope(group))
    assert scope_hash(scope("siteA/owners")) != scope_hash(scope("siteB/owners"))
    assert scope_hash(scope("a", "b")) != scope_hash(scope("a,b"))
    assert scope_hash(scope("a", "b")) != scope_hash(scope('a","group:b'))


@pytest.mark.parametrize(
    ("subject", "groups", "user", "seen"),
    [
        ("group:user:alice", ["user:alice"], "eve", True),  # a group that is called so
        ("group:user:alice", [], "alice", False),
        ("user:alice", ["user:alice"], "eve", False),
        ("group:group:eng", ["group:eng"], "eve", True),
        ("group:group:eng", ["eng"], "eve", False),
        ("group:eng", ["group:eng"], "eve", False),
        ("group:*", ["*"], "eve", True),
        ("group:*", ["eng"], "eve", False),
        ("*", [], "eve", True),
        ("user:*", [], "eve", False),
        ("user:a:b", [], "a:b", True),
        ("user:a", [], "a:b", False),
    ],
)  # fmt: skip
def test_a_prefix_within_a_name_is_part_of_the_name(
    subject: str, groups: list[str], user: str, seen: bool
) -> None:
    assert visible(allowed(subject), scope(*groups, user=user)) == seen


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Straße", "STRASSE", True),
        ("\u212a", "k", True),  # the Kelvin sign
        ("é", "e\u0301", True),
        ("ﬁnance", "finance", True),
        ("Ｆｉｎａｎｃｅ", "finance", True),
        ("ΟΔΟΣ", "οδος", True),
        ("a\u0085b", "a b", True),  # next line is a space
        ("a\u200bb", "ab", True),  # what shows nothing is nothing
        ("a\u200db", "ab", True),
        ("a\xadb", "ab", True),
        ("☎\ufe0f", "☎", True),
        ("ab", "a b", False),
        ("a\0b", "ab", False),
        ("kızıl", "kizil", False),  # Turkish dotless i
        ("İzmir", "izmir", False),
        ("é", "e", False),
        ("\u0430", "a", False),  # Cyrillic
        ("a/b", "a\\b", False),
        ("a:b", "a：b", True),
        ("财务", "財務", False),
    ],
)  # fmt: skip
def test_which_names_are_one(one: str, other: str, same: bool) -> None:
    assert (normalise_name(one) == normalise_name(other)) == same


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u200d\ufe0f", "\u0085", "\u3164", " \xad "])
def test_a_name_that_shows_nothing_is_no_name(name: str) -> None:
    assert normalise_name(name) == ""
    for subject in (f"group:{name}", f"user:{name}"):
        with pytest.raises(InvalidAccess, match="not a subject"):
            allowed(subject)
    with pytest.raises(InvalidAccess, match="non-empty"):
        read_access({"allow": ["*"], "labels": [name]}, tenant="t", where="rule")
    with pytest.raises(InvalidAccess, match="tenant"):
        read_access({"allow": ["*"], "tenant": name}, tenant="t", where="rule")
    assert scope(name) == scope()
    assert scope(user=name).empty


@pytest.mark.parametrize("key", ["allow", "deny", "labels"])
def test_half_a_surrogate_pair_is_refused(key: str) -> None:
    with pytest.raises(InvalidAccess, match="surrogate"):
        read_access({"allow": ["*"], key: ["group:\ud800"]}, tenant="t", where="rule")
    with pytest.raises(InvalidAccess, match="surrogate"):
        read_access({"allow": ["*"], "tenant": "\ud800"}, tenant="t", where="rule")


@pytest.mark.parametrize("key", ["tenant", "labels", "allow", "deny"])
def test_a_name_longer_than_any_token_holds_is_refused(key: str) -> None:
    def rule(name: str) -> dict[str, object]:
        values = {"tenant": name, "labels": [name], "allow": [f"group:{name}"], "deny": [f"user:{name}"]}
        return {"allow": ["*"], key: values[key]}

    assert read_access(rule("公" * LONGEST_NAME), tenant="t", where="rule")
    with pytest.raises(InvalidAccess, match=r"rule: the name '.*'… is longer than 256 characters"):
        read_access(rule("公" * (LONGEST_NAME + 1)), tenant="t", where="rule")
    with pytest.raises(InvalidAccess, match="longer"):  # one character that is eighteen when normalised
        read_access(rule("\ufdfa" * 20), tenant="t", where="rule")
