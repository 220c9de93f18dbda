"""An Elasticsearch and a Redis of an experiment's own, to be killed: started by scripts/stack on free ports, in a
folder that goes with them."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from service.errors import Misconfigured

_SCRIPT = Path(__file__).parents[3] / "scripts" / "stack"
_PATIENCE_S = 600.0
_HEAP = "512m"


def in_checkout() -> bool:
    """An installed package has no scripts/ beside it."""
    return _SCRIPT.is_file()


@dataclass(frozen=True, slots=True)
class Server:
    """One running server: its process id and the port by which it is seen to be gone."""

    name: str
    pid: int
    port: int

    @property
    def address(self) -> str:
        return f"{self.pid}:{self.port}"


class OwnStack:
    """`with OwnStack(nodes) as stack`; everything it started is ended at the end, and nothing else."""

    def __init__(self, nodes: int = 1) -> None:
        if not in_checkout():
            raise Misconfigured(
                "Killing servers needs a checkout: scripts/stack, which starts them, is not in the package."
            )
        self._nodes = nodes
        self._home = Path(tempfile.mkdtemp(prefix="attest-stack-"))
        self._ports = (0, 0)
        self.servers: dict[str, Server] = {}
        self.es_url = self.redis_url = ""

    def __enter__(self) -> OwnStack:
        try:
            self.up()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def up(self) -> None:
        """Starts what does not run, on the ports it had before, and waits until all is healthy."""
        es_port, redis_port = map(str, self._ports)
        options = ["--nodes", str(self._nodes), "--heap", _HEAP, "--json"]
        told = json.loads(self._call("up", "--es-port", es_port, "--redis-port", redis_port, *options))
        self.es_url, self.redis_url = told["esUrl"], told["redisUrl"]
        self.servers = {server["name"]: _server(server) for server in told["servers"]}
        self._ports = self.servers["node-1"].port, self.servers["redis"].port

    def kill(self, name: str) -> None:
        """`kill -9` of one server, and back when nobody answers on its port."""
        kill(self.servers[name].address)

    def _end(self) -> None:
        try:
            self._call("down")
        finally:
            shutil.rmtree(self._home, ignore_errors=True)

    def _call(self, command: str, *options: str) -> str:
        # Servers that the environment names are somebody else's.
        environment = {k: v for k, v in os.environ.items() if k not in ("ES_URL", "REDIS_URL")}
        call = [str(_SCRIPT), "--home", str(self._home), command, *options]
        done = subprocess.run(
            call, env=environment, capture_output=True, text=True, timeout=_PATIENCE_S, check=False
        )
        if done.returncode != 0:
            raise Misconfigured(f"scripts/stack {command} failed: {done.stderr[-500:]}")
        return done.stdout


def kill(address: str) -> None:
    """`kill -9` of PID:PORT, and back when nobody answers on the port."""
    pid, port = map(int, address.split(":"))
    os.kill(pid, 9)
    while _listens(port):
        time.sleep(0.02)


def _server(told: dict[str, Any]) -> Server:
    return Server(told["name"], told["pid"], int(told["url"].rpartition(":")[2].strip("/")))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
