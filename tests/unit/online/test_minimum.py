"""The least evidence for a question of its kind: what is missing is named, and nothing else is refused."""

from __future__ import annotations

import pytest

from service.online.answering.extractive import AnswerRequest, propose
from service.online.answering.minimum import lacking, unanswered
from service.online.question import analyse
from service.text.qualifiers import qualifiers
from tests.unit.online.test_answering import SETTINGS, evidence, unused


def request(question: str, *texts: str) -> AnswerRequest:
    analysis = analyse(question)
    packed = tuple(evidence(text, place) for place, text in enumerate(texts, 1))
    return AnswerRequest(
        question,
        analysis.terms,
        analysis.hard,
        analysis.asks_value,
        vector=None,
        evidence=packed,
        settings=SETTINGS,
        embed=unused,
        kind=analysis.kind,
        sides=analysis.sides,
        conditions=analysis.conditions,
    )


def part(question: str, *texts: str) -> str | None:
    """What the gap names, at the first look or at the second."""
    asked = request(question, *texts)
    gap = lacking(asked) or unanswered(asked, propose(asked))
    return gap.part if gap else None


@pytest.mark.parametrize(
    ("question", "texts", "missing"),
    [
        # A side of a comparison.
        ("年假和病假有什么区别？", ["年假每年十天。", "病假每年十五天。"], None),
        ("年假和婚假有什么区别？", ["年假每年十天。", "病假每年十五天。"], "comparison_side"),
        # A platform, earlier versions.
        ("在 Linux 上怎么安装代理？", ["在 Linux 上安装代理：运行安装脚本。"], None),
        ("在 Linux 上怎么安装代理？", ["在 Windows 上安装代理：运行安装程序。"], "condition"),
        ("旧版本怎么安装代理？", ["安装代理：运行安装脚本。"], "condition"),
        ("旧版本怎么安装代理？", ["在 v2.0 之前，安装代理要先编译。"], None),
        # Another version, a sibling.
        ("控制器 4.2 版的采样间隔是多少秒？", ["控制器 4.1 版的采样间隔是 45 秒。"], "condition"),
        ("控制器 4.2 版的采样间隔是多少秒？", ["控制器 4.1 版起，采样间隔是 45 秒。"], None),
        ("Must the beam be removed before steam cleaning?", ["Before dry cleaning the beam need not be removed."], "condition"),
        ("Must the beam be removed before steam cleaning?", ["Before steam cleaning the beam must be removed."], None),
        # The general rule is none for the few.
        ("特权账号的密码多久更换一次？", ["密码每 90 天更换一次。"], "qualifier"),
        ("特权账号的密码多久更换一次？", ["特权账号的密码每 30 天更换一次。"], None),
        ("How often do privileged accounts change passwords?", ["All accounts change passwords every 90 days."], "qualifier"),
        ("How often do privileged accounts change passwords?", ["Accounts with privileges change passwords every 30 days."], None),
        ("Who sold liquid oxygen for commercial use?", ["Liquid oxygen for use was sold commercially by a firm."], None),
        # A value.
        ("备份在几点开始？", ["备份在凌晨四点开始。"], None),
        ("When does the backup start?", ["The backup starts at 4 am."], None),
        ("任务最多重试几次？", ["任务可以重试。"], "value"),
        # A yes or a no.
        ("是否支持自动重试？", ["是否支持自动重试？"], "polarity"),
        ("是否支持自动重试？", ["任务不支持自动重试。"], None),
    ],
)  # fmt: skip
def test_what_is_missing_is_named(question: str, texts: list[str], missing: str | None) -> None:
    assert part(question, *texts) == missing


@pytest.mark.parametrize(
    "question",
    [
        "What was later discovered written by Luther?",  # said of the subject
        "What group is Newcastle native Andy Taylor the guitarist of?",  # before a name
        "What is the default value?",
        "所有人的密码多久更换？",
    ],
)
def test_what_narrows_nothing_is_no_qualifier(question: str) -> None:
    assert qualifiers(question) == ()
