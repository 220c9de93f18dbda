"""Jobs and leases in SQLite, compare-and-set."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from service.adapters.acceptance import check_storable
from service.adapters.embedded.database import Database
from service.adapters.embedded.registry import write_marked
from service.adapters.records import job_from_text, job_to_text, lease_from_text, lease_to_text
from service.domain.jobs import Job, Lease, Slot


class EmbeddedJobs:
    def __init__(self, stores: Database) -> None:
        self._stores = stores

    def get(self, job_id: str) -> Job | None:
        with self._stores.reading() as connection:
            row = connection.execute("SELECT record, mark FROM job WHERE job_id = ?", (job_id,)).fetchone()
        return None if row is None else job_from_text(row[0], str(row[1]))

    def write(self, job: Job) -> Job:
        record = job_to_text(job)
        check_storable(record)
        columns = {"corpus": job.corpus, "created_at": job.created_at, "record": record}
        with self._stores.writing() as connection:
            mark = write_marked(connection, "job", {"job_id": job.job_id}, columns, job.token)
        return dataclasses.replace(job, token=mark)

    def scan(self, corpus: str) -> Iterator[Job]:
        with self._stores.reading() as connection:
            rows = connection.execute(
                "SELECT record, mark FROM job WHERE corpus = ? ORDER BY created_at, job_id", (corpus,)
            ).fetchall()
        for record, mark in rows:
            yield job_from_text(record, str(mark))

    def lease(self, corpus: str, slot: Slot) -> Lease | None:
        with self._stores.reading() as connection:
            row = connection.execute(
                "SELECT record, mark FROM lease WHERE corpus = ? AND slot = ?", (corpus, slot)
            ).fetchone()
        return None if row is None else lease_from_text(row[0], str(row[1]))

    def write_lease(self, lease: Lease) -> Lease:
        key = {"corpus": lease.corpus, "slot": lease.slot}
        with self._stores.writing() as connection:
            mark = write_marked(connection, "lease", key, {"record": lease_to_text(lease)}, lease.token)
        return dataclasses.replace(lease, token=mark)
