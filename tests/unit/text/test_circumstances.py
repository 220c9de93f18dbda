"""Another version, a sibling, a part of the subject: and what is none of them."""

from __future__ import annotations

import pytest

from service.text.circumstances import NARROWER, SIBLING, another_case, another_version


@pytest.mark.parametrize(
    ("question", "passage", "another"),
    [
        ("4.2 版的采样间隔是多少？", "4.1 版的采样间隔是 45 秒。", True),
        ("4.2 版的采样间隔是多少？", "4.1 版起，采样间隔是 45 秒。", False),
        ("4.2 版的采样间隔是多少？", "4.3 版以前，采样间隔是 45 秒。", False),
        ("4.2 版的采样间隔是多少？", "4.3 版起，采样间隔是 45 秒。", True),
        ("4.2 版的采样间隔是多少？", "4.1 版是 45 秒，4.2 版是 12 秒。", False),
        ("Does v7.1 support it?", "Supported in version 7.1.3.", False),
        ("Does v7.1 support it?", "Supported since v6.5.", False),
        ("Does v7.1 support it?", "Supported in v8.0.", True),
        ("What changed since v7.1?", "In v8.0 the default is 3.", False),
        ("v7.1 的占比是多少？", "占比是 8.5%。", False),
        ("多少？", "4.1 版的采样间隔是 45 秒。", False),
    ],
)
def test_versions(question: str, passage: str, another: bool) -> None:
    assert another_version(question, passage) is another
    assert (another_case(question, passage) == SIBLING) is another


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("霜冻预警期间，喷头打开还是关闭？", "高温预警期间，喷头应当打开。"),
        ("夜里可以给育苗棚通风吗？", "夜里可以给成株棚通风。"),
        ("磁盘故障时怎么办？", "网络故障时自动切换。"),
        ("Must the beam be taken out before steam cleaning?", "Before dry cleaning the beam stays in."),
        ("May I take photographs in the dye room?", "Photographs may be taken in the weaving room."),
    ],
)
def test_a_sibling_is_another_case(question: str, passage: str) -> None:
    assert another_case(question, passage) == SIBLING


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("滴灌阀卡住时冲洗几次？", "试用的滴灌阀卡住时不设上限。"),
        (
            "How often may a jammed shuttle be restarted?",
            "A shuttle of the practice loom is restarted at will.",
        ),
    ],
)
def test_a_part_of_the_subject_is_half_another_case(question: str, passage: str) -> None:
    assert another_case(question, passage) == NARROWER


@pytest.mark.parametrize(
    ("question", "passage"),
    [
        ("霜冻预警期间，喷头打开还是关闭？", "霜冻预警期间，喷头应当关闭。"),
        ("霜冻预警期间，喷头打开还是关闭？", "高温预警期间打开，霜冻预警期间关闭。"),
        ("网络故障时怎么办？", "发生故障时自动切换。"),
        ("夜里可以给育苗棚通风吗？", "白天可以给育苗棚通风。"),
        ("Must the beam be taken out before steam cleaning?", "The beam is taken out before cleaning."),
        ("May I take photographs in the dye room?", "Photographs may be taken in our houses."),
        ("试用的滴灌阀卡住时冲洗几次？", "试用的滴灌阀卡住时不设上限。"),
        ("For how many hours does the small mould cool?", "The small mould cools for nine hours."),
        ("In which year was the bridge built?", "The bridge was built in the second year of the war."),
        ("怎么办？", ""),
    ],
)  # fmt: skip
def test_the_same_case_or_none_that_a_form_tells(question: str, passage: str) -> None:
    assert another_case(question, passage) == 0
