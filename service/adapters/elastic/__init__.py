"""Elasticsearch 9 as the engine: every port of `service.domain.ports` over one client.

Takes: node URLs, an index prefix, domain values. Returns: domain values; errors of `service.errors`.
Called by: bootstrap, through `open_elastic`.
Never does: use what only the licensed or module-carrying distribution has, or build a query without a Scope.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from service.domain.ports import Engine


def open_elastic(
    prefix: str,
    hosts: Sequence[str],
    *,
    api_key: str | None = None,
    username: str | None = None,
    password: str | None = None,
    ca_certs: Path | None = None,
) -> Engine:
    """The engine over these node URLs. Nothing is sent yet: each store makes its index when first written to.

    Raises Misconfigured for credentials that do not fit together.
    """
    # Imported late: the client costs a fifth of a second, and the mapping files are read without it.
    from service.adapters.elastic.client import make_client
    from service.adapters.elastic.engine import assemble

    client = make_client(hosts, api_key=api_key, username=username, password=password, ca_certs=ca_certs)
    return assemble(client, prefix)
