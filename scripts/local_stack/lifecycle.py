"""The stack as a whole: `up` and `down`. Safe to repeat, to interrupt and to run at the same time."""

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import elasticsearch_health, processes, redis_server
from . import home as home_folder
from .distribution import VERSION
from .errors import StackError
from .given import given_urls, redacted
from .progress import Say
from .progress import say as say_to_stderr
from .start import NODE_COUNTS, Start, own_nodes, own_processes, redis_log

REPOSITORY = Path(__file__).resolve().parents[2]
HOME = REPOSITORY / ".local" / "stack"
# Beside the homes, not in one: the program files are the same for all.
DISTRIBUTION = REPOSITORY / ".local" / f"elasticsearch-{VERSION}"


@dataclass(frozen=True)
class Server:
    """One running server of the stack."""

    name: str
    url: str
    pid: int
    log: Path


@dataclass(frozen=True)
class StackInfo:
    """A stack that is up. A server given by ES_URL or REDIS_URL has its URL here, but no Server."""

    home: Path
    es_url: str
    redis_url: str
    nodes: tuple[Server, ...]
    redis: Server | None
    started: tuple[str, ...]

    @property
    def es_urls(self) -> tuple[str, ...]:
        """One URL for each node; `es_url` joins them with commas."""
        return tuple(self.es_url.split(","))


def up(
    home: Path = HOME,
    nodes: int = 1,
    es_port: int | None = None,
    redis_port: int | None = None,
    heap: str | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    distribution: Path = DISTRIBUTION,
    say: Say = say_to_stderr,
) -> StackInfo:
    """Start what does not run yet and return when all of it is healthy.

    `nodes`: 1 or 3. Ports: None for the default, 0 for free ones; node k listens on es_port + k - 1.
    `heap` of each node, like 512m or 1g (default 1g for one node, 512m for three).
    A server whose URL is in `environment` (default: the process') as ES_URL or REDIS_URL is not started, unless
    it is this stack's own. What this call has started is ended again when it fails or is interrupted.
    Raises StackError with what is missing or wrong.
    """
    env = dict(os.environ) if environment is None else dict(environment)
    home, distribution = home.resolve(), distribution.resolve()
    _check_arguments(home, distribution, nodes, heap)
    with home_folder.locked(home):
        given_es, given_redis = given_urls(home_folder.read_layout(home), own_processes(home), env)
        _announce(given_es, given_redis, say)
        start = Start(home, env, say)
        try:
            if given_redis is None:
                start.redis(redis_port)
            if given_es is None:
                start.elasticsearch(nodes, es_port, heap, distribution)
        except BaseException:
            start.undo()
            raise
        return _described(home, given_es, given_redis, tuple(process.name for process in start.started()))


def down(home: Path = HOME, *, say: Say = say_to_stderr) -> tuple[str, ...]:
    """End the recorded processes of `home` and nothing else; data stays. Returns the names of those that ran."""
    home = home.resolve()
    records = home_folder.records(home)
    if not records.is_dir():
        return ()
    with home_folder.locked(home):
        ended = processes.stop(
            processes.read_records(records),
            records,
            killed=lambda process: say(f"{process.name} (pid {process.pid}) did not end in time: killed"),
        )
        return tuple(process.name for process in ended)


def running(home: Path = HOME, *, environment: Mapping[str, str] | None = None) -> StackInfo:
    """What of the stack in `home` runs now, and the given servers; an empty URL where there is no server."""
    env = dict(os.environ) if environment is None else environment
    home = home.resolve()
    return _described(home, *given_urls(home_folder.read_layout(home), own_processes(home), env))


def _announce(given_es: str | None, given_redis: str | None, say: Say) -> None:
    if given_es is not None:
        answers = [elasticsearch_health.ask(url.strip()) for url in given_es.split(",")]
        troubles = [answer for answer in answers if isinstance(answer, str)]
        say(f"using ES_URL={redacted(given_es)}, nothing started{_warning(troubles)}")
    if given_redis is not None:
        trouble, _ = redis_server.ask(given_redis)
        say(
            f"using REDIS_URL={redacted(given_redis)}, nothing started{_warning([trouble] if trouble else [])}"
        )


def _warning(troubles: Sequence[str]) -> str:
    """Not an error: what a client with its own certificates and keys can reach, we may not."""
    return f" (warning: {'; '.join(troubles)}; unset it to start one here)" if troubles else ""


def _described(
    home: Path, given_es: str | None, given_redis: str | None, started: tuple[str, ...] = ()
) -> StackInfo:
    layout, alive = home_folder.read_layout(home), own_processes(home)
    nodes: tuple[Server, ...] = ()
    redis: Server | None = None
    if given_es is None:
        nodes = tuple(
            Server(node.name, node.url, alive[node.name].pid, node.log)
            for node in own_nodes(home, layout)
            if node.name in alive
        )
    if given_redis is None and layout.redis_port is not None and redis_server.NAME in alive:
        pid = alive[redis_server.NAME].pid
        redis = Server(redis_server.NAME, redis_server.url(layout.redis_port), pid, redis_log(home))
    es_url = given_es or ",".join(node.url for node in nodes)
    redis_url = given_redis or ("" if redis is None else redis.url)
    return StackInfo(home, es_url, redis_url, nodes, redis, started)


def _check_arguments(home: Path, distribution: Path, nodes: int, heap: str | None) -> None:
    if sys.platform != "linux":
        raise StackError("this stack runs on Linux; elsewhere set ES_URL and REDIS_URL to running servers")
    if nodes not in NODE_COUNTS:
        raise StackError(f"{nodes} nodes: choose one of {NODE_COUNTS}")
    if heap is not None and not re.fullmatch(r"[1-9]\d*[mg]", heap):
        raise StackError(f"heap {heap!r}: write it like 512m or 1g")
    for folder in (home, distribution):
        # Java splits class paths at colons, Elasticsearch splits path lists at commas.
        if set(str(folder)) & set(":,"):
            raise StackError(
                f"{folder}: Elasticsearch cannot run in a folder with a colon or comma in its path"
            )
