"""One run of `up` on a locked home: what runs is found, what is missing is started, a failure is undone."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from . import elasticsearch_health, elasticsearch_node, ports, processes, redis_server
from . import home as home_folder
from .distribution import Distribution, prepare
from .elasticsearch_node import Node
from .errors import StackError
from .home import Layout
from .processes import Recorded
from .progress import Say

ES_PORT = 9271
REDIS_PORT = 6391
_UNDO_SECONDS = 10.0
_HEAP = {1: "1g", 3: "512m"}
NODE_COUNTS = tuple(_HEAP)


def own_nodes(home: Path, layout: Layout) -> tuple[Node, ...]:
    """The Elasticsearch nodes that `home` was last started with."""
    cluster = home_folder.cluster(home, layout.nodes)
    return elasticsearch_node.nodes_of(cluster, layout.http_ports, layout.transport_ports)


def own_processes(home: Path) -> dict[str, Recorded]:
    """The recorded processes of `home` that are alive, by name."""
    recorded = processes.read_records(home_folder.records(home))
    return {process.name: process for process in recorded if processes.is_alive(process)}


def redis_log(home: Path) -> Path:
    """Where the Redis of `home` writes its log."""
    return home / "redis" / "redis.log"


def chosen_port(asked: int | None, default: int, server: str, option: str) -> int:
    """The port to start `server` on: `asked`, the default for None, a free one for 0; StackError if taken."""
    if asked == 0:
        return ports.pick_free(1)[0]
    port = default if asked is None else asked
    ports.require_free(port, server, option)
    return port


def new_cluster(nodes: int, port: int | None, heap: str | None, layout: Layout) -> Layout:
    """`layout` with ports and heap for a cluster about to be started; transport ports are any free ones."""
    if port == 0:
        free = ports.pick_free(2 * nodes)
        http, transport = free[:nodes], free[nodes:]
    else:
        first = ES_PORT if port is None else port
        http = tuple(range(first, first + nodes))
        for each in http:
            ports.require_free(each, "Elasticsearch", "--es-port")
        transport = ports.pick_free(nodes, taken=http)
    return replace(layout, http_ports=http, transport_ports=transport, heap=heap or _HEAP[nodes])


class Start:
    """The run. `layout` is kept up to date on disk, so that the next run can take up an interrupted one."""

    def __init__(self, home: Path, environment: Mapping[str, str], say: Say) -> None:
        self.home = home
        self.layout = home_folder.read_layout(home)
        self._environment = environment
        self._say = say
        self._records = home_folder.records(home)
        self._running = own_processes(home)
        for stale in processes.read_records(self._records):
            if stale.name not in self._running:
                processes.forget(self._records, stale.name)

    def redis(self, asked_port: int | None) -> None:
        """Find Redis running or start it, and wait until it answers."""
        process, port = self._running.get(redis_server.NAME), self.layout.redis_port
        if process is None or port is None:
            program = redis_server.program(self._say)
            port = chosen_port(asked_port, REDIS_PORT, "Redis", "--redis-port")
            self._remember(replace(self.layout, redis_port=port))
            argv = redis_server.command(program, port, self.home / "redis")
            process = self._spawn(redis_server.NAME, argv, self._environment, redis_log(self.home))
        else:
            _require_same_port("Redis", asked_port, port)
            self._say(f"Redis already runs (pid {process.pid})")
        started = process
        redis_server.wait(port, redis_log(self.home), lambda: not processes.is_alive(started))

    def elasticsearch(
        self, count: int, asked_port: int | None, heap: str | None, program_folder: Path
    ) -> None:
        """Find the nodes running, start those that are missing, wait until all of them see each other."""
        alive = {name: process for name, process in self._running.items() if name != redis_server.NAME}
        if alive:
            self._require_same_size(count)
            _require_same_port("Elasticsearch", asked_port, self.layout.http_ports[0])
        if len(alive) == count:
            self._say(
                f"Elasticsearch already runs (pid {', '.join(str(each.pid) for each in alive.values())})"
            )
        else:
            distribution = prepare(program_folder, self._environment, self._say)
            if not alive:
                self._remember(new_cluster(count, asked_port, heap, self.layout))
            alive |= self._spawn_missing(distribution, set(alive))
        nodes = own_nodes(self.home, self.layout)
        elasticsearch_health.wait(nodes, lambda node: not processes.is_alive(alive[node.name]))
        self._formed_mark(count).touch()

    def started(self) -> tuple[Recorded, ...]:
        """What this run has started. Read from the records, which know a process from its first moment on."""
        return tuple(
            each for each in processes.read_records(self._records) if each != self._running.get(each.name)
        )

    def undo(self) -> None:
        """End what this run has started; what ran before goes on."""
        alive = [process for process in self.started() if processes.is_alive(process)]
        if alive:
            self._say(f"ending what was started: {', '.join(each.name for each in alive)}")
        processes.stop(self.started(), self._records, _UNDO_SECONDS)

    def _require_same_size(self, count: int) -> None:
        if self.layout.nodes != count:
            raise StackError(
                f"an Elasticsearch of {self.layout.nodes} node(s) runs in {self.home}: "
                f"scripts/stack down first, then up --nodes {count} (each size keeps data of its own)"
            )

    def _spawn_missing(self, distribution: Distribution, alive: set[str]) -> dict[str, Recorded]:
        nodes = own_nodes(self.home, self.layout)
        snapshots = home_folder.cluster(self.home, len(nodes)) / "snapshots"
        env = elasticsearch_node.process_environment(self._environment)
        spawned = {}
        for node in (each for each in nodes if each.name not in alive):
            elasticsearch_node.write_files(node, nodes, snapshots, self._formed_mark(len(nodes)).exists())
            argv = elasticsearch_node.command(node, distribution, self.layout.heap)
            spawned[node.name] = self._spawn(node.name, argv, env, node.output)
        return spawned

    def _formed_mark(self, count: int) -> Path:
        """Exists when this cluster has been formed once: then its nodes must join it, never form another."""
        return home_folder.cluster(self.home, count) / "formed"

    def _spawn(self, name: str, argv: list[str], env: Mapping[str, str], output: Path) -> Recorded:
        try:
            process = processes.spawn(name, argv, env, output, self._records)
        except OSError as error:
            raise StackError(f"{name} cannot be started: {error}") from error
        self._say(f"{name} started (pid {process.pid}), log in {output.parent}")
        return process

    def _remember(self, layout: Layout) -> None:
        self.layout = layout
        home_folder.write_layout(self.home, layout)


def _require_same_port(server: str, asked: int | None, current: int) -> None:
    if asked not in (None, 0, current):
        raise StackError(f"{server} of this stack already runs on port {current}: scripts/stack down first")
