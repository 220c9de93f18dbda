"""Jobs and leases in Elasticsearch, compare-and-set, read in real time."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from service.adapters.acceptance import check_storable
from service.adapters.elastic.client import translated
from service.adapters.elastic.documents import get_records, put_with_token
from service.adapters.elastic.scanning import scan
from service.adapters.elastic.system import SystemIndices, key_id
from service.adapters.records import job_from_text, job_to_text, lease_from_text, lease_to_text
from service.domain.jobs import Job, Lease, Slot
from service.errors import GenerationGone


class ElasticJobs:
    def __init__(self, system: SystemIndices) -> None:
        self._system = system

    def get(self, job_id: str) -> Job | None:
        id_ = key_id("job", job_id)
        found = get_records(self._system, "jobs", [id_]).get(id_)
        return None if found is None else job_from_text(found.source["record"], found.token)

    def write(self, job: Job) -> Job:
        about = {"kind": "job", "corpus": job.corpus, "jobId": job.job_id, "createdAt": job.created_at}
        token = self._put(key_id("job", job.job_id), about, job_to_text(job), job.token)
        return dataclasses.replace(job, token=token)

    def scan(self, corpus: str) -> Iterator[Job]:
        query = {"bool": {"filter": [{"term": {"corpus": corpus}}, {"term": {"kind": "job"}}]}}
        try:
            hits = list(
                scan(
                    self._system.client,
                    self._system.name("jobs"),
                    query,
                    ["createdAt", "jobId"],
                    source=False,
                )
            )
        except GenerationGone:
            return  # The index is made by the first job.
        # What a search finds may be a moment old: read in real time.
        ids = [hit["_id"] for hit in hits]
        records = get_records(self._system, "jobs", ids)
        for id_ in ids:
            if id_ in records:
                yield job_from_text(records[id_].source["record"], records[id_].token)

    def lease(self, corpus: str, slot: Slot) -> Lease | None:
        id_ = key_id("lease", corpus, slot)
        found = get_records(self._system, "jobs", [id_]).get(id_)
        return None if found is None else lease_from_text(found.source["record"], found.token)

    def write_lease(self, lease: Lease) -> Lease:
        about = {"kind": "lease", "corpus": lease.corpus, "jobId": lease.job_id}
        token = self._put(key_id("lease", lease.corpus, lease.slot), about, lease_to_text(lease), lease.token)
        return dataclasses.replace(lease, token=token)

    def _put(self, id_: str, about: dict[str, Any], text: str, token: str | None) -> str:
        check_storable(text)
        index = self._system.ensure("jobs")
        with translated("writing a job"):
            return put_with_token(self._system, index, id_, {**about, "record": text}, token)
