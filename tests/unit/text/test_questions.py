"""What kind of answer is asked for, what is compared, under which conditions; in both languages."""

from __future__ import annotations

import pytest

from service.text.analysis import analyse
from service.text.folding import fold
from service.text.qualifiers import unheld
from service.text.questions import conditions_of, kind_of, sides_of


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("重试几次后会停止？", "value"),
        ("How many retries are there?", "value"),
        ("缓存是写入的权威来源吗？", "yes_no"),
        ("Can casual leave be carried over?", "yes_no"),
        ("怎么让过期的数据自己删掉？", "how_to"),
        ("How do I disable TTL jobs?", "how_to"),
        ("watch 和 trace 有什么区别？", "comparison"),
        ("What is the difference between redefine and retransform?", "comparison"),
        ("什么是元数据锁？", "definition"),
        ("What is a lease?", "definition"),
        ("支持哪些类型？", "list"),
        ("What options are there?", "list"),
        ("谁负责审批？", "other"),
    ],
)
def test_the_kind_of_a_question(question: str, kind: str) -> None:
    assert kind_of(fold(question)) == kind


@pytest.mark.parametrize(
    ("question", "sides"),
    [
        ("VARCHAR 和 CHAR 的最大限制有什么区别？", ("varchar", "char")),
        ("暖房的门和冷房的门有什么区别？", ("暖房的门", "冷房的门")),
        ("watch 和 trace 有什么区别？", ("watch", "trace")),
        ("请问病假与事假的区别是什么", ("病假", "事假")),
        ("What is the difference between redefine and retransform?", ("redefine", "retransform")),
        ("How does DECIMAL differ from DOUBLE?", ("decimal", "double")),
        ("Compare sick leave with casual leave", ("sick leave", "casual leave")),
        ("redefine vs retransform", ("redefine", "retransform")),
        ("任务和队列在哪里配置", ()),
        ("How many retries are there?", ()),
    ],
)
def test_both_sides_of_a_comparison(question: str, sides: tuple[str, ...]) -> None:
    assert sides_of(question) == sides


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("v6.5 以前的默认值是多少", ["before"]),
        ("Arthas 4.3.1 及更早版本怎么输入中文？", ["before"]),
        ("What was the default before v8.5?", ["before"]),
        ("从 v8.5.0 起有什么变化", ["from"]),
        ("旧版的上限是多少", ["older"]),
        ("What did older versions do?", ["older"]),
        ("Is it supported only on Linux?", ["only", "platform"]),
        ("在 Windows 上怎么启动", ["platform"]),
        ("重试几次", []),
    ],
)
def test_conditions(question: str, kinds: list[str]) -> None:
    assert [condition.kind for condition in conditions_of(question)] == kinds


@pytest.mark.parametrize(
    ("question", "found", "qualifier"),
    [
        ("How long must passwords of privileged accounts be?", "Passwords of an account: 12", "privileged"),
        ("How long must passwords of privileged accounts be?", "Privileged accounts: 16", None),
        ("特权账号的密码至少几位？", "密码至少 12 位", "特权账号"),
        ("特权账号的密码至少几位？", "特权账号的密码至少 16 位", None),
        ("密码的长度是多少？", "密码至少 12 位", None),
        ("Which current limit holds?", "The limit is 5.", None),
    ],
)
def test_a_narrower_subject_that_nothing_speaks_of(question: str, found: str, qualifier: str | None) -> None:
    missing = unheld(question, set(analyse(found)))
    assert (missing.text if missing else None) == qualifier
