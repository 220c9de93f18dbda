"""The parsing process: the same documents, and an end to those that have none."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.domain.sources import SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import parse
from service.offline.ingest.worker import ParseWorker

PAGE = SourceItem(
    "a.md", "# One\n\n文字。\n\n| a | b |\n|---|---|\n| 1 | 2 |\n".encode(), "text/markdown", "a.md"
)


def test_it_reads_what_the_reader_reads() -> None:
    with ParseWorker() as worker:
        assert worker.parse(PAGE) == parse(PAGE)
        with pytest.raises(SourceUnreadable, match="no text"):
            worker.parse(SourceItem("b.md", b" ", "text/markdown", "b.md"))
        with pytest.raises(SourceUnreadable, match="format"):
            worker.parse(SourceItem("b.x", b" ", "image/x", "b.x"))
        assert worker.parse(PAGE) == parse(PAGE)


def test_one_that_never_ends_is_ended_and_the_next_is_read() -> None:
    with ParseWorker(seconds=0.05) as worker:
        huge = SourceItem("h.md", b"- a\n" * 200_000, "text/markdown", "h.md")
        with pytest.raises(SourceUnreadable, match=r"longer than 0\.05 s"):
            worker.parse(huge)
        worker.seconds = 30
        assert worker.parse(PAGE) == parse(PAGE)


def test_one_that_eats_memory_is_refused_and_the_next_is_read() -> None:
    with ParseWorker(memory=1024**3) as worker:
        huge = SourceItem("h.txt", b"a b c d e f\n" * 25_000_000, "text/plain", "h.txt")
        with pytest.raises(SourceUnreadable, match="memory"):
            worker.parse(huge)
        assert worker.parse(PAGE) == parse(PAGE)


def test_a_reader_that_is_brought_down_is_replaced() -> None:
    with ParseWorker() as worker:
        worker.parse(PAGE)
        killed = worker.pid
        assert killed is not None
        huge = SourceItem("h.md", b"- a\n" * 400_000, "text/markdown", "h.md")
        threading.Timer(0.3, os.kill, (killed, signal.SIGKILL)).start()
        with pytest.raises(SourceUnreadable, match="brought its reader down"):
            worker.parse(huge)
        assert worker.parse(PAGE) == parse(PAGE)
        assert worker.pid != killed


def test_closing_ends_the_process_and_may_come_twice() -> None:
    worker = ParseWorker()
    worker.parse(PAGE)
    assert worker._running is not None
    process, _ = worker._running
    worker.close()
    worker.close()
    assert process.poll() is not None
    assert worker.pid is None


def test_it_ends_with_the_process_that_started_it() -> None:
    """Also when that one had no time to close anything, and however its program was given."""
    program = (
        "import os, signal\n"
        "from service.domain.sources import SourceItem\n"
        "from service.offline.ingest.worker import ParseWorker\n"
        "worker = ParseWorker()\n"
        "worker.parse(SourceItem('a.md', b'text', 'text/markdown', 'a.md'))\n"
        "print(worker.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-"], input=program, capture_output=True, text=True)
    child = int(done.stdout)
    end = time.monotonic() + 10
    while Path(f"/proc/{child}").exists() and "Z" not in _state(child) and time.monotonic() < end:
        time.sleep(0.02)
    assert not Path(f"/proc/{child}").exists() or "Z" in _state(child)


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return "Z"


def test_threads_take_turns() -> None:
    with ParseWorker() as worker, ThreadPoolExecutor(4) as pool:
        items = [SourceItem(f"{n}.md", f"# {n}".encode(), "text/markdown", f"{n}.md") for n in range(40)]
        read = list(pool.map(worker.parse, items))
    assert [document.canonical_text for document in read] == [f"# {n}" for n in range(40)]
