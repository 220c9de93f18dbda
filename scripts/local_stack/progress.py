"""Progress on standard error, so that standard output stays readable by programs."""

import sys
import time
from collections.abc import Callable
from typing import TextIO

Say = Callable[[str], None]
EVERY_SECONDS = 5.0


def say(line: str) -> None:
    """Print one line to standard error at once."""
    print(line, file=sys.stderr, flush=True)


class Waiting:
    """A line that shows that a wait goes on: rewritten each second on a terminal, every 5 s in a log file."""

    def __init__(self, what: str, stream: TextIO | None = None) -> None:
        self._what = what
        self._stream = stream if stream is not None else sys.stderr
        self._terminal = self._stream.isatty()
        self._begun = time.monotonic()
        self._shown = self._begun

    @property
    def seconds(self) -> float:
        """Seconds since the wait began."""
        return time.monotonic() - self._begun

    def tick(self, state: str) -> None:
        """Show `state` when it is time to."""
        now = time.monotonic()
        if now - self._shown < (1.0 if self._terminal else EVERY_SECONDS):
            return
        self._shown = now
        end = "" if self._terminal else "\n"
        start = "\r\033[K" if self._terminal else ""
        self._stream.write(f"{start}{self._what}: {state}, {self.seconds:.0f} s{end}")
        self._stream.flush()

    def done(self, state: str) -> None:
        """Replace the waiting line by its result."""
        start = "\r\033[K" if self._terminal else ""
        self._stream.write(f"{start}{self._what}: {state} after {self.seconds:.1f} s\n")
        self._stream.flush()
