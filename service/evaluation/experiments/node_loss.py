"""One of three nodes is killed during a build, during a switch and while readers ask; each chunk has one replica.

A command succeeds or fails with a sentence, and succeeds when it is run again, with that node still away. A reader gets
the right answer, or is told that something is unavailable; never a wrong or a halved one.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from service.errors import AttestError, Unavailable
from service.evaluation.experiments import kill_matrix, kill_matrix_world
from service.evaluation.experiments.kill_matrix import Progress, Row
from service.evaluation.experiments.kill_matrix_points import STEPS, Point, named
from service.evaluation.experiments.kill_matrix_servers import failed_cleanly
from service.evaluation.experiments.kill_matrix_world import CORPUS, Answers, Opened, Snapshot
from service.evaluation.experiments.own_stack import OwnStack

WorldOn = Callable[[OwnStack, bool], AbstractContextManager[Opened]]
BUILD, SWITCH = named("mid bulk", "build"), named("before the alias call", "publish")
_READERS = 2
_ROUNDS_AFTER = 3


@dataclass
class Readers:
    """They ask in a loop; every round is right, unavailable, degraded, or wrong."""

    opened: Opened
    right: list[Answers]
    tally: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def asking(self) -> Iterator[None]:
        stop = threading.Event()
        threads = [threading.Thread(target=self._loop, args=(stop,)) for _ in range(_READERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            stop.set()
            for thread in threads:
                thread.join()

    def _loop(self, stop: threading.Event) -> None:
        while not stop.is_set():
            self._ask()

    def _ask(self) -> None:
        try:
            told = kill_matrix_world.answers(self.opened.online)
        except Unavailable:
            self.tally["unavailable"] += 1
            return
        except AttestError as error:
            self.wrong.append(f"{error.code}: {error.message}")
            return
        # A switch may come between two questions of a round: each question is judged by itself.
        parts = {part for answer in told.values() if isinstance(answer, tuple) for part in answer[-1]}
        if parts:
            self.tally["degraded: " + " ".join(sorted(parts))] += 1
            return
        bad = [text for text in told if all(told[text] != right[text] for right in self.right)]
        self.tally["wrong" if bad else "right"] += 1
        self.wrong += [f"{text}: {told[text]}" for text in bad]


def run(world: WorldOn, progress: Progress) -> list[Row]:
    with OwnStack(nodes=3) as stack:
        undisturbed = kill_matrix.reference(lambda: world(stack, False))
        rows = []
        for number, point in enumerate((BUILD, SWITCH, None), 1):
            progress("lose a node", number, 3)
            with world(stack, False) as opened, TemporaryDirectory(prefix="attest-kill-") as folder:
                if point is None:
                    kill_matrix.prepare(opened, Path(folder), "rollback")
                    rows.append(_while_asked(stack, opened, [undisturbed["publish"].answers]))
                else:
                    rows.append(_during(stack, opened, Path(folder), point, undisturbed))
                stack.up()
        return rows


def _during(
    stack: OwnStack,
    opened: Opened,
    folder: Path,
    point: Point,
    undisturbed: Mapping[str, Snapshot],
) -> Row:
    """What is done is not done again; what failed is, while the node is away."""
    kill_matrix.prepare(opened, folder, point.step)
    earlier = kill_matrix.before(point.step)
    readers = Readers(opened, [undisturbed[earlier].answers, undisturbed[point.step].answers])
    strike = {"point": point.name, "server": stack.servers["node-1"].address}
    with readers.asking():
        ended = kill_matrix.in_child(opened, folder, point.step, strike)
    stood = kill_matrix.standing(opened)
    wrong = "; ".join(readers.wrong[:3])
    rest: tuple[str, str, tuple[str, ...]]
    if ended.returncode == 0:
        how = "done at once"
        rest = "", *kill_matrix.compare(opened, folder, point.step, undisturbed)
    else:
        how = f"failed ({ended.stderr.strip()[-160:]})"
        wrong = wrong or failed_cleanly(ended)
        rerun = kill_matrix.again(opened, folder, point.step)
        # What is noted as failed is kept for whoever looks into it, until a prune.
        opened.offline.prune(CORPUS, keep=len(STEPS), dry_run=False)
        rest = rerun, *kill_matrix.compare(opened, folder, point.step, undisturbed)
    return Row(f"a node lost {point.name}: {how}; readers: {_told(readers)}", point.step, stood, wrong, *rest)


def _while_asked(stack: OwnStack, opened: Opened, right: list[Answers]) -> Row:
    readers = Readers(opened, right)
    with readers.asking():
        time.sleep(1.0)
        stack.kill("node-2")
        time.sleep(10.0)
    wrong = "; ".join(readers.wrong[:3])
    for _ in range(_ROUNDS_AFTER):
        wrong = wrong or kill_matrix.differences(right[0], kill_matrix_world.answers(opened.online))
    what = f"a node lost while readers ask: {_told(readers)}"
    return Row(
        what, "ask", kill_matrix.standing(opened), wrong, "", "", tuple(kill_matrix_world.faults(opened))
    )


def _told(readers: Readers) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(readers.tally.items()))
