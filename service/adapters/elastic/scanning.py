"""Reading a whole index in order, in a point in time: a write meanwhile changes nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from elasticsearch import ApiError, Elasticsearch, TransportError

from service.adapters.elastic.client import translated

KEEP_ALIVE = "3m"


def scan(
    client: Elasticsearch,
    index: str,
    query: dict[str, Any],
    sort: Sequence[str],
    *,
    page: int = 1000,
    source: Any = True,
    seq_no: bool = False,
) -> Iterator[dict[str, Any]]:
    """Every hit of the query, ordered by the named fields. Refreshes first: every finished write is seen."""
    with translated(f"reading {index}"):
        client.indices.refresh(index=index)
        pit = client.open_point_in_time(index=index, keep_alive=KEEP_ALIVE)["id"]
    try:
        after: list[Any] | None = None
        while True:
            with translated(f"reading {index}"):
                answer = client.search(
                    pit={"id": pit, "keep_alive": KEEP_ALIVE},
                    query=query,
                    sort=[{field: "asc"} for field in sort],
                    size=page,
                    search_after=after,
                    track_total_hits=False,
                    allow_partial_search_results=False,
                    source=source,
                    seq_no_primary_term=seq_no,
                )
            pit = answer.get("pit_id", pit)
            hits: list[dict[str, Any]] = answer["hits"]["hits"]
            yield from hits
            if len(hits) < page:
                return
            after = hits[-1]["sort"]
    finally:
        # The point in time ends by itself; a failure to close it early must not hide why the scan ended.
        with contextlib.suppress(ApiError, TransportError):
            client.close_point_in_time(id=pit)
