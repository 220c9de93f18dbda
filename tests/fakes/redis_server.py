"""A Redis of a test's own, and a clock that moves when told."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path

import redis


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A Redis of this test's own, so that breaking it hurts nobody."""

    def __init__(self, folder: Path, port: int) -> None:
        binary = shutil.which("redis-server")
        assert binary, "redis-server is not installed (Debian: apt-get install redis-server)"
        self.port = port
        self.url = f"redis://127.0.0.1:{port}/0"
        self.process = subprocess.Popen(
            [
                binary,
                "--port",
                str(port),
                "--bind",
                "127.0.0.1",
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                str(folder),
            ],
            stdout=subprocess.DEVNULL,
        )
        self.admin = redis.Redis(port=port)
        for _ in range(100):
            try:
                self.admin.ping()
                return
            except redis.ConnectionError:
                time.sleep(0.05)
        raise AssertionError("redis-server did not start")

    def stop(self) -> None:
        self.admin.close()
        self.process.terminate()
        self.process.wait(timeout=10)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now
