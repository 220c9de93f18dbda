"""What a written claim may say of its quotes: every clause from one of them, nothing turned round, nothing left out."""

from __future__ import annotations

import pytest

from service.text.support import Fault, Verdict, fault_of, verdict_of

RETRY = "任务失败后最多自动重试三次，除非管理员关闭了重试。"
UPGRADE = "If the cluster runs version 6.5 or later, users cannot change the port without a restart."
BUDGET = "年度预算为 1,200.00 万元，增长 12%。"


@pytest.mark.parametrize(
    ("claim", "quotes"),
    [
        (RETRY, [RETRY]),
        ("任务失败后最多自动重试 3 次，除非管理员关闭了重试 [S1]", [RETRY]),
        ("任務失敗後最多自動重試三次，除非管理員關閉了重試。", [RETRY]),
        (UPGRADE.lower(), [UPGRADE]),
        ("年度预算为一千二百万元", [BUDGET]),
        ("增长百分之十二", [BUDGET]),
        ("第二次仍漏液时移入观察柜", ["第二次仍漏液，移入观察柜。"]),
        ("The queue and the cache need the broker.", ["The cache and the queue need the broker."]),
        ("支持数组和对象", ["支持对象、数组和字符串。"]),
        ("Supports MySQL, Redis and Kafka.", ["Supports Kafka, Redis and MySQL."]),
        ("年度预算为 1200 万元；密码至少 8 位", [BUDGET, "密码至少 8 位。"]),
        # A number's subject may stand in a clause before it.
        ("A 产品 2020 年售价 6 元。", ["A 产品 2019 年售价 5 元，2020 年售价 6 元。"]),
        # What is added is no exception.
        ("支持 Redis 协议。", ["除了支持 MySQL，还支持 Redis 协议。"]),
        ("除周末外每天开放。", ["除周末外，每天开放。"]),
        ("The club won the cup two times.", ["The club won the cup twice."]),
        ("50% 的成员离开了。", ["一半的成员离开了。"]),
        ("They bought 12 eggs.", ["They bought a dozen eggs."]),
        ("会议开 30 分钟。", ["会议开半小时。"]),
    ],
)
def test_what_the_quotes_say_is_supported(claim: str, quotes: list[str]) -> None:
    assert fault_of(claim, quotes) is None


@pytest.mark.parametrize(
    ("claim", "quotes", "fault"),
    [
        ("任务失败后最多自动重试三次。", [RETRY], "condition"),
        ("备份速度为每线程 20 MiB。", ["在线程较少的时候，备份速度为每线程 20 MiB。"], "condition"),
        ("默认的压缩算法是 `lz4`。", ["在 v7.6.0 之前的版本，默认的压缩算法是 `lz4`。"], "condition"),
        ("最多提供 262144 个编号。", ["在一个更新周期内 (50ms)，最多提供 262144 个编号。"], "condition"),
        ("任务失败后至少自动重试三次，除非管理员关闭了重试。", [RETRY], "turned"),
        ("任务失败后最多自动重试四次，除非管理员关闭了重试。", [RETRY], "quantity"),
        ("任务失败后最多手动重试三次，除非管理员关闭了重试。", [RETRY], "words"),
        ("Users cannot change the port without a restart.", [UPGRADE], "condition"),
        (UPGRADE.replace("cannot change", "change"), [UPGRADE], "turned"),
        (UPGRADE.replace("port", "name"), [UPGRADE], "words"),
        (UPGRADE.replace("6.5", "6.6"), [UPGRADE], "identifier"),
        # Each half is true of one source; together they are true of none.
        ("密码至少 1200 万元", [BUDGET, "密码至少 8 位。"], "quantity"),
        ("X-77 的电流为 24 A", ["X-77 的电流为 7 A。", "X-78 的电流为 24 A。"], "quantity"),
        # One 4 of the source cannot stand for two.
        ("写入时值为 4，读取时值为 4", ["写入时值为 4，读取时值为 3。"], "quantity"),
        # Who does what to whom.
        ("Redis replaces Kafka.", ["Kafka replaces Redis."], "order"),
        ("Redis 取代 Kafka", ["Kafka 取代 Redis。"], "order"),
        ("经理批准主管的申请", ["主管批准经理的申请。"], "order"),
        ("It is the one.", ["The warranty period is 12 months."], "nothing"),
        ("Once it stopped, Redis failed.", ["It stopped, Redis failed."], "words"),
        ("The club won the cup once.", ["The club won the cup twice."], "quantity"),
        ("The club won the cup three times.", ["The club won the cup twice."], "quantity"),
        ("It runs twice a day.", ["It runs once a day."], "quantity"),
        ("It takes an hour.", ["It takes half an hour."], "quantity"),
        ("A third of the members left.", ["Half of the members left."], "quantity"),
        ("They bought two dozen eggs.", ["They bought a dozen eggs."], "quantity"),
        ("他结过三次婚。", ["他结过两次婚。"], "quantity"),
        ("他去过两次北京。", ["他去过一次北京。"], "quantity"),
        ("三分之一的成员离开了。", ["一半的成员离开了。"], "quantity"),
        ("会议开了两小时。", ["会议开了两个半小时。"], "quantity"),
        # The other station's distance: it is named only later, with a number of its own.
        ("距绥芬河站 272 公里。", ["距哈尔滨站 272 公里，绥芬河站 276 公里。"], "quantity"),
        ("每天开放。", ["除周末外，每天开放。"], "condition"),
        ("It is not only available on Linux.", ["It is only available on Linux."], "turned"),
        ("The museum is open.", ["Except on Mondays, the museum is open."], "condition"),
        ("湖中有同样的鱼种。", ["湖中有同样的鱼种，除了淡水鲨鱼。"], "condition"),
        ("它默默无闻。", ["它默默无闻，但在 1960 年，大会以它命名单位。"], "condition"),
        (
            "当前允许一部分函数，即生产中仅允许这些。",
            ["当前仅允许一部分函数，即生产中仅允许这些。"],
            "turned",
        ),
        ("是否回放只读语句。", ["是否仅回放只读语句。"], "turned"),
        ("删除指定名称及之前的当前保存点。", ["删除指定名称及之后的当前保存点。"], "words"),
        # Two negations where the source has one.
        ("A 不支持写入，B 不支持读取", ["A 支持写入，B 不支持读取。"], "turned"),
        ("范围不是 `[-1, 1]`", ["范围是 `[-1, 1]`。"], "turned"),
    ],
)
def test_what_they_do_not_say_is_refused(claim: str, quotes: list[str], fault: Fault) -> None:
    assert fault_of(claim, quotes) == fault


WARRANTY = ["The warranty period is 12 months.", "Batteries are excluded from the warranty."]


@pytest.mark.parametrize(
    ("claim", "quotes", "verdict"),
    [
        (WARRANTY[0], WARRANTY, "supported"),
        # A synonym, a paraphrase, another voice, a translation: not shown, and not shown to be wrong.
        ("The guarantee lasts 12 months.", WARRANTY, "undecided"),
        ("Batteries are not covered.", WARRANTY, "undecided"),
        ("The warranty excludes batteries.", WARRANTY, "undecided"),
        ("质保期为 12 个月。", WARRANTY, "undecided"),
        ("失败的任务最多会再跑三次，除非管理员关闭了重试。", [RETRY], "undecided"),
        # A number that no quote has, whatever the words; a number of another sentence.
        ("The guarantee lasts 77 months.", WARRANTY, "unsupported"),
        ("The warranty period is 77 months.", WARRANTY, "unsupported"),
        ("The warranty period is 30 days.", [*WARRANTY, "Returns are taken within 30 days."], "unsupported"),
        ("密码至少 1200 万元", [BUDGET, "密码至少 8 位。"], "unsupported"),
        # Another name, the opposite, a condition left out, nothing said.
        (UPGRADE.replace("6.5", "6.6"), [UPGRADE], "unsupported"),
        ("Batteries are not excluded from the warranty.", WARRANTY, "unsupported"),
        ("任务失败后最多自动重试三次。", [RETRY], "unsupported"),
        ("It is the one.", WARRANTY, "unsupported"),
        # One clause that is wrong decides over one that cannot be told.
        ("The guarantee is worldwide, the warranty period is 77 months.", WARRANTY, "unsupported"),
    ],
)
def test_what_is_shown_to_be_wrong_is_told_from_what_cannot_be_decided(
    claim: str, quotes: list[str], verdict: Verdict
) -> None:
    assert verdict_of(fault_of(claim, quotes)) == verdict
