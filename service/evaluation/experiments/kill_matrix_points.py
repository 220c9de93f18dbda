"""Where the kill matrix strikes: named calls of the builder to its stores, and the ports that strike there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar, cast

from service.domain.ports import Engine

Port = TypeVar("Port")
Step = Literal["ingest", "build", "publish", "rollback", "revoke", "prune"]
# In the order in which a world goes through them.
STEPS: tuple[Step, ...] = ("ingest", "build", "publish", "rollback", "revoke", "prune")


@dataclass(frozen=True, slots=True)
class Point:
    """The `nth` call of one method of a port during a step; of the builds, one that writes a manifest in `state`.

    `amid`: half of what is written has been. `done`: what the step changes for who asks has happened already.
    """

    name: str
    step: Step
    call: str
    when: Literal["before", "amid", "after"]
    nth: int = 1
    state: str | None = None
    done: bool = False


POINTS = (
    Point("before the first archive write", "ingest", "archive.put", "before"),
    Point("after the first archive write", "ingest", "archive.put", "after"),
    Point("before a registry write", "ingest", "registry.write", "before"),
    Point("after a registry write", "ingest", "registry.write", "after"),
    Point("in the spread of a deletion", "ingest", "generations.spread_access", "before"),
    Point("after the lease of the build", "build", "jobs.write_lease", "after"),
    Point('after the manifest "building"', "build", "builds.write", "after", state="building"),
    Point("after the index was created", "build", "generations.create", "after"),
    Point("mid bulk", "build", "generations.write", "amid"),
    Point("after the last bulk", "build", "generations.write", "after"),
    Point("before the seal", "build", "generations.seal", "before"),
    Point("after the seal", "build", "generations.seal", "after"),
    Point('after the manifest "validating"', "build", "builds.write", "after", state="validating"),
    Point('before the manifest "ready"', "build", "builds.write", "before", state="ready"),
    Point('after the manifest "ready"', "build", "builds.write", "after", state="ready"),
    Point("after the gates were noted", "publish", "builds.write", "after", state="ready"),
    Point("before the alias call", "publish", "generations.switch", "before"),
    Point("after the alias call", "publish", "generations.switch", "after", done=True),
    Point('after "retained", before "live"', "publish", "builds.write", "after", state="retained", done=True),
    Point('after "live"', "publish", "builds.write", "after", state="live", done=True),
    Point("before the alias call back", "rollback", "generations.switch", "before"),
    Point("after the alias call back", "rollback", "generations.switch", "after", done=True),
    Point('after "live", before "retained"', "rollback", "builds.write", "after", state="live", done=True),
    Point("after the change was registered", "revoke", "registry.write", "after", done=True),
    Point("between the spreads", "revoke", "generations.spread_access", "after", done=True),
    Point("before the drop", "prune", "generations.drop", "before", done=True),
    Point("after the drop", "prune", "generations.drop", "after", done=True),
)


def chosen(points: Sequence[Point], count: int | None) -> tuple[Point, ...]:
    """That many of them, evenly from first to last."""
    if count is None or count >= len(points):
        return tuple(points)
    last = len(points) - 1
    places = sorted({round(n * last / max(1, count - 1)) for n in range(count)})
    return tuple(points[place] for place in places)


def named(name: str, step: str) -> Point:
    return next(point for point in POINTS if (point.name, point.step) == (name, step))


@dataclass
class Trap:
    """Strikes once, at its point, and lets every other call through."""

    point: Point
    strike: Callable[[], None]
    _met: int = field(default=0)

    def on(self, engine: Engine) -> Engine:
        """The engine whose stores of the offline path call the trap."""
        return replace(
            engine,
            archive=_watched("archive", engine.archive, self),
            registry=_watched("registry", engine.registry, self),
            generations=_watched("generations", engine.generations, self),
            builds=_watched("builds", engine.builds, self),
            jobs=_watched("jobs", engine.jobs, self),
        )

    def called(self, name: str, call: Callable[..., Any], args: tuple[Any, ...], rest: dict[str, Any]) -> Any:
        point = self.point
        if name != point.call or (point.state and getattr(args[0], "state", None) != point.state):
            return call(*args, **rest)
        self._met += 1
        if self._met != point.nth:
            return call(*args, **rest)
        if point.when == "amid":
            generation, chunks = args[0], list(args[1])
            call(generation, chunks[: len(chunks) // 2])
            self.strike()
            return call(generation, chunks)
        if point.when == "before":
            self.strike()
            return call(*args, **rest)
        result = call(*args, **rest)
        self.strike()
        return result


def _watched(name: str, port: Port, trap: Trap) -> Port:
    watched: Any = _Watched(name, port, trap)
    return cast("Port", watched)


class _Watched:
    """A port whose methods pass the trap."""

    def __init__(self, name: str, port: Any, trap: Trap) -> None:
        self._name, self._port, self._trap = name, port, trap

    def __getattr__(self, method: str) -> Any:
        found = getattr(self._port, method)
        if not callable(found):
            return found
        return lambda *args, **rest: self._trap.called(f"{self._name}.{method}", found, args, rest)
