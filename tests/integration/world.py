"""A small corpus on a real engine with the real model, and who asks it: for tests of rights."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from service.access.policy import principal_of
from service.adapters.sealed_cache import SealedCache
from service.bootstrap import Services
from service.domain.answers import GroundedAnswer, Question, SearchResult
from service.domain.generations import Generation, Manifest
from service.domain.ports import Engine
from service.domain.rights import Access, Principal
from service.offline.rights import RightsChange, change_rights
from service.offline.story import IngestReport, Offline
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile
from tests.fakes.shelf import Shelf

CORPUS = "handbook"
NOW = "2026-12-02T00:00:00+00:00"
EVERYBODY = Access("demo", frozenset({"public"}), frozenset({"*"}))
HR_ONLY = Access("demo", frozenset({"public"}), frozenset({"group:hr"}))
PAY = "On which day are salaries paid?"
WARRANTY = "How long is the warranty period?"
FILES = {
    "warranty.md": "# Warranty\n\nThe warranty period is 12 months.\n",
    "pay.md": '---\naccess:\n  allow: ["group:hr"]\n---\n# Pay\n\nSalaries are paid on day 25 of the month.\n',
    "kitchen.md": "# Kitchen\n\nThe kitchen opens at eight in the morning.\n",
}


def who(name: str, *groups: str, tenant: str = "demo", labels: tuple[str, ...] = ()) -> Principal:
    return principal_of(
        tenant=tenant, subject=name, groups=list(groups), labels=list(labels), roles=["reader", "inspect"]
    )


ALICE = who("alice", "eng")
BOB = who("bob", "eng", "hr")


@dataclass
class World:
    """One corpus, its folder of sources, and the two paths over it."""

    services: Services
    folder: Path
    shelf: Shelf
    online: Online

    @classmethod
    def of(cls, services: Services, folder: Path) -> World:
        shelf = Shelf()
        online = dataclasses.replace(services.online, cache=SealedCache(shelf, b"s" * 32))
        return cls(services, folder, shelf, online)

    @property
    def offline(self) -> Offline:
        return self.services.offline

    def write(self, files: dict[str, str]) -> None:
        for name, text in files.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def ingest(self) -> IngestReport:
        profile = CorpusProfile(name=CORPUS, default_access={"allow": ["*"]})
        return self.offline.ingest(CORPUS, [self.folder], profile, None, quiet)

    def publish(self) -> Manifest:
        manifest = self.offline.build(CORPUS, quiet)
        self.offline.publish(CORPUS, manifest.generation)
        return manifest

    def change(self, document_id: str, action: str = "test", **changes: Any) -> RightsChange:
        return change_rights(
            self.services.engine,
            CORPUS,
            document_id,
            lambda entry: dataclasses.replace(entry, **changes),
            action=action,
            who="tests",
            now=NOW,
        )

    def ask(self, principal: Principal, text: str = WARRANTY, online: Online | None = None) -> GroundedAnswer:
        return (online or self.online).answer(Question("q", text, CORPUS), principal)

    def search(self, principal: Principal, text: str, online: Online | None = None) -> SearchResult:
        return (online or self.online).search(Question("q", text, CORPUS), principal, 10)


def cited(answer: GroundedAnswer) -> set[str]:
    return {citation.document_id for claim in answer.claims for citation in claim.citations}


def found(result: SearchResult) -> set[str]:
    return {hit.document_id for hit in result.hits}


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""


class Dying:
    """The generations port, with a spread that dies at its n-th call."""

    def __init__(self, engine: Engine, error: BaseException, at: int = 2) -> None:
        self._inner, self._error, self._left = engine.generations, error, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def spread_access(self, generation: Generation, document_id: str, access: Access | None) -> int:
        self._left -= 1
        if self._left == 0:
            raise self._error
        return self._inner.spread_access(generation, document_id, access)


def revoke(engine: Engine, document_id: str, access: Access = HR_ONLY) -> Any:
    return change_rights(
        engine, CORPUS, document_id, lambda e: dataclasses.replace(e, access=access), action="revoke", who="t", now=NOW
    )  # fmt: skip
