"""One Elasticsearch node: its folder, its configuration, its command line."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .distribution import Distribution
from .launcher import MAIN_CLASS
from .ports import HOST

CLUSTER_NAME = "local-stack"
_LOG_CONFIGURATION = """status = error
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = ${sys:es.logs.base_path}${sys:file.separator}elasticsearch.log
appender.file.filePattern = ${sys:es.logs.base_path}${sys:file.separator}elasticsearch-%i.log
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = [%d{ISO8601}][%-5p][%-25c{1.}] [%node_name]%marker %m%n
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 20MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 2
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
"""


@dataclass(frozen=True)
class Node:
    """A node to be: where it keeps its files, on which ports it listens."""

    name: str
    folder: Path
    http_port: int
    transport_port: int

    @property
    def url(self) -> str:
        """Its HTTP address."""
        return f"http://{HOST}:{self.http_port}"

    @property
    def log(self) -> Path:
        """What Elasticsearch logs."""
        return self.folder / "logs" / "elasticsearch.log"

    @property
    def output(self) -> Path:
        """What the process prints: a failed start ends up here."""
        return self.folder / "logs" / "process.out"


def nodes_of(cluster: Path, http_ports: Sequence[int], transport_ports: Sequence[int]) -> tuple[Node, ...]:
    """The nodes of a cluster: node-1, node-2, …"""
    pairs = zip(http_ports, transport_ports, strict=True)
    return tuple(
        Node(f"node-{number}", cluster / f"node-{number}", http, transport)
        for number, (http, transport) in enumerate(pairs, start=1)
    )


def settings(
    node: Node, nodes: Sequence[Node], snapshots: Path, formed: bool
) -> dict[str, str | bool | list[str]]:
    """elasticsearch.yml of `node`. `formed`: the cluster was formed once and must not be formed again."""
    common: dict[str, str | bool | list[str]] = {
        "cluster.name": CLUSTER_NAME,
        "node.name": node.name,
        "network.host": HOST,
        "http.port": str(node.http_port),
        "transport.port": str(node.transport_port),
        "path.data": str(node.folder / "data"),
        "path.logs": str(node.folder / "logs"),
        "path.repo": [str(snapshots)],
        # Disks of laptops and build machines are often nearly full; by default shards would stay unassigned.
        "cluster.routing.allocation.disk.threshold_enabled": False,
        "action.destructive_requires_name": True,
    }
    if len(nodes) == 1:
        return {**common, "discovery.type": "single-node"}
    seeds = [f"{HOST}:{each.transport_port}" for each in nodes if each != node]
    forming = {} if formed else {"cluster.initial_master_nodes": [each.name for each in nodes]}
    return {**common, "discovery.seed_hosts": seeds, **forming}


def yaml_text(values: Mapping[str, str | bool | list[str]]) -> str:
    """Flat YAML. Strings are double-quoted with escapes, so that any path is read back as it is."""

    def quoted(text: str) -> str:
        return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

    def written(value: str | bool | list[str]) -> str:
        if isinstance(value, bool):
            return str(value).lower()
        return quoted(value) if isinstance(value, str) else "[" + ", ".join(map(quoted, value)) + "]"

    return "".join(f"{key}: {written(value)}\n" for key, value in values.items())


def write_files(node: Node, nodes: Sequence[Node], snapshots: Path, formed: bool) -> None:
    """Make the node's folders and write its configuration; data is left as it is."""
    for part in ("config", "data", "logs", "tmp"):
        (node.folder / part).mkdir(parents=True, exist_ok=True)
    snapshots.mkdir(parents=True, exist_ok=True)
    yaml = yaml_text(settings(node, nodes, snapshots, formed))
    (node.folder / "config" / "elasticsearch.yml").write_text(yaml, encoding="utf-8")
    (node.folder / "config" / "log4j2.properties").write_text(_LOG_CONFIGURATION, encoding="utf-8")


def command(node: Node, distribution: Distribution, heap: str) -> list[str]:
    """The command line of `node`; `heap` as Java writes it: 512m, 1g."""
    java = distribution.java
    # The default collector runs several threads in each of up to three nodes; on few cores they only take time
    # from each other.
    collector = ["-XX:+UseSerialGC"] if (os.cpu_count() or 1) <= 4 else []
    vector = ["--add-modules", "jdk.incubator.vector"] if java.vector else []
    return [
        str(java.java),
        f"-Xms{heap}",
        f"-Xmx{heap}",
        *collector,
        # Out of memory: end, so that `status` tells the truth instead of a half-dead node.
        "-XX:+ExitOnOutOfMemoryError",
        f"-XX:ErrorFile={node.folder}/logs/hs_err_%p.log",
        *vector,
        "--enable-native-access=ALL-UNNAMED",
        # Elasticsearch's own vector library is not published; Lucene's code on the vector module does the work.
        "-Dorg.elasticsearch.nativeaccess.enableVectorLibrary=false",
        # As in Elasticsearch's jvm.options: the launcher closes the node, which logs while it closes.
        "-Dlog4j.shutdownHookEnabled=false",
        "-Dlog4j2.disable.jmx=true",
        "-Dio.netty.noUnsafe=true",
        f"-Des.path.home={distribution.folder}",
        f"-Des.path.conf={node.folder}/config",
        f"-Djava.io.tmpdir={node.folder}/tmp",
        "-cp",
        distribution.class_path,
        MAIN_CLASS,
    ]


def process_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """What the Java process inherits: without options meant for other Javas, with file names in UTF-8."""
    dropped = {"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH"}
    kept = {name: value for name, value in environment.items() if name not in dropped}
    return {**kept, "LC_ALL": "C.UTF-8"}
