"""Servers given by ES_URL and REDIS_URL, told apart from those of this stack."""

import re
from collections.abc import Collection, Mapping
from urllib.parse import urlsplit

from .home import Layout
from .ports import HOST, is_free


def given_urls(
    layout: Layout, running: Collection[str], environment: Mapping[str, str]
) -> tuple[str | None, str | None]:
    """ES_URL and REDIS_URL, each None when it is not set or names this stack's own server.

    After `eval "$(scripts/stack env)"` they name the stack itself, which `up` must be able to start again. So a
    recorded port is ours while our server runs (`running`: names of live processes) or nobody listens there.
    """
    es, redis = environment.get("ES_URL", "").strip(), environment.get("REDIS_URL", "").strip()
    redis_ports = () if layout.redis_port is None else (layout.redis_port,)
    es_runs = any(name.startswith("node-") for name in running)
    es_ours = all(_is_ours(url, layout.http_ports, es_runs) for url in es.split(","))
    return (
        es if es and not es_ours else None,
        redis if redis and not _is_ours(redis, redis_ports, "redis" in running) else None,
    )


def redacted(urls: str) -> str:
    """`urls` for the screen: without user and password."""
    return re.sub(r"(?<=://)[^/@,\s]*@", "", urls)


def _is_ours(url: str, recorded: Collection[int], runs: bool) -> bool:
    try:
        parts = urlsplit(url.strip())
        port = parts.port
    except ValueError:
        return False
    if parts.hostname not in (HOST, "localhost") or port is None or port not in recorded:
        return False
    return runs or is_free(port)
