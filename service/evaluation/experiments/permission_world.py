"""The little worlds of the permission experiments: invented documents, one of them restricted, and who asks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service.access.policy import principal_of
from service.domain.rights import Principal
from service.offline.story import Offline
from service.profiles.corpus import CorpusProfile

OPEN: Mapping[str, Any] = {"allow": ["*"]}
TENANT = "demo"


@dataclass(frozen=True, slots=True)
class Page:
    """A document as it goes into a corpus."""

    document_id: str
    title: str
    text: str
    access: Mapping[str, Any] = field(default_factory=lambda: OPEN)


@dataclass(frozen=True, slots=True)
class World:
    """Public pages, and a restricted one that is the best match of the first question.

    `questions` holds that one, one that only the restricted page could answer, and one it has no part in.
    `words` occur in the restricted page alone, and in no question.
    """

    name: str
    public: tuple[Page, ...]
    restricted: Page
    words: tuple[str, ...]
    questions: tuple[str, str, str]
    permitted: Principal

    def marks(self) -> tuple[str, ...]:
        """Whatever shows that the restricted page was seen: its id, its title, its sentences, its own words."""
        page = self.restricted
        sentences = [part for part in re.split(r"(?<=[。.])\s*", page.text) if part]
        return (page.document_id, page.title, *sentences, *self.words)


def reader(*, labels: Iterable[str] = (), groups: Iterable[str] = (), name: str = "reader") -> Principal:
    return principal_of(
        tenant=TENANT, subject=name, groups=list(groups), labels=list(labels), roles=["reader"]
    )


PUBLIC = reader(name="passer-by")


def publish(offline: Offline, corpus: str, pages: Iterable[Page]) -> None:
    """Reads the pages into a corpus, builds it and makes it live."""
    lines = [
        {"documentId": p.document_id, "title": p.title, "text": p.text, "access": dict(p.access)}
        for p in pages
    ]
    with TemporaryDirectory(prefix="attest-pages-") as folder:
        source = Path(folder) / "pages.jsonl"
        source.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
        profile = CorpusProfile(name=corpus, tenant=TENANT)
        offline.ingest(corpus, [source], profile, None, lambda *_: None)
    manifest = offline.build(corpus, lambda *_: None)
    offline.publish(corpus, manifest.generation)


BUOY = World(
    name="zh",
    public=(
        Page(
            "buoy-lamp",
            "浮标站灯色",
            "浮标站在平静海况下亮绿灯。风浪超过三级时改亮黄灯。浮标站进入静默时，灯色不变。",
        ),
        Page("buoy-tide", "浮标站潮位表", "浮标站静默期间，潮位表停止更新。静默结束后二十分钟内补录潮位。"),
        Page("buoy-bell", "浮标站铜铃", "雾天由值守员每十分钟敲一次铜铃。浮标站静默时不敲铃。"),
        Page("buoy-roster", "浮标站值守", "值守员每班六小时。交班时两人一起核对铜铃和潮位表。"),
        Page("buoy-boat", "补给船", "补给船每月初五靠站，卸下灯油和淡水。"),
    ),
    restricted=Page(
        "buoy-silence",
        "浮标站静默口令",
        "浮标站进入静默时，值守员先拨下第七号铜钥，再等待四十秒。最后由值守员报出口令鲸落。",
        {"labels": ["lighthouse"], "allow": ["*"]},
    ),
    words=("第七号", "鲸落", "四十秒"),
    questions=(
        "浮标站进入静默时，值守员先做什么？",
        "拨下铜钥匙以后要报出的口令是什么？",
        "补给船什么时候靠站？",
    ),
    permitted=reader(labels=["lighthouse"], name="warden"),
)

OFFICE = World(
    name="en",
    public=(
        Page(
            "office-lamps",
            "Lamps of the lantern office",
            "The lantern office burns oil lamps until midnight. When the office goes quiet, the lamps stay lit.",
        ),
        Page(
            "office-ledger",
            "Ledger of the lantern office",
            "The second clerk writes quiet hours into the ledger. The ledger is closed every Friday.",
        ),
        Page(
            "office-hall",
            "Hall of the lantern office",
            "Visitors wait in the hall. While the lantern office is quiet, no visitor is called in.",
        ),
        Page(
            "office-clerks",
            "Clerks",
            "Two clerks serve the office. The younger one opens the shutters at dawn.",
        ),
        Page("office-nets", "Moth nets", "The moth nets are washed every nine days in cold water."),
    ),
    restricted=Page(
        "office-hush",
        "Hush order",
        "To make the lantern office go quiet, the oldest clerk turns the heron wheel eleven times. "
        "The oldest clerk then says the word marrowgate.",
        {"allow": ["group:keepers"]},
    ),
    words=("heron", "marrowgate", "eleven"),
    questions=(
        "What does the oldest clerk turn to make the lantern office go quiet?",
        "Which word does the oldest clerk say after turning the wheel?",
        "How often are the moth nets washed?",
    ),
    permitted=reader(groups=["keepers"], name="warden"),
)

WORLDS = (BUOY, OFFICE)
