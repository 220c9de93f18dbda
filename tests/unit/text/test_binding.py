"""A condition and its consequence, a rule and its exception: which sentences are not parted."""

from __future__ import annotations

import pytest

from service.text.binding import bound


@pytest.mark.parametrize(
    "second",
    [
        "第三次仍失败时，消息进入隔离队列。", "若第三次仍失败，消息进入隔离队列。", "如果仍失败，联系管理员。",
        "否则返回错误。", "除非管理员批准。", "但不超过一小时。", "然而备份照常进行。", "- 否则跳过。", "2. 但不重试。",
        "Otherwise it is rejected.", "However, backups go on.", "Unless an administrator agrees.", "> but not twice",
        "If the third attempt fails, the message is moved.", "If not, stop.", "But only once.", "第三次仍失敗，進入隔離。",
    ],
)  # fmt: skip
@pytest.mark.parametrize("gap", ["", "\n\n"])
def test_what_takes_up_the_rule_stays_with_it(second: str, gap: str) -> None:
    assert bound("同一任务最多自动重试三次。", gap, second)


@pytest.mark.parametrize("second", ["如果磁盘满，停止写入。", "若超时，重试。", "当时间到，停止。", "If full, stop.", "When idle, sleep."])  # fmt: skip
def test_a_condition_stays_within_its_paragraph(second: str) -> None:
    assert bound("写入前检查磁盘。", " ", second)
    assert not bound("写入前检查磁盘。", "\n\n", second)
    assert not bound("写入前检查磁盘。", "\n", f"- {second}")


@pytest.mark.parametrize("second", ["当前版本是二。", "若干节点在线。", "当时无人在场。", "第三次发布在十月。", "Ifrit is a name.", "Butter melts.", "设备保修两年。"])  # fmt: skip
def test_lookalikes_lean_on_nothing(second: str) -> None:
    assert not bound("写入前检查磁盘。", " ", second)


def test_what_introduces_stays_with_what_follows() -> None:
    assert bound("满足以下任一条件时重试：", "\n\n", "- 网络超时")
    assert bound("**适用条件:**", "\n\n", "任务已登记。")
    assert bound("磁盘满时，", "", "停止写入。")
    assert not bound("磁盘满时；", "\n\n", "停止写入。")
