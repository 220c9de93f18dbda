"""What an operator should know of the cluster: its nodes, copies, mappings, clocks. Asked by `attest doctor` only."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from elasticsearch import Elasticsearch

from service.adapters.disk import disk_finding, used_percent
from service.adapters.elastic.client import translated
from service.adapters.elastic.mappings import CURRENT
from service.adapters.elastic.system import SYSTEM, SystemIndices
from service.errors import AttestError

_TIMEOUT_S = 10.0
# Garbage collection lets the heap climb and fall; this far up it no longer gets it down.
_HEAP_FULL = 90
# Ages and windows are counted in hours; whether a job is lost, in a minute.
_CLOCKS_APART_S = 10.0


def facts(system: SystemIndices) -> dict[str, str]:
    """Part → finding. A cluster that does not answer is a finding too."""
    client = system.client.options(request_timeout=_TIMEOUT_S, max_retries=0)
    try:
        with translated("asking the cluster how it is"):
            return {
                **dict(_nodes(client)),
                "copies": _copies(client, system),
                "mappings": _mappings(client, system),
            }
    except AttestError as error:
        return {"cluster": error.message}


def _nodes(client: Elasticsearch) -> Iterator[tuple[str, str]]:
    # "_none" alone would be read as the name of a node, and no node would be told.
    told = client.nodes.info(node_id="_all", metric="_none")["nodes"]
    asked = time.time()
    answer = client.nodes.stats(metric=["fs", "jvm"])
    answered = time.time()
    if silent := answer["_nodes"]["failed"]:
        yield "nodes", f"{silent} of {answer['_nodes']['total']} nodes do not answer; look into their logs"
    named: set[str] = set()
    for id_, node in sorted(answer["nodes"].items(), key=lambda found: (found[1]["name"], found[0])):
        # Two nodes may be called alike; neither may hide the other.
        name = node["name"] if node["name"] not in named else f"{node['name']} {id_}"
        named.add(name)
        yield f"node {name}", node_finding(node, told[id_]["version"] if id_ in told else "unknown")
        yield f"clock of {name}", clock_finding(node["timestamp"] / 1000, asked, answered)


def node_finding(node: Mapping[str, Any], version: str) -> str:
    """Version, disk and heap of a node, as `_nodes/stats` tells them; the worst of them first."""
    total = node["fs"]["total"]
    free = total["available_in_bytes"]
    finding = disk_finding(used_percent(total["total_in_bytes"], free), free, "its disk")
    heap = node["jvm"]["mem"]["heap_used_percent"]
    if heap >= _HEAP_FULL and finding.startswith("ok: "):
        said = finding.removeprefix("ok: ")
        return f"degraded: heap {heap} %, give it more if this stays; version {version}, {said}"
    return f"{finding}; version {version}, heap {heap} %"


def clock_finding(theirs: float, asked: float, answered: float) -> str:
    """The node's clock against ours, which stood between `asked` and `answered` when it looked: no less than this is
    between them."""
    apart = max(asked - theirs, theirs - answered, 0.0)
    if apart < _CLOCKS_APART_S:
        return f"ok: within {max(apart, answered - asked):.1f} s of ours"
    behind = "behind" if theirs < asked else "ahead of"
    return f"degraded: {apart:.0f} s {behind} ours; let both machines set their clocks by NTP"


def _copies(client: Elasticsearch, system: SystemIndices) -> str:
    """Shards of this prefix that have no place. Replicas that miss one are a risk, not a fault."""
    health = client.cluster.health(index=f"{system.prefix}-*")
    lost, missing = health["unassigned_primary_shards"], health["unassigned_shards"]
    nodes = f"{health['number_of_data_nodes']} data nodes"
    if lost:
        return (
            f"{lost} shards have no copy left on {nodes}; bring their node back, or restore the last snapshot"
        )
    if missing:
        fewer = "ask for fewer in corpus.toml, else by ATTEST_ES_REPLICAS"
        return f"degraded: {missing} replicas are on no node, {nodes}; add one, or {fewer}"
    return f"ok: all {health['active_shards']} shards and copies are in place, {nodes}"


def _mappings(client: Elasticsearch, system: SystemIndices) -> str:
    """The system indices' mapping versions against those of this release; what was not made yet has none."""
    kinds = {system.name(kind): kind for kind in SYSTEM}
    found = client.indices.get_mapping(index=list(kinds), ignore_unavailable=True, allow_no_indices=True)
    said = []
    older = False
    for index, body in sorted(found.body.items()):
        kind = kinds[index]
        version = body["mappings"].get("_meta", {}).get("version")
        if not isinstance(version, int) or version > CURRENT[kind]:
            return f"{index} has version {version}, this release knows {CURRENT[kind]}; run the release that made it"
        older |= version < CURRENT[kind]
        said.append(f"{kind} {version}" + (f" of {CURRENT[kind]}" if version < CURRENT[kind] else ""))
    if not said:
        return "ok: none made yet"
    return ("degraded: the next write brings them up to date: " if older else "ok: ") + ", ".join(said)
