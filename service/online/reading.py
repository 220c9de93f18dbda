"""The read stage: what the profile's reader makes of the leading evidence. Late or failed, nothing was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass

from service.domain.reading import Reading

Read = Callable[[str, str], Reading]


@dataclass(frozen=True, slots=True)
class Readings:
    """`found` has one for each passage, in order, or is empty; then `fault` says why: "late" or "failed", or None where
    there was nothing to read."""

    found: tuple[Reading, ...] = ()
    fault: str | None = None


def apply(
    read: Read | None, question: str, passages: Sequence[str], seconds: float, executor: Executor
) -> Readings:
    """All passages, or none: what was read could not be compared with what was not."""
    if read is None or not passages:
        return Readings()
    future = executor.submit(lambda: tuple(read(question, passage) for passage in passages))
    try:
        return Readings(future.result(timeout=seconds))
    except FutureTimeout:
        future.cancel()
        return Readings(fault="late")
    except Exception:  # Whatever a model's runtime raises must cost only its own stage.
        return Readings(fault="failed")
