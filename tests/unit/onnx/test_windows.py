"""Windows of a passage: bounded, whole, never parting a negation from what it negates, and the right ones kept."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.onnx.windows import Plan, negated, plan
from service.text.analysis import query_terms

PIECES = st.sampled_from(
    "系统 支持 断点续传 ， 。 不支持 不得超过 三次 the server does not restart , . is never sent \n PPR-9087 仅限 重试".split(
        " "
    )
)
texts = st.lists(PIECES, min_size=1, max_size=160).map(" ".join)
rooms = st.integers(40, 90)


def tokens(text: str) -> list[tuple[int, int]]:
    """As real ones: a Han character or a word each."""
    return [found.span() for found in re.finditer(r"[\u4e00-\u9fff]|[\w-]+|[^\s\w]", text)]


def planned(text: str, room: int, most: int = 1000, question: str = "") -> Plan:
    return plan(text, tokens(text), room, most, query_terms(question))


def size(text: str, span: tuple[int, int]) -> int:
    return sum(span[0] <= start and end <= span[1] for start, end in tokens(text))


@given(texts, rooms)
def test_windows_hold_every_token_and_none_holds_too_many(text: str, room: int) -> None:
    found = planned(text, room)
    assert found.complete
    assert max((size(text, span) for span in found.spans), default=0) <= room
    for start, end in tokens(text):
        assert any(a <= start and end <= b for a, b in found.spans)


@given(texts, rooms)
def test_a_negation_is_read_with_what_it_negates(text: str, room: int) -> None:
    found = planned(text, room)
    solid = [span for span in negated(text) if size(text, span)]
    for start, end in solid:
        inside = [t for t in tokens(text) if t[0] < end and t[1] > start]
        assert any(a <= inside[0][0] and inside[-1][1] <= b for a, b in found.spans)


@given(texts, rooms, st.integers(1, 3))
def test_fewer_windows_than_there_are_is_told(text: str, room: int, most: int) -> None:
    every, found = planned(text, room), planned(text, room, most, "断点续传")
    assert len(found.spans) <= most
    assert found.complete == (len(every.spans) <= most)
    assert set(found.spans) <= set(every.spans)


FILLER = "这里写的是与问题没有关系的内容，用来占去地方。" * 30


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("保修期是多少个月", "保修期为 37 个月。"),
        ("PPR9087的额定值", "ＰＰＲ－９０８７ 额定 9 bar。"),
        ("傳輸會中斷嗎", "传输不会中断。"),
        ("How long is the warranty?", "The warranty lasts 37 months. "),
    ],
)
@pytest.mark.parametrize("before", [0, 0.5, 1])
def test_the_place_of_the_hit_is_kept(question: str, said: str, before: float) -> None:
    at = int(len(FILLER) / 23 * before) // 1 * 23
    text = FILLER[:at] + said + FILLER[at:]
    found = planned(text, 60, 1, question)
    [(start, end)] = found.spans
    assert said.strip() in text[start:end]
    assert not found.complete


def test_of_two_places_the_one_that_denies_is_kept() -> None:
    text = "节点会重启。" + FILLER + "节点不会重启。" + FILLER
    [(start, end)] = planned(text, 60, 1, "节点重启").spans
    assert "节点不会重启。" in text[start:end]
