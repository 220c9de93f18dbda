"""The topics of the timing experiment: for each, public pages and one hidden page that answers its question.

Every topic has words of its own, so that no other topic's hidden page comes near its question.
"""

from __future__ import annotations

from dataclasses import dataclass

from service.evaluation.experiments.permission_world import Page

LABEL = "vault"
_HIDDEN = {"labels": [LABEL], "allow": ["*"]}

# thing, its secret part
_ZH = (
    ("青岚水闸", "石栓"),
    ("白汀钟楼", "铜链"),
    ("落霞马厩", "木楔"),
    ("孤鹤磨坊", "风叶"),
    ("云杉酒窖", "蜡封"),
    ("旧桥织坊", "银梭"),
    ("蓝鲸船坞", "缆桩"),
    ("竹影书库", "暗格"),
    ("寒露果园", "滴管"),
    ("赤陶窑场", "火门"),
    ("雨巷邮局", "信匣"),
    ("星砂画院", "颜料"),
)
_EN = (
    ("Amberly sluice", "copper wheel"),
    ("Thornby belfry", "iron chain"),
    ("Quillan stable", "oak wedge"),
    ("Merrow windmill", "canvas sail"),
    ("Fennick cellar", "wax seal"),
    ("Oldbridge loom", "silver shuttle"),
    ("Bluewater dock", "mooring post"),
    ("Larkfield library", "hidden drawer"),
    ("Frostdale orchard", "glass dropper"),
    ("Redclay kiln", "fire door"),
    ("Rainlane post office", "letter casket"),
    ("Starsand studio", "pigment jar"),
)


@dataclass(frozen=True, slots=True)
class Topic:
    question: str
    public: tuple[Page, ...]
    hidden: Page


def _chinese(number: int, thing: str, part: str) -> Topic:
    id_ = f"zh-{number:02}"
    return Topic(
        question=f"开放{thing}以前，{part}要转动多少次？",
        public=(
            Page(f"{id_}-place", f"{thing}的位置", f"{thing}坐落在北岸。三名看守轮流住在旁边的小屋里。"),
            Page(f"{id_}-visit", f"参观{thing}", f"{thing}逢初一开放参观。参观的人在门外排队，等看守叫号。"),
        ),
        hidden=Page(
            f"{id_}-vault",
            f"{thing}的{part}",
            f"开放{thing}以前，看守把{part}转动{number + 5}次。{part}转动完毕以后，看守敲门两下。"
            f"{part}不转动，{thing}就不开放。",
            _HIDDEN,
        ),
    )


def _english(number: int, thing: str, part: str) -> Topic:
    id_ = f"en-{number:02}"
    return Topic(
        question=f"How many times is the {part} turned before the {thing} opens?",
        public=(
            Page(
                f"{id_}-place",
                f"Where the {thing} stands",
                f"The {thing} stands on the north bank. Three keepers live beside it in turns.",
            ),
            Page(
                f"{id_}-visit",
                f"Visits to the {thing}",
                f"The {thing} opens to visitors on the first of the month. Visitors wait outside for a keeper.",
            ),
        ),
        hidden=Page(
            f"{id_}-vault",
            f"The {part} of the {thing}",
            f"Before the {thing} opens, a keeper turns the {part} {number + 5} times. Once the {part} is turned, "
            f"the keeper knocks twice. Without the {part} the {thing} does not open.",
            _HIDDEN,
        ),
    )


# In pairs of languages: the copies hide every other topic, and so half of each language.
TOPICS = tuple(
    topic
    for start in range(0, len(_ZH), 2)
    for topic in (
        *(_chinese(n, *_ZH[n]) for n in (start, start + 1)),
        *(_english(n, *_EN[n]) for n in (start, start + 1)),
    )
)
