"""The mutation suite on the shipped samples: every kind reaches its goal, and a verifier that sleeps would be seen."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from service.evaluation.experiments import mutating, mutations
from service.evaluation.experiments.mutating_names import chinese_names, chinese_swappers, exchanged
from service.online.citations import verify as verifier

SAMPLES = Path(__file__).parents[3] / "service" / "samples"


@pytest.fixture(scope="module")
def claims() -> list[mutations.True_]:
    documents = list(mutations.documents_of([SAMPLES]))
    return mutations.claims_of(documents, 90, random.Random(3))


def test_every_kind_of_mutant_reaches_its_goal(claims: list[mutations.True_]) -> None:
    tally = mutations.run(claims, random.Random(3))
    assert tally.below == []
    assert sum(tally.tried.values()) > 600


def test_a_verifier_that_looks_at_numbers_only_is_seen(
    claims: list[mutations.True_], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "fault_of", lambda claim, quotes: None)
    assert {"negation added", "entity swapped"} <= set(mutations.run(claims, random.Random(3)).below)


def test_what_some_mutators_do() -> None:
    chance = random.Random(1)
    assert mutating.one_less("保留 10 天。", chance) == "保留 9 天。"
    assert mutating.one_less("保留 0 天。", chance) is None
    assert mutating.chinese_one_more("最多重试三次。", chance) == "最多重试四次。"
    assert mutating.chinese_one_more("最多重试两次。", chance) == "最多重试三次。"
    for counted_by_nothing in ("第三次失败。", "十三次。", "同一个任务。", "几个。"):
        assert mutating.chinese_one_more(counted_by_nothing, chance) is None
    assert mutating.unit_swapped("耗时 3 ms。", chance) == "耗时 3 s。"
    assert mutating.unit_swapped("耗时 0 ms。", chance) is None, "nothing is as long in any unit"
    assert mutating.word_for_number_changed("The job ran twice.", chance) == "The job ran once."
    assert mutating.word_for_number_changed("一半的人同意。", chance) == "三分之一的人同意。"
    assert (
        mutating.list_reordered("支持甲乙、丙丁、戊己、庚辛等。", chance) == "支持甲乙、戊己、丙丁、庚辛等。"
    )
    assert mutating.list_reordered("以甲乙、丙丁为食。", chance) is None, "the first item holds a verb"


def test_chinese_names_are_told_by_their_marks_their_endings_and_the_dictionary() -> None:
    text = "查尔斯·达尔文的《物种起源》在伦敦出版，张学良在上海大学讲“进化”。"
    assert [(name.kind, name.text) for name in chinese_names(text)] == [
        ("person", "查尔斯·达尔文"),
        ("title", "物种起源"),
        ("place", "伦敦"),
        ("person", "张学良"),
        ("organisation", "上海大学"),
        ("title", "进化"),
    ]


def test_a_name_gives_way_to_one_of_its_kind_of_the_same_document_first() -> None:
    near, everywhere = (
        {"place": ["北京", "北京市", "西安"]},
        {"place": ["北京", "西安", "广州"], "person": ["蒋介石"]},
    )
    swappers = chinese_swappers(near, everywhere)
    text = "张学良在北京讲学。"
    assert swappers["Chinese place swapped"](text, random.Random(1)) == "张学良在西安讲学。"
    assert swappers["Chinese person swapped"](text, random.Random(1)) == "蒋介石在北京讲学。"
    assert swappers["Chinese organisation swapped"](text, random.Random(1)) is None


def test_names_of_one_list_are_not_exchanged() -> None:
    assert exchanged("张学良扣押了蒋介石。", random.Random(1)) == "蒋介石扣押了张学良。"
    assert exchanged("张学良和蒋介石会面。", random.Random(1)) is None
