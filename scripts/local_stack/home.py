"""The home folder of one stack: what lies where, what it was last started with, and the lock on it.

stack.json        layout of the last start         lock               held while a command changes something
run/NAME.pid      recorded processes               redis/redis.log    Redis' log
cluster-N/        data of the N-node cluster: node-K/{config,data,logs,tmp}, snapshots/, formed
"""

import fcntl
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .errors import StackError
from .progress import Waiting

LOCK_SECONDS = 300.0


@dataclass(frozen=True)
class Layout:
    """What the home was last started with. No Elasticsearch: empty ports. No Redis: port None."""

    http_ports: tuple[int, ...] = ()
    transport_ports: tuple[int, ...] = ()
    heap: str = ""
    redis_port: int | None = None

    @property
    def nodes(self) -> int:
        """Number of Elasticsearch nodes."""
        return len(self.http_ports)


def records(home: Path) -> Path:
    """Folder of the process records."""
    return home / "run"


def cluster(home: Path, nodes: int) -> Path:
    """Folder of the cluster of that size. Each size has data of its own: a node's data knows its cluster."""
    return home / f"cluster-{nodes}"


def read_layout(home: Path) -> Layout:
    """The recorded layout; an empty one when there is none or it cannot be read."""
    try:
        fields: Any = json.loads((home / "stack.json").read_text(encoding="utf-8"))
        return Layout(
            tuple(int(port) for port in fields["http_ports"]),
            tuple(int(port) for port in fields["transport_ports"]),
            str(fields["heap"]),
            None if fields["redis_port"] is None else int(fields["redis_port"]),
        )
    except (OSError, ValueError, TypeError, KeyError):
        return Layout()


def write_layout(home: Path, layout: Layout) -> None:
    """Record `layout` in one step."""
    partial = home / "stack.json.new"
    partial.write_text(json.dumps(asdict(layout), indent=1) + "\n", encoding="utf-8")
    partial.replace(home / "stack.json")


@contextmanager
def locked(folder: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Hold the folder's lock, which the system drops when the holder dies; StackError after `seconds`."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as file:
        waiting = Waiting(f"another command is at work in {folder}")
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if waiting.seconds > seconds:
                    raise StackError(f"another command has held {folder}/lock for {seconds:.0f} s") from None
                waiting.tick("waiting for it")
                time.sleep(0.1)
        yield
