"""Names spelled in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.anchors import find_anchors
from service.text.respelling import respelled


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("tidb mem quota query 的默认值", "tidb_mem_quota_query"),
        ("tidb-mem-quota-query 的默认值", "tidb_mem_quota_query"),
        ("ｃｏｄｅ　ｃａｃｈｅ 是什么", "code_cache"),
        ("how large is the Code Cache?", "code_cache"),
        ("replay times", "replaytimes"),
        ("tidb_mem quota_query", "tidb_mem_quota_query"),
    ],
)
def test_words_spell_the_name_that_documents_have(question: str, name: str) -> None:
    assert name in respelled(question)
    (anchor,) = find_anchors(name) or (None,)
    assert anchor is None or anchor.canonical in respelled(question)


@pytest.mark.parametrize(
    "question", ["tidb_mem_quota_query", "重试次数是多少", "memory", "is it on?", "a; b. c"]
)
def test_what_is_no_run_of_words_spells_nothing(question: str) -> None:
    assert not respelled(question)


def test_function_words_stand_inside_a_name_only() -> None:
    assert set(respelled("what is fallback to tikv")) == {"fallback_to_tikv", "fallbacktotikv"}


@given(
    st.text(max_size=2000)
    | st.lists(st.sampled_from(["tidb", "mem", "on", "x1"]), max_size=400).map(" ".join)
)
def test_a_long_question_asks_for_a_bounded_number_of_names(question: str) -> None:
    assert len(respelled(question)) <= 160
