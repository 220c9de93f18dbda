"""Elasticsearch put together as one Engine."""

from __future__ import annotations

from elasticsearch import Elasticsearch

from service.adapters.elastic.archive import ElasticArchive
from service.adapters.elastic.audit import ElasticAudit
from service.adapters.elastic.builds import ElasticBuilds
from service.adapters.elastic.client import translated
from service.adapters.elastic.erasing import erase
from service.adapters.elastic.facts import facts
from service.adapters.elastic.generations import ElasticGenerations
from service.adapters.elastic.jobs import ElasticJobs
from service.adapters.elastic.registry import ElasticRegistry
from service.adapters.elastic.retrieval import ElasticRetrieval
from service.adapters.elastic.reviews import ElasticReviews
from service.adapters.elastic.system import SystemIndices
from service.adapters.elastic.traces import ElasticTraces
from service.domain.ports import Engine
from service.errors import AttestError

NAME = "elasticsearch"
_READY_TIMEOUT_S = 2.0
# The client speaks its own major's protocol; an older server answers 400 to everything.
_MAJOR = "9."


def assemble(client: Elasticsearch, prefix: str) -> Engine:
    """All stores over one client."""
    system = SystemIndices(client, prefix)
    return Engine(
        name=NAME,
        prefix=prefix,
        archive=ElasticArchive(system),
        registry=ElasticRegistry(system),
        audit=ElasticAudit(system),
        generations=ElasticGenerations(client, prefix),
        retrieval=ElasticRetrieval(client, prefix),
        builds=ElasticBuilds(system),
        jobs=ElasticJobs(system),
        traces=ElasticTraces(system),
        reviews=ElasticReviews(system),
        ready=lambda: {NAME: _state(client)},
        facts=lambda: facts(system),
        erase=lambda: erase(system),
    )


def _state(client: Elasticsearch) -> str:
    """ "ok" or what is wrong. The root endpoint is never asked: not every node serves it."""
    quick = client.options(request_timeout=_READY_TIMEOUT_S, max_retries=0)
    try:
        with translated("checking health"):
            health = quick.cluster.health()
            nodes = quick.nodes.info(node_id="_all", metric="_none")["nodes"].values()
    except AttestError as error:
        return error.message
    if health["status"] == "red":
        return "the cluster is red: some shards have no copy"
    old = sorted({node["version"] for node in nodes if not node["version"].startswith(_MAJOR)})
    return f"version {old[0]} is not supported, 9.x is needed" if old else "ok"
