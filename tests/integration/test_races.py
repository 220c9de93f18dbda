"""Eight clients ask in a loop while rights, documents and generations change under them.

What holds: no response that began after a change returned carries what the change took away, and what is allowed
is never missed by more than the requests that were under way.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from service.domain.rights import Principal
from service.errors import NotFound
from tests.integration.world import ALICE, EVERYBODY, HR_ONLY, WARRANTY, World, cited, found

CLIENTS = 8


@dataclass
class Seen:
    """One response: when it was asked for, and which documents it carried."""

    began: float
    ended: float
    documents: frozenset[str]


@dataclass
class Clients:
    """Principals that ask all the time, half of them through the cache, half by search."""

    world: World
    principal: Principal
    responses: list[Seen] = field(default_factory=list)
    faults: list[BaseException] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)

    def ask_once(self, number: int) -> None:
        began = time.monotonic()
        if number % 2:
            documents = found(self.world.search(self.principal, WARRANTY))
        else:
            answer = self.world.ask(self.principal)
            documents = cited(answer) | {source.document_id for source in answer.sources}
            documents |= {d for d in ("warranty.md", "spare.md") if d in str(answer.gap)}
        self.responses.append(Seen(began, time.monotonic(), frozenset(documents)))

    def loop(self, number: int) -> None:
        while not self._stop.is_set():
            try:
                self.ask_once(number)
            except BaseException as fault:
                self.faults.append(fault)
                return

    @contextmanager
    def asking(self) -> Iterator[Clients]:
        threads = [threading.Thread(target=self.loop, args=(number,)) for number in range(CLIENTS)]
        for thread in threads:
            thread.start()
        try:
            yield self
        finally:
            self._stop.set()
            for thread in threads:
                thread.join(timeout=30)

    def wait_for(self, more: int) -> None:
        """Until so many further responses have come."""
        wanted, end = len(self.responses) + more, time.monotonic() + 20
        while len(self.responses) < wanted and time.monotonic() < end and not self.faults:
            time.sleep(0.005)
        assert self.faults == []

    def between(self, begin: float, end: float) -> list[Seen]:
        """Responses that began and ended in between."""
        return [seen for seen in self.responses if begin <= seen.began and seen.ended <= end]


@pytest.mark.timeout(240)
def test_no_response_after_a_change_carries_what_it_took(world: World) -> None:
    world.ask(ALICE)
    # (from, to, may it be seen): the document's rights are settled from `from` to `to`.
    settled: list[tuple[float, float, bool]] = []
    with Clients(world, ALICE).asking() as clients:

        def change(visible: bool, make: Callable[[], object]) -> None:
            make()
            returned = time.monotonic()
            clients.wait_for(2 * CLIENTS)
            settled.append((returned, time.monotonic(), visible))

        for _ in range(4):
            change(False, lambda: world.change("warranty.md", "revoke", access=HR_ONLY))
            change(True, lambda: world.change("warranty.md", "grant", access=EVERYBODY))
        world.write({"spare.md": "# Spare parts\n\nSpare parts are kept in store 7.\n"})
        world.ingest()
        change(True, world.publish)
        change(True, lambda: world.offline.rollback("handbook"))
        change(False, lambda: world.change("warranty.md", "delete", deleted=True))
        change(False, world.publish)
    assert clients.faults == []
    for begin, end, visible in settled:
        inside = clients.between(begin, end)
        assert len(inside) >= CLIENTS // 2, "too few responses to say anything"
        wrong = [seen for seen in inside if ("warranty.md" in seen.documents) != visible]
        assert wrong == [], f"{len(wrong)} of {len(inside)} responses while visible was {visible}"


@pytest.mark.timeout(120)
def test_a_corpus_that_is_taken_away_whole_becomes_one_that_is_not_there(world: World) -> None:
    for document in ("warranty.md", "kitchen.md"):
        world.change(document, "revoke", access=HR_ONLY)
    with pytest.raises(NotFound):
        world.ask(ALICE)
    with pytest.raises(NotFound):
        world.search(ALICE, WARRANTY)
