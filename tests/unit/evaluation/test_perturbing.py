"""Small changes: what they leave of a question, and how far two orders agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.evaluation.perturbing import perturbed, rank_biased_overlap, wordings
from service.profiles.ranking import load_profile
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


def test_weights_move_by_a_tenth_with_token_vectors_and_without() -> None:
    profile = load_profile("default")
    drawn = [changed for kind, changed in perturbed(profile) if kind == "weights ± 10 %"]
    assert drawn
    for changed in drawn:
        for before, after in (
            (profile, changed),
            (profile.without_tokens, changed.without_tokens),
        ):
            moved = {name: after.rerank.weights[name] / w for name, w in before.rerank.weights.items() if w}
            assert moved and all(
                share == pytest.approx(0.9) or share == pytest.approx(1.1) for share in moved.values()
            )
