"""Parsing in a process of its own, which may be ended: a document that takes too long, too much memory, or brings its
reader down, is refused, and the run goes on.

The process lives from the first document to the last and is replaced when it had to be ended. It is started anew, not
forked: it inherits no lock of another thread, and runs nothing of the program that started it.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import subprocess
import sys
from multiprocessing.connection import Connection
from threading import Lock

from service.domain.sources import ParsedDocument, SourceItem
from service.errors import AttestError, SourceUnreadable
from service.offline.ingest.parsing import parse

SECONDS = 120.0  # for one document; the largest real ones, PDFs of thousands of pages, take a tenth of it
MEMORY = 4 * 1024**3  # bytes of address space; a document of 50 MB needs well under half of it


class ParseWorker:
    """`parse` as in `parsing.parse`, within limits. One document at a time, whoever asks."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self.seconds, self.memory = seconds, memory
        self._running: tuple[subprocess.Popen[bytes], Connection] | None = None
        self._lock = Lock()

    def __enter__(self) -> ParseWorker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def pid(self) -> int | None:
        """Of the process, once a document was read."""
        return self._running[0].pid if self._running else None

    def parse(self, item: SourceItem) -> ParsedDocument:
        """Raises SourceUnreadable with a sentence for everything that keeps the item from being read."""
        with self._lock:
            answer = self._asked(item)
        if isinstance(answer, str):
            raise SourceUnreadable(answer)
        return answer

    def close(self) -> None:
        """Ends the process, whatever it is doing."""
        if self._running is not None:
            process, pipe = self._running
            self._running = None
            process.kill()
            process.wait()
            pipe.close()

    def _asked(self, item: SourceItem) -> ParsedDocument | str:
        _, pipe = self._running or self._start()
        try:
            pipe.send(item)
            if not pipe.poll(self.seconds):
                self.close()
                return f"reading it takes longer than {self.seconds:g} s"
            answer: ParsedDocument | str = pipe.recv()
        except (EOFError, OSError):
            self.close()
            return "reading it brought its reader down, or took too much memory"
        return answer

    def _start(self) -> tuple[subprocess.Popen[bytes], Connection]:
        ours, theirs = multiprocessing.Pipe()
        command = [sys.executable, "-m", __name__, str(theirs.fileno()), str(self.memory)]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        theirs.close()
        self._running = process, ours
        return self._running


def _serve(pipe: Connection, memory: int) -> None:
    """Answers each item with its parsed document, or with the sentence that says why there is none; until the other
    end is closed, at the latest when its process ends."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt):
        while True:
            pipe.send(_answer(pipe.recv()))


def _answer(item: SourceItem) -> ParsedDocument | str:
    try:
        return parse(item)
    except AttestError as error:
        return error.message
    except MemoryError:
        return "reading it takes too much memory"
    except RecursionError:
        return "it is nested too deeply"
    except Exception as error:
        # A fault of a reader is no reason to stop the run; its kind helps whoever mends it.
        return f"its reader failed ({type(error).__name__}); please report the document"


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
