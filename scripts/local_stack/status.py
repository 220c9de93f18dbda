"""Is the stack well: every server asked, nothing started or ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from . import elasticsearch_health, redis_server
from .given import redacted
from .home import read_layout, records
from .lifecycle import HOME, StackInfo, running
from .processes import read_records
from .start import own_nodes


@dataclass(frozen=True)
class ServerStatus:
    """One server as it answers now. `state`: green, yellow, red, ok, or in a few words what is wrong."""

    name: str
    url: str
    pid: int | None
    state: str
    version: str | None
    healthy: bool


@dataclass(frozen=True)
class StackStatus:
    """All servers; `healthy` only if each is, and there is an Elasticsearch and a Redis."""

    info: StackInfo
    servers: tuple[ServerStatus, ...]
    healthy: bool


def status(home: Path = HOME, *, environment: Mapping[str, str] | None = None) -> StackStatus:
    """Ask every server of the stack in `home`, or the ones given by ES_URL and REDIS_URL."""
    info = running(home, environment=environment)
    given = bool(info.es_url) and not info.nodes
    elasticsearch = _given_elasticsearch(info.es_url) if given else _own_elasticsearch(info)
    servers = (*elasticsearch, *_redis(info))
    kinds_there = bool(elasticsearch) and len(servers) > len(elasticsearch)
    return StackStatus(info, servers, kinds_there and all(server.healthy for server in servers))


def _own_elasticsearch(info: StackInfo) -> tuple[ServerStatus, ...]:
    """Every node the stack was started with, also those that have died; none if none was started."""
    alive = {server.name: server for server in info.nodes}
    if not any(process.name != redis_server.NAME for process in read_records(records(info.home))):
        return ()
    nodes = own_nodes(info.home, read_layout(info.home))
    versions: dict[str, str] = {}
    found = []
    for node in nodes:
        server = alive.get(node.name)
        if server is None:
            found.append(ServerStatus(node.name, node.url, None, "not running", None, False))
            continue
        answer = elasticsearch_health.ask(node.url)
        versions = versions or elasticsearch_health.versions(node.url)
        well = isinstance(answer, elasticsearch_health.Health) and answer.is_well(len(nodes))
        found.append(
            ServerStatus(
                node.name,
                node.url,
                server.pid,
                elasticsearch_health.described(answer, len(nodes)),
                versions.get(node.name),
                well,
            )
        )
    return tuple(found)


def _given_elasticsearch(urls: str) -> tuple[ServerStatus, ...]:
    found = []
    for url in urls.split(","):
        answer = elasticsearch_health.ask(url.strip())
        versions = elasticsearch_health.versions(url.strip()) if not isinstance(answer, str) else {}
        # How many nodes a cluster of others should have, only they know.
        well = not isinstance(answer, str) and answer.is_well(answer.nodes)
        state = answer if isinstance(answer, str) else answer.status
        version = ", ".join(sorted(set(versions.values()))) or None
        found.append(ServerStatus("ES_URL", redacted(url.strip()), None, state, version, well))
    return tuple(found)


def _redis(info: StackInfo) -> tuple[ServerStatus, ...]:
    if not info.redis_url:
        return ()
    trouble, version = redis_server.ask(info.redis_url)
    name, pid = ("REDIS_URL", None) if info.redis is None else (info.redis.name, info.redis.pid)
    return (ServerStatus(name, redacted(info.redis_url), pid, trouble or "ok", version, trouble is None),)
