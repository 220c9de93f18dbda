"""Follow-ups: resolved from the question before by rules, or told as open; anchors stand as written."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.anchors import find_anchors
from service.text.followup import Open, Resolved, resolve

CASES = [
    # another model, code, option, version
    ("X200 的保修期是多久？", "那 X300 呢？", "X300 的保修期是多久？"),
    ("X200 的保修期是多久？", "X300？", "X300 的保修期是多久？"),
    ("v6.5 的默认隔离级别是什么？", "换成 v7.1 呢？", "v7.1 的默认隔离级别是什么？"),
    ("watch 的 -x 是什么？", "那 -b 呢？", "watch 的 -b 是什么？"),
    ("错误码 8001 怎么处理？", "那 8020 呢？", "错误码 8020 怎么处理？"),
    ("How long is the warranty of the X200?", "What about the X300?", "How long is the warranty of the X300?"),
    ("How long is the warranty of the X200?", "And for the X300?", "How long is the warranty of the X300?"),
    ("What does error 8001 mean?", "What about error 8020?", "What does error 8020 mean?"),
    ("What does error 8001 mean?", "And 8020?", "What does error 8020 mean?"),
    # another time, platform
    ("2023 年的差旅标准是多少？", "那 2024 年呢？", "2024 年的差旅标准是多少？"),
    ("差旅标准是多少？", "那 2024 年呢？", "2024 年，差旅标准是多少？"),
    ("怎么在 Linux 上安装？", "那 Windows 呢？", "怎么在 Windows 上安装？"),
    ("What was the travel limit in 2023?", "And in 2024?", "What was the travel limit in 2024?"),
    ("How do I install it on Linux?", "On Windows?", "How do I install it on Windows?"),
    # another thing of the kind
    ("年假有多少天？", "那病假呢？", "病假有多少天？"),
    ("食堂几点开门？", "那健身房呢？", "健身房几点开门？"),
    ("How many days of annual leave are there?", "And for sick leave?", "How many days of sick leave are there?"),
    ("How long is the warranty period?", "what about the return period?", "How long is the return period?"),
    ("When does the kitchen open?", "What about the gym?", "When does the gym open?"),
    # pronouns
    ("X200 的保修期是多久？", "它支持快充吗？", "X200 支持快充吗？"),
    ("X200 的保修期是多久？", "它的价格是多少？", "X200 的价格是多少？"),
    ("X200 的保修期是多久？", "该产品多重？", "X200 多重？"),
    ("How long is the warranty of the X200?", "Does it support fast charging?", "Does X200 support fast charging?"),
    ("How long is the warranty of the X200?", "What is its price?", "What is X200's price?"),
    ("When does the kitchen open?", "And when does it close?", "And when does the kitchen close?"),
]  # fmt: skip


@pytest.mark.parametrize(("standing", "text", "question"), CASES)
def test_what_is_settled(standing: str, text: str, question: str) -> None:
    found = resolve(text, standing)
    assert isinstance(found, Resolved)
    assert found.question == question
    assert found.how != "itself"


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        (None, "那 X300 呢？"),
        (None, "它多重？"),
        (None, "What about the X300?"),
        (None, "Does it support fast charging?"),
        ("X200 和 X300 有什么区别？", "那 X400 呢？"),
        ("X200 和 X300 有什么区别？", "它多重？"),
        ("How do the X200 and the X300 differ?", "How heavy is it?"),
        ("How do the X200 and the X300 differ?", "What about the X400?"),
        ("怎么重启？", "它会丢数据吗？"),
        ("怎么重启？", "那怎么办呢？"),
        ("How long is the warranty period?", "X300?"),
        ("Who approves travel?", "What about expenses above the limit for contractors?"),
    ],
)
def test_what_stays_open_is_told(standing: str | None, text: str) -> None:
    assert isinstance(resolve(text, standing), Open)


@pytest.mark.parametrize(
    ("standing", "text"),
    [
        ("年假有多少天？", "病假需要证明吗？"),
        ("年假有多少天？", "如果任务失败，它会进入哪里？"),
        ("How long is the warranty?", "How do I reset my password if I forget it?"),
        ("How long is the warranty?", "Is it possible to extend the warranty?"),
        ("How long is the warranty?", "When a task fails, where does it go?"),
        (None, "年假有多少天？"),
    ],
)
def test_what_stands_by_itself_is_left_alone(standing: str | None, text: str) -> None:
    assert resolve(text, standing) == Resolved(text, "itself")


def test_turns_follow_each_other() -> None:
    question = "X200 的保修期是多久？"
    for text in ("那 X300 呢？", "它支持快充吗？", "那 X500 呢？"):
        found = resolve(text, question)
        assert isinstance(found, Resolved)
        question = found.question
    assert question == "X500 支持快充吗？"


_MODELS = st.from_regex(r"[A-Z]{1,3}-?[0-9]{2,4}[A-Z]?", fullmatch=True)
_FORMS = st.sampled_from(
    ["那 {} 呢？", "换成 {} 呢", "What about the {}?", "And for {}?", "{}?", "它和 {} 兼容吗？"]
)
_STANDING = st.sampled_from(
    ["{} 的保修期是多久？", "How long is the warranty of the {}?", "{} 和 A1 有什么区别？"]
)


@given(_MODELS, _FORMS, _MODELS, _STANDING)
def test_anchors_are_never_rewritten(new: str, form: str, old: str, standing: str) -> None:
    text = form.format(new)
    found = resolve(text, standing.format(old))
    if isinstance(found, Resolved):
        assert all(anchor.text in found.question for anchor in find_anchors(text))


@given(st.text(max_size=60), st.none() | st.text(max_size=60))
def test_whatever_is_said_is_resolved_or_open(text: str, standing: str | None) -> None:
    found = resolve(text, standing)
    assert found == resolve(text, standing)
    if isinstance(found, Resolved):
        assert all(anchor.text in found.question for anchor in find_anchors(text))
        assert len(found.question) <= len(text) + len(standing or "") + 8
