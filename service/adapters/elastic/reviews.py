"""Undecided claims in Elasticsearch, compare-and-set, dropped when traces of their day would be."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.documents import get_records, put_with_token
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.elastic.traces import KEEP_DAYS
from service.adapters.records import review_from_text, review_to_text
from service.domain.reviews import Review
from service.errors import GenerationGone


class ElasticReviews:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def get(self, review_id: str) -> Review | None:
        id_ = key_id("review", review_id)
        found = get_records(self._system, "reviews", [id_]).get(id_)
        return None if found is None else review_from_text(found.source["record"], found.token)

    def write(self, review: Review) -> Review:
        text = review_to_text(review)
        check_storable(text)
        index = self._system.ensure("reviews")
        about = {"corpus": review.corpus, "reviewId": review.review_id, "at": review.at, "record": text}
        with translated("writing a review"):
            id_ = key_id("review", review.review_id)
            token = put_with_token(self._system, index, id_, about, review.token)
        if review.token is None:
            self._drop_old()
        return dataclasses.replace(review, token=token)

    def scan(self, corpus: str) -> Iterator[Review]:
        index, query = self._system.name("reviews"), {"bool": {"filter": [{"term": {"corpus": corpus}}]}}
        try:
            self._drop_old()
            hits = list(scan(self._system.client, index, query, ["at", "reviewId"], source=False))
        except GenerationGone:
            return  # The index is made by the first review.
        # What a search finds may be a moment old: read in real time.
        ids = [hit["_id"] for hit in hits]
        records = get_records(self._system, "reviews", ids)
        for id_ in ids:
            if id_ in records:
                yield review_from_text(records[id_].source["record"], records[id_].token)

    def _drop_old(self) -> None:
        """By ids, since not every node deletes by query."""
        index, client = self._system.name("reviews"), self._system.client
        before = (datetime.now(UTC) - timedelta(days=KEEP_DAYS)).isoformat(timespec="seconds")
        old = scan(client, index, {"range": {"at": {"lt": before}}}, ["at", "reviewId"], source=False)
        deletions = [{"delete": {"_id": hit["_id"]}} for hit in old]
        if deletions:
            with translated("dropping old reviews"):
                client.bulk(index=index, operations=deletions)
