"""Processes that outlive the command: started, recorded in a file, found again, ended.

A record holds the process id and the moment the process began, so that an id which the system has meanwhile
given to another program is never mistaken for ours.
"""

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType

KILL_AFTER_SECONDS = 30.0
_POLL_SECONDS = 0.05
_HELD = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_DEAD = "ZX"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Recorded:
    """One process of ours. `began` is the boot's id and the start time in clock ticks since that boot."""

    name: str
    pid: int
    began: str


def began(pid: int) -> str | None:
    """When the process `pid` began; None when there is none, or only a dead one nobody has waited for yet."""
    seen = _look(pid)
    return None if seen is None or seen[1] in _DEAD else seen[0]


def is_alive(process: Recorded) -> bool:
    """Whether this very process still runs."""
    seen = _look(process.pid)
    if seen is None or seen[0] != process.began:
        return False
    if seen[1] in _DEAD:
        # Ended, and if it is our child it waits for us to take note.
        with suppress(ChildProcessError):
            os.waitpid(process.pid, os.WNOHANG)
        return False
    return True


def _look(pid: int) -> tuple[str, str] | None:
    """Beginning and state letter of `pid`, None when there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # proc(5): the second field is the program's name in brackets and may itself hold spaces and brackets;
    # then follow the state and, as field 22, the start time.
    fields = stat[stat.rindex(")") + 2 :].split()
    return f"{_BOOT_ID.read_text(encoding='ascii').strip()}:{fields[19]}", fields[0]


def spawn(name: str, argv: Sequence[str], env: Mapping[str, str], output: Path, records: Path) -> Recorded:
    """Start `argv` detached from the terminal, recorded under `records`, printing into `output` (begun anew).

    Raises OSError when the program cannot be started.
    """
    records.mkdir(parents=True, exist_ok=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    # An interrupt between start and record would leave a process that nobody knows.
    with _signals_held(), output.open("wb") as stream:
        child = subprocess.Popen(
            list(argv),
            env=dict(env),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=stream,
            start_new_session=True,
        )
        process = Recorded(name, child.pid, began(child.pid) or "ended at once")
        # The handle would warn when collected while the process runs; it is meant to outlive us.
        child.returncode = 0
        _write_record(records, process)
    return process


def read_records(records: Path) -> tuple[Recorded, ...]:
    """Every recorded process, alive or not, by name; an unreadable record counts as none."""
    found = []
    for file in sorted(records.glob("*.pid")):
        with suppress(ValueError, TypeError, KeyError):
            fields = json.loads(file.read_text(encoding="utf-8"))
            found.append(Recorded(str(fields["name"]), int(fields["pid"]), str(fields["began"])))
    return tuple(found)


def forget(records: Path, name: str) -> None:
    """Remove the record of `name`."""
    (records / f"{name}.pid").unlink(missing_ok=True)


def stop(
    processes: Sequence[Recorded],
    records: Path,
    grace_seconds: float = KILL_AFTER_SECONDS,
    killed: Callable[[Recorded], None] = lambda process: None,
) -> tuple[Recorded, ...]:
    """End `processes`: SIGTERM to all, wait, SIGKILL to what is left (reported through `killed`).

    Returns those that were alive. Every record is removed.
    """
    running = [process for process in processes if is_alive(process)]
    for process in running:
        _signal(process, signal.SIGTERM)
    for process in _still_alive(running, grace_seconds):
        killed(process)
        _signal(process, signal.SIGKILL)
    _still_alive(running, KILL_AFTER_SECONDS)
    for process in processes:
        forget(records, process.name)
    return tuple(running)


def _still_alive(processes: Sequence[Recorded], seconds: float) -> list[Recorded]:
    deadline = time.monotonic() + seconds
    left = [process for process in processes if is_alive(process)]
    while left and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        left = [process for process in left if is_alive(process)]
    return left


def _signal(process: Recorded, number: signal.Signals) -> None:
    if is_alive(process):
        with suppress(ProcessLookupError):
            os.kill(process.pid, number)


def _write_record(records: Path, process: Recorded) -> None:
    file = records / f"{process.name}.pid"
    partial = file.with_suffix(".new")
    partial.write_text(json.dumps(asdict(process)), encoding="utf-8")
    partial.replace(file)


@contextmanager
def _signals_held() -> Iterator[None]:
    """Hold interrupts back until the block ends; with handlers, as a child would inherit a signal mask."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    arrived: list[int] = []

    def note(number: int, frame: FrameType | None) -> None:
        arrived.append(number)

    before = {number: signal.signal(number, note) for number in _HELD}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        for missed in arrived:
            signal.raise_signal(missed)
