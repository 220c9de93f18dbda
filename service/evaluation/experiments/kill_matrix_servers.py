"""Elasticsearch and Redis are killed under a builder, started again, and the same command is run again.

While Elasticsearch is away nobody is told "no evidence": every question ends as unavailable. Without Redis the answers
are the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from subprocess import CompletedProcess
from tempfile import TemporaryDirectory

from service.errors import Unavailable
from service.evaluation.experiments import kill_matrix, kill_matrix_world
from service.evaluation.experiments.kill_matrix import Progress, Row
from service.evaluation.experiments.kill_matrix_points import Point, named
from service.evaluation.experiments.kill_matrix_world import Opened, Snapshot
from service.evaluation.experiments.own_stack import OwnStack

# A world on the servers of a stack, with its Redis or without a cache.
WorldOn = Callable[[OwnStack, bool], AbstractContextManager[Opened]]
ELASTICSEARCH = (
    named("mid bulk", "build"),
    named("before the seal", "build"),
    named("before the alias call", "publish"),
    named("after the alias call", "publish"),
)
_BACK_S = 30
REDIS = named("before the alias call", "publish")


def run(world: WorldOn, progress: Progress) -> list[Row]:
    total = len(ELASTICSEARCH) + 1
    rows = []
    with OwnStack() as stack:
        undisturbed = kill_matrix.reference(lambda: world(stack, False))
        for number, point in enumerate((*ELASTICSEARCH, REDIS), 1):
            progress("kill servers", number, total)
            redis = number == total
            with world(stack, redis) as opened, TemporaryDirectory(prefix="attest-kill-") as folder:
                kill_matrix.prepare(opened, Path(folder), point.step)
                killed = _redis_killed if redis else _elasticsearch_killed
                rows.append(killed(stack, opened, Path(folder), point, undisturbed))
    return rows


def _elasticsearch_killed(
    stack: OwnStack, opened: Opened, folder: Path, point: Point, undisturbed: Mapping[str, Snapshot]
) -> Row:
    ended = _strike(stack, "node-1", opened, folder, point)
    wrong = failed_cleanly(ended) or _away(opened)
    stack.up()
    stood = kill_matrix.standing(opened)
    wrong = wrong or kill_matrix.told_wrongly(opened, point, undisturbed)
    rest = kill_matrix.rerun_and_compare(opened, folder, point.step, undisturbed)
    return Row(f"{point.name}, Elasticsearch killed", point.step, stood, wrong, *rest)


def _redis_killed(
    stack: OwnStack, opened: Opened, folder: Path, point: Point, undisturbed: Mapping[str, Snapshot]
) -> Row:
    """Asked twice each time, so that the second answer comes from the cache where there is one."""
    before, after = undisturbed["build"].answers, undisturbed["publish"].answers
    wrong = _asked_twice(opened, before)
    ended = _strike(stack, "redis", opened, folder, point)
    if ended.returncode != 0:
        wrong = wrong or f"a publish needs no Redis: {ended.stderr[-300:]}"
    without_cache = {
        question: (*told[:-1], ("cache",)) if isinstance(told, tuple) else told
        for question, told in after.items()
    }
    wrong = wrong or _asked_twice(opened, without_cache)
    stack.up()
    wrong = wrong or _back(opened) or _asked_twice(opened, after)
    stood = kill_matrix.standing(opened)
    rest = kill_matrix.rerun_and_compare(opened, folder, point.step, undisturbed)
    return Row(f"{point.name}, Redis killed", point.step, stood, wrong, *rest)


def _strike(
    stack: OwnStack, server: str, opened: Opened, folder: Path, point: Point
) -> CompletedProcess[str]:
    strike = {"point": point.name, "server": stack.servers[server].address}
    return kill_matrix.in_child(opened, folder, point.step, strike)


def failed_cleanly(ended: CompletedProcess[str]) -> str:
    """What was not clean about it; a sentence and no traceback is."""
    if ended.returncode != 1 or "Traceback" in ended.stderr:
        return f"the command ended with {ended.returncode}: {ended.stderr[-500:]}"
    return ""


def _away(opened: Opened) -> str:
    try:
        told = kill_matrix_world.answers(opened.online)
    except Unavailable:
        return ""
    return f"without Elasticsearch a reader was told {told}"


def _back(opened: Opened) -> str:
    """The cache is asked again after a while, when it did not answer."""
    for _ in range(_BACK_S * 10):
        if opened.online.cache.healthy():
            kill_matrix_world.answers(opened.online)
            if not opened.online.cache.failing:
                return ""
        time.sleep(0.1)
    return "Redis is back, and no answer comes from it"


def _asked_twice(opened: Opened, right: Mapping[str, object]) -> str:
    for _ in range(2):
        if wrong := kill_matrix.differences(right, kill_matrix_world.answers(opened.online)):
            return wrong
    return ""
