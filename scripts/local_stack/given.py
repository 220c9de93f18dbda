"""Servers that are given by ES_URL and REDIS_URL, told apart from those of this stack."""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from .home import read_layout

ES_PORT = 9271
REDIS_PORT = 6391


def redacted(url: str) -> str:
    """`url` for the screen: passwords left out."""
    return re.sub(r"(?<=://)([^/@,\s]*)@", "…@", url)


def given_urls(
    home: Path, environment: Mapping[str, str], es_port: int | None = None, redis_port: int | None = None
) -> tuple[str | None, str | None]:
    """ES_URL and REDIS_URL where they name servers that are not this stack's.

    After `eval "$(scripts/stack env)"` they name this stack, and `up` must still be able to start it again.
    """
    layout = read_layout(home)
    own_es = {*layout.http_ports, ES_PORT if es_port is None else es_port} - {0}
    own_redis = {layout.redis_port, REDIS_PORT if redis_port is None else redis_port} - {0, None}
    es, redis = environment.get("ES_URL", "").strip(), environment.get("REDIS_URL", "").strip()
    return (
        es if es and not all(_is_local(url, own_es) for url in es.split(",")) else None,
        redis if redis and not _is_local(redis, own_redis) else None,
    )


def _is_local(url: str, own_ports: Collection[int | None]) -> bool:
    try:
        parts = urlsplit(url.strip())
        return parts.hostname in ("127.0.0.1", "localhost") and parts.port in own_ports
    except ValueError:
        return False
