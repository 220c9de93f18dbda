"""The builder is killed at every named step, and the same command is run again in a new process.

Every point has a world of its own. While the killed state stands, a reader is answered as if nothing had happened, or
as if all had; after the command was run again, everything equals what an undisturbed run leaves.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from service.domain.generations import live_alias
from service.evaluation.experiments import kill_matrix_world as worlds
from service.evaluation.experiments.kill_matrix_points import STEPS, Point, Step
from service.evaluation.experiments.kill_matrix_world import CORPUS, Opened, Snapshot

World = Callable[[], AbstractContextManager[Opened]]
Progress = Callable[[str, int, int], None]
CHILD = "service.cli.killed"
_PATIENCE_S = 300.0


@dataclass(frozen=True, slots=True)
class Row:
    """One point: in which state everything stood, and what was wrong; empty where nothing was."""

    point: str
    step: str
    stood: str
    asked: str
    rerun: str
    equal: str
    orphans: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return not (self.asked or self.rerun or self.equal or self.orphans)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"holds": self.holds}


def run(world: World, points: Sequence[Point], progress: Progress) -> list[Row]:
    """Raises nothing for what does not hold: the rows say it."""
    undisturbed = reference(world)
    rows = []
    for number, point in enumerate(points, 1):
        progress("kill", number, len(points))
        with world() as opened, TemporaryDirectory(prefix="attest-kill-") as folder:
            prepare(opened, Path(folder), point.step)
            rows.append(_killed(opened, Path(folder), point, undisturbed))
    return rows


def reference(world: World) -> dict[str, Snapshot]:
    """What an undisturbed run leaves after each step; "" is before the first."""
    with world() as opened, TemporaryDirectory(prefix="attest-kill-") as folder:
        worlds.set_up(opened, Path(folder))
        found = {"": worlds.snapshot(opened)}
        for step in STEPS:
            worlds.perform(step, opened.offline, Path(folder))
            found[step] = worlds.snapshot(opened)
    return found


def prepare(opened: Opened, folder: Path, step: Step) -> None:
    """Everything before the step, undisturbed."""
    worlds.set_up(opened, folder)
    for earlier in STEPS[: STEPS.index(step)]:
        worlds.perform(earlier, opened.offline, folder)


def _killed(opened: Opened, folder: Path, point: Point, undisturbed: Mapping[str, Snapshot]) -> Row:
    ended = in_child(opened, folder, point.step, {"point": point.name})
    stood = standing(opened)
    asked = "" if ended.returncode == -signal.SIGKILL else f"the builder was not killed: {ended}"
    asked = asked or told_wrongly(opened, point, undisturbed)
    rerun, equal, orphans = rerun_and_compare(opened, folder, point.step, undisturbed)
    return Row(point.name, point.step, stood, asked, rerun, equal, orphans)


def told_wrongly(opened: Opened, point: Point, undisturbed: Mapping[str, Snapshot]) -> str:
    """How the answers differ from those before the step, or from those after it where it had its effect already."""
    right = undisturbed[point.step if point.done else before(point.step)].answers
    return differences(right, worlds.answers(opened.online))


def rerun_and_compare(
    opened: Opened, folder: Path, step: Step, undisturbed: Mapping[str, Snapshot]
) -> tuple[str, str, tuple[str, ...]]:
    """The same command in a new process, then the steps up to the publish: what fails, what differs, what is left."""
    wrong = again(opened, folder, step)
    return (wrong, "not compared", ()) if wrong else ("", *compare(opened, folder, step, undisturbed))


def again(opened: Opened, folder: Path, step: Step) -> str:
    """The same command in a new process; how it failed, if it did."""
    ended = in_child(opened, folder, step, {})
    return f"exit code {ended.returncode}: {ended.stderr[-300:]}" if ended.returncode else ""


def compare(
    opened: Opened, folder: Path, step: Step, undisturbed: Mapping[str, Snapshot]
) -> tuple[str, tuple[str, ...]]:
    """After the step, and after each that follows up to the publish: what differs, what is left."""
    orphans = worlds.faults(opened)
    equal = _unequal(step, undisturbed[step], worlds.snapshot(opened))
    for later in STEPS[STEPS.index(step) + 1 : STEPS.index("publish") + 1]:
        worlds.perform(later, opened.offline, folder)
        equal += _unequal(later, undisturbed[later], worlds.snapshot(opened))
        orphans += worlds.faults(opened)
    return "; ".join(equal), tuple(orphans)


def in_child(
    opened: Opened, folder: Path, step: Step, strike: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, which ends itself, or servers, where `strike` says so."""
    given = [f"--{name}={value}" for name, value in strike.items()]
    command = [sys.executable, "-m", CHILD, step, str(folder), *given]
    environment = {**os.environ, **opened.environment}
    return subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
    )


def standing(opened: Opened) -> str:
    """The states of all generations, and which of them is live: what the killed process left."""
    engine = opened.offline.engine
    live = engine.generations.aliases(CORPUS).get(live_alias(engine.prefix, CORPUS), ())
    return " ".join(
        f"g{n}:{m.state}{'*' if m.generation in live else ''}"
        for n, m in enumerate(engine.builds.scan(CORPUS), 1)
    )


def differences(right: Mapping[str, Any], seen: Mapping[str, Any]) -> str:
    return "; ".join(
        f"{text}: {seen[text]} instead of {right[text]}" for text in right if right[text] != seen[text]
    )


def _unequal(step: str, right: Snapshot, seen: Snapshot) -> list[str]:
    return [
        f"after {step}, {part}: {getattr(seen, part)} instead of {getattr(right, part)}"
        for part in Snapshot.__slots__
        if getattr(right, part) != getattr(seen, part)
    ]


def before(step: Step) -> str:
    place = STEPS.index(step)
    return STEPS[place - 1] if place else ""


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each point, and under it what was wrong."""
    cells = [("", "point", "killed in state", "asked meanwhile", "rerun", "equal", "orphans")]
    for row in rows:
        marks = ("no" if wrong else "yes" for wrong in (row.asked, row.rerun, row.equal))
        asked, rerun, equal = marks
        cells.append(
            (
                "ok" if row.holds else "FAIL",
                f"{row.step}: {row.point}",
                row.stood,
                "right" if asked == "yes" else "WRONG",
                "done" if rerun == "yes" else "FAILED",
                equal,
                str(len(row.orphans)),
            )
        )
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for number, line in enumerate(cells):
        yield "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        if number:
            row = rows[number - 1]
            yield from (
                f"      {wrong}" for wrong in (row.asked, row.rerun, row.equal, *row.orphans) if wrong
            )
