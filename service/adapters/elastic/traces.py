"""Request traces in Elasticsearch: one index a day, the oldest dropped when a new day begins."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from elasticsearch import NotFoundError

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import to_text

# A trace serves to look into a request soon after it; it is no log.
KEEP_DAYS = 7


class ElasticTraces:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def save(self, trace_id: str, record: Mapping[str, Any]) -> None:
        text = to_text(dict(record))
        check_storable(trace_id, text)
        now = datetime.now(UTC)
        index = self._index_of(now)
        document = {
            "traceId": trace_id,
            "corpus": record.get("corpus"),
            "cites": bool((record.get("outcome") or {}).get("citations")),
            "savedAt": now.isoformat(timespec="milliseconds"),
            "trace": text,
        }
        new_day = not self._system.known(index)
        self._system.ensure("traces", index)
        with translated("saving a trace"):
            self._system.client.index(index=index, id=key_id("trace", trace_id), document=document)
        if new_day:
            self._drop_old(now)

    def get(self, trace_id: str) -> dict[str, Any] | None:
        today = datetime.now(UTC)
        id_ = key_id("trace", trace_id)
        days = [
            {"_index": self._index_of(today - timedelta(days=n)), "_id": id_} for n in range(KEEP_DAYS + 1)
        ]
        with translated("reading a trace"):
            # By id, so in real time; a day without an index answers with an error of its own item.
            answer = self._system.client.mget(docs=days)
        for item in answer["docs"]:
            if item.get("found"):
                record: dict[str, Any] = json.loads(item["_source"]["trace"])
                return record
        return None

    def citing(self, corpus: str, most: int) -> list[dict[str, Any]]:
        indices = f"{self._system.name('traces')}-*"
        with translated("reading traces"):
            self._system.client.indices.refresh(index=indices, allow_no_indices=True)
            answer = self._system.client.search(
                index=indices,
                query={"bool": {"filter": [{"term": {"corpus": corpus}}, {"term": {"cites": True}}]}},
                # An index of an earlier release, or an empty one, may not have the field.
                sort=[{"savedAt": {"order": "desc", "unmapped_type": "date"}}],
                size=most,
                track_total_hits=False,
                source={"includes": ["trace"]},
            )
        return [json.loads(hit["_source"]["trace"]) for hit in answer["hits"]["hits"]]

    def _index_of(self, day: datetime) -> str:
        return f"{self._system.name('traces')}-{day:%Y.%m.%d}"

    def _drop_old(self, now: datetime) -> None:
        head = f"{self._system.name('traces')}-"
        kept = {self._index_of(now - timedelta(days=n)) for n in range(-1, KEEP_DAYS + 1)}
        with translated("dropping old traces"):
            found = self._system.client.indices.get_alias(index=f"{head}*", allow_no_indices=True)
            for index in found.body:
                if index not in kept and _is_day(index.removeprefix(head)):
                    try:
                        self._system.client.indices.delete(index=index)
                    except NotFoundError:
                        continue  # Another process began the day too.


def _is_day(text: str) -> bool:
    try:
        datetime.strptime(text, "%Y.%m.%d")
    except ValueError:
        return False
    return True
