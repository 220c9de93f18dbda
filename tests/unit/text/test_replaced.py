"""Sentences that are alike but for one thing: found whatever the thing is, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from service.text.replaced import all_but_one, exchanges


@pytest.mark.parametrize(
    ("one", "other", "frame"),
    [
        ("The game was played in Tampa, Florida.", "The game was played in Glendale, Arizona.", "the game was played in  ."),
        ("影片由陈凯歌执导。", "影片由張藝謀執導。", "影片由 执导。"),
        ("影片由加里·罗斯执导并监制。", "影片由詹姆斯·卡梅隆执导并监制。", "影片由 执导并监制。"),
        ("Wang leads IT; ask Wang.", "Li leads IT; ask Li.", "  leads it; ask  ."),
        ("河内，越南的首都。", "胡志明市，越南的首都。", " ,越南的首都。"),
        ("Wang leads IT.", "Wang leads IT.", None),
        ("Wang leads IT.", "Wang leads IT now.", None),
        ("Wang leads IT in Bonn and has done so for long.", "Li leads IT in Rome and has done so for long.", None),
        ("Wang leads IT.", "Li met Wu.", None),
        ("Wang leads IT; ask Wang.", "Li leads IT; ask Wu.", None),
        ("", "", None),
        ("…", "Wang", None),
    ],
)  # fmt: skip
def test_one_thing_stands_in_the_place_of_another(one: str, other: str, frame: str | None) -> None:
    found = all_but_one(one, other)
    assert found == frame if frame is None else " ".join((found or "").split()) == " ".join(frame.split())
    assert exchanges(one, other) == exchanges(other, one)


_WORDS = st.lists(st.sampled_from("pump valve rotor 阀门 泵 seal opens 关闭".split()), min_size=4, max_size=9)
_NAME = st.lists(st.sampled_from("wang li 王敏 smith oslo 巴黎".split()), min_size=1, max_size=2)


@given(_WORDS, _NAME, _NAME, st.integers(0, 9))
def test_whatever_the_name_is(words: list[str], name: list[str], another: list[str], at: int) -> None:
    assume(not set(name) & set(another))
    one, other = (" ".join([*words[:at], *put, *words[at:]]) for put in (name, another))
    assume(len("".join(words)) > 2 * max(len("".join(put)) for put in (name, another)))
    frame = all_but_one(one, other)
    assert frame is not None and frame.split() == words
    assert exchanges(one, other)


@given(st.text(), st.text())
def test_any_text_will_do(one: str, other: str) -> None:
    assert all_but_one(one, one) is None and not exchanges(one, one)
    if all_but_one(one, other) is not None:
        assert exchanges(one, other)
