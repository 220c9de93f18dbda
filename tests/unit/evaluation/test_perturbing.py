"""Small changes: what they leave of a question, and how far two orders agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.perturbing import rank_biased_overlap, wordings
from service.text.anchors import find_anchors, is_hard

orders = st.lists(st.sampled_from("abcdefghijklmn"), unique=True, max_size=12)


@given(orders, orders)
def test_overlap_is_one_for_the_same_first_ten_and_never_leaves_its_bounds(
    one: list[str], two: list[str]
) -> None:
    assert rank_biased_overlap(one, one) == pytest.approx(1.0)
    assert rank_biased_overlap(one, two) == rank_biased_overlap(two, one)
    assert -1e-9 <= rank_biased_overlap(one, two) <= 1 + 1e-9


def test_the_top_counts_for_more() -> None:
    order = list("abcdefghij")
    low, high = [*order[:8], "j", "i"], ["b", "a", *order[2:]]
    assert 1 > rank_biased_overlap(order, low) > rank_biased_overlap(order, high) > 0.5
    assert rank_biased_overlap(order, list("klmnopqrst")) == 0


@pytest.mark.parametrize(
    "query",
    [
        "TiDB 的 tidb_mem_quota_query 默认值是多少？",
        "How long is the warranty period of the PPR-9087?",
        "内存?",
        "hi",
    ],
)
def test_names_stay_and_the_same_case_is_changed_in_the_same_way(query: str) -> None:
    def names(text: str) -> set[str]:
        return {a.canonical for a in find_anchors(text) if is_hard(a)}

    made = list(wordings(query, "case"))
    assert made == list(wordings(query, "case"))
    for _, text in made:
        assert text != query and names(query) <= names(text)


def test_a_typo_is_of_one_character_and_turned_words_are_the_same_words() -> None:
    query = "How long is the warranty period of pumps?"
    made = dict(wordings(query, "case"))
    assert (
        sorted(made["typo"]) == sorted(query)
        and sum(a != b for a, b in zip(made["typo"], query, strict=True)) == 2
    )
    assert sorted(made["word order"].rstrip("?").split()) == sorted(query.rstrip("?").split())
