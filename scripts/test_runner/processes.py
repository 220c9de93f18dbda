"""Child processes that end when the run ends, and signals as an exception."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

GRACE_SECONDS = 20.0
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupted(BaseException):
    """A signal asked the run to end; the text is the signal's name."""


def listen() -> None:
    """From now on SIGINT, SIGTERM and SIGHUP raise Interrupted."""
    for each in _SIGNALS:
        signal.signal(each, _interrupt)


def shield() -> None:
    """From now on they do nothing: cleaning up is not to be interrupted.

    A handler, not SIG_IGN, which the programs started for the cleaning would inherit.
    """
    for each in _SIGNALS:
        signal.signal(each, _pass)


def _interrupt(number: int, frame: FrameType | None) -> None:
    shield()
    raise Interrupted(signal.Signals(number).name)


def _pass(number: int, frame: FrameType | None) -> None:
    pass


def start(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
    *,
    stdout: int | None = None,
    stderr: int | None = None,
) -> subprocess.Popen[bytes]:
    """A child in a process group of its own, so that Ctrl-C reaches it through us, once and in order."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        start_new_session=True,
    )


def end(child: subprocess.Popen[bytes], number: signal.Signals = signal.SIGINT) -> None:
    """Ask the child's whole group to end, and make it end after GRACE_SECONDS."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, number)
    try:
        child.wait(GRACE_SECONDS)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def run_captured(command: Sequence[str], folder: Path) -> tuple[bool, float, str]:
    """Run quietly. Returns: whether it succeeded, seconds, what it printed."""
    started = time.monotonic()
    child = start(command, folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        output, _ = child.communicate()
    except BaseException:
        end(child)
        raise
    return child.returncode == 0, time.monotonic() - started, output.decode("utf-8", "replace")


def run_streamed(
    command: Sequence[str], folder: Path, environment: Mapping[str, str]
) -> tuple[bool, float, str]:
    """Run and show the output as it comes. Returns: whether it succeeded, seconds, what it printed."""
    started = time.monotonic()
    child = start(command, folder, environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert child.stdout is not None
    pipe, seen = child.stdout.fileno(), bytearray()
    try:
        # Not until end of file alone: a process that a test has left behind may hold the pipe open for ever.
        while True:
            ready, _, _ = select.select([pipe], [], [], 0.5)
            chunk = os.read(pipe, 65_536) if ready else b""
            if not chunk and (ready or child.poll() is not None):
                break
            seen += chunk
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        child.wait()
    except BaseException:
        end(child)
        raise
    return child.returncode == 0, time.monotonic() - started, seen.decode("utf-8", "replace")
