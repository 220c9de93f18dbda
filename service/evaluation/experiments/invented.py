"""Invented documents with rights, zh and en, and the questions they answer: made from a seed, so that a run can be
repeated, of made-up names, so that no model knows them.

Some subjects have several documents under different rights that give its attributes different values: what a reader
may see contradicts what is hidden from them, or is all there is.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

DEPARTMENTS = ("engineering", "finance", "people", "sales", "support")
LEVELS = ("confidential", "board")
_SYLLABLES = "ba do fe gu ki lo mar nel o pra qui ras sel tun vor wex yan zim".split()
_HAN = "岚榕砚霁汀珩澜苔芷衡璇筠桁墨瓴岑"
# (attribute, unit, low, high)
_ATTRIBUTES = {
    "en": (
        ("retention period", "days", 7, 400),
        ("approval limit", "euros", 100, 9000),
        ("response time", "minutes", 5, 240),
        ("storage quota", "GB", 10, 900),
        ("number of signatures", "signatures", 2, 9),
        ("inspection interval", "weeks", 1, 60),
        ("rated power", "kW", 1, 500),
        ("queue length", "messages", 100, 9000),
        ("warranty", "months", 6, 60),
        ("backup window", "hours", 1, 12),
    ),
    "zh": (
        ("保留期限", "天", 7, 400),
        ("审批限额", "元", 100, 9000),
        ("响应时限", "分钟", 5, 240),
        ("存储配额", "GB", 10, 900),
        ("签字人数", "人", 2, 9),
        ("巡检周期", "周", 1, 60),
        ("额定功率", "kW", 1, 500),
        ("队列长度", "条", 100, 9000),
        ("质保时间", "个月", 6, 60),
        ("备份窗口", "小时", 1, 12),
    ),
}
_KINDS = {
    "en": ("ledger", "turbine", "archive", "gateway", "workshop"),
    "zh": ("台账", "机组", "档案库", "网关", "工坊"),
}


@dataclass(frozen=True, slots=True)
class Invented:
    """A document line of a JSONL source, and a question that it answers."""

    line: dict[str, Any]
    question: str


def invent(count: int, seed: int) -> Iterator[Invented]:
    """`count` documents; most subjects have one, some several."""
    chance = random.Random(seed)
    number = 0
    while number < count:
        language = chance.choice(("en", "zh"))
        subject = _subject(language, chance)
        for _ in range(chance.choice((1, 1, 1, 2, 4))):
            if number < count:
                yield _document(number, language, subject, chance)
                number += 1


def _subject(language: str, chance: random.Random) -> str:
    kind = chance.choice(_KINDS[language])
    if language == "zh":
        return "".join(chance.sample(_HAN, 2)) + kind
    return "".join(chance.sample(_SYLLABLES, 3)).capitalize() + f" {kind}"


def _document(number: int, language: str, subject: str, chance: random.Random) -> Invented:
    sentences = []
    attributes = chance.sample(_ATTRIBUTES[language], 3)
    for name, unit, low, high in attributes:
        value = chance.randint(low, high)
        zh, en = f"{subject}的{name}为 {value} {unit}。", f"The {name} of the {subject} is {value} {unit}."
        sentences.append(zh if language == "zh" else en)
    name = attributes[0][0]
    question = f"{subject}的{name}是多少？" if language == "zh" else f"What is the {name} of the {subject}?"
    gap = "" if language == "zh" else " "
    line = {
        "documentId": f"invented/{number:05d}",
        "title": f"{subject}（{number}）" if language == "zh" else f"{subject}, note {number}",
        "text": gap.join(sentences),
        "access": _rights(chance),
    }
    return Invented(line, question)


def _rights(chance: random.Random) -> dict[str, Any]:
    if chance.random() < 0.35:
        return {"allow": ["*"]}
    rights: dict[str, Any] = {
        "allow": [f"group:{d}" for d in chance.sample(DEPARTMENTS, chance.randint(1, 2))]
    }
    if chance.random() < 0.3:
        rights["labels"] = [chance.choice(LEVELS)]
    if chance.random() < 0.1:
        rights = {"allow": ["*"], "deny": [f"group:{chance.choice(DEPARTMENTS)}"]}
    return rights
