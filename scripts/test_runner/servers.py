"""Elasticsearch and Redis of this run: started through scripts/stack in a home of its own, ended with it.

Each run holds a lock on its home. A run that was killed outright leaves a home without a holder;
the next run ends what still runs there.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from test_runner.processes import end, start

HOMES = Path(".local") / "test-stacks"
START_SECONDS = 540.0  # on a fresh machine: Maven, Redis and 100 MB of jars


class ServersFailed(Exception):
    """The servers did not come up; the text says where to look."""


def needed(environment: Mapping[str, str]) -> bool:
    """Whether a server has to be started: one of the two is not given."""
    return not (environment.get("ES_URL") and environment.get("REDIS_URL"))


class Servers:
    """`start` returns at once, `wait` when they answer, `stop` in any case."""

    def __init__(self, repository: Path) -> None:
        self._repository = repository
        self._homes = repository / HOMES
        self._home = self._homes / f"{os.getpid()}-{time.time_ns()}"
        self._lock: IO[str] | None = None
        self._starting: subprocess.Popen[bytes] | None = None
        self._began = 0.0
        self.seconds = 0.0

    def start(self) -> None:
        self._homes.mkdir(parents=True, exist_ok=True)
        self._sweep()
        self._lock = _hold(_lock_path(self._home), wait=True)
        self._began = time.monotonic()
        command = self._stack(self._home, "up", "--es-port", "0", "--redis-port", "0", "--json")
        self._starting = start(command, self._repository, stdout=subprocess.PIPE)

    def wait(self) -> dict[str, str]:
        """ES_URL and REDIS_URL of the running servers. Raises ServersFailed."""
        assert self._starting is not None, "start() comes first"
        try:
            output, _ = self._starting.communicate(timeout=START_SECONDS)
        except subprocess.TimeoutExpired:
            end(self._starting, signal.SIGTERM)
            raise ServersFailed(f"not up after {START_SECONDS:.0f} s") from None
        self.seconds = time.monotonic() - self._began
        if self._starting.returncode != 0:
            raise ServersFailed("scripts/stack up did not succeed; its lines above say why")
        found = json.loads(output)
        return {"ES_URL": found["esUrl"], "REDIS_URL": found["redisUrl"]}

    def stop(self) -> None:
        """End what this run started; harmless when it started nothing."""
        if self._starting is not None and self._starting.poll() is None:
            end(self._starting, signal.SIGTERM)
        if self._lock is not None:
            self._down(self._home)
            self._lock.close()
            _lock_path(self._home).unlink(missing_ok=True)
            self._lock = None

    def _sweep(self) -> None:
        for path in sorted(self._homes.glob("*.lock")):
            lock = _hold(path)
            if lock is None:
                continue  # its run is alive
            print(f"scripts/test: ending servers that a killed run left behind ({path.stem})", flush=True)
            self._down(path.with_suffix(""))
            lock.close()
            path.unlink(missing_ok=True)

    def _down(self, home: Path) -> None:
        ended = subprocess.run(
            self._stack(home, "down"),
            cwd=self._repository,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            check=False,
        )
        if ended.returncode == 0:
            shutil.rmtree(home, ignore_errors=True)
        else:
            print(f"scripts/test: scripts/stack --home {home} down did not succeed", flush=True)

    def _stack(self, home: Path, *arguments: str) -> list[str]:
        return [sys.executable, str(self._repository / "scripts" / "stack"), "--home", str(home), *arguments]


def _lock_path(home: Path) -> Path:
    return home.with_name(f"{home.name}.lock")


def _hold(path: Path, wait: bool = False) -> IO[str] | None:
    """The lock, held until closed or until this process ends; None where another process holds it."""
    file = path.open("w")
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file
