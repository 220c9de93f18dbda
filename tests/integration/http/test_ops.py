"""The operators' routes on both engines: generations, and jobs that run in processes of their own."""

from __future__ import annotations

import dataclasses
import socket
import subprocess
import sys
import time
from typing import Any

import pytest

from service.domain.jobs import Job
from service.offline.work import LOST, Desk, new_job
from service.web.launch import MOST_WAITING
from tests.integration.http.doors import Door, document
from tests.integration.http.material import bearer, refused
from tests.integration.world import quiet

DOCUMENTS = [
    document("ops-warranty", "The warranty period is 12 months."),
    document("ops-pay", "Pay is on day 25."),
]


@pytest.fixture
def ops(door: Door) -> dict[str, str]:
    return bearer(door.settings, roles=["operator"], subject="olga", ttl_s=600)


def get(door: Door, ops: dict[str, str], path: str) -> Any:
    response = door.client.get(f"/v1/ops{path}", headers=ops)
    assert response.status_code == 200, response.text
    return response.get_json()


def start(door: Door, ops: dict[str, str], corpus: str, **body: Any) -> Any:
    response = door.client.post(f"/v1/ops/corpora/{corpus}/jobs", json=body, headers=ops)
    assert response.status_code == 202, response.text
    assert response.get_json()["state"] == "queued"
    return response.get_json()


def ended(door: Door, ops: dict[str, str], job: Any) -> Any:
    """The job once it is over; one that hangs is lost after a while, and that is an end too."""
    while (seen := get(door, ops, f"/jobs/{job['jobId']}"))["state"] in ("queued", "running"):
        time.sleep(0.2)
    return seen


def run(door: Door, ops: dict[str, str], corpus: str, **body: Any) -> Any:
    return ended(door, ops, start(door, ops, corpus, **body))


def test_a_generation_is_built_gated_published_and_pruned_by_jobs(door: Door, ops: dict[str, str]) -> None:
    corpus = "ops-life"
    door.ingest(corpus, DOCUMENTS)
    built = run(door, ops, corpus, kind="build")
    assert (built["state"], built["who"], built["reason"]) == ("done", "user:olga", "")
    assert any("begun by user:olga" in line for line in built["log"])
    assert built["step"] == "chunks" and built["done"] == built["total"] > 0
    name = built["result"]["generation"]
    [row] = get(door, ops, f"/corpora/{corpus}/generations")["generations"]
    assert (row["generation"], row["state"], row["documents"], row["updatedBy"]) == (
        name,
        "ready",
        2,
        "user:olga",
    )
    assert row["sizeBytes"] > 0
    assert row["aliases"] == []

    gated = run(door, ops, corpus, kind="gate")
    assert gated["state"] == "done"
    assert gated["result"]["generation"] == name
    assert gated["result"]["passed"] and gated["result"]["results"]

    assert run(door, ops, corpus, kind="publish", generation=name)["state"] == "done"
    manifest = get(door, ops, f"/corpora/{corpus}/generations/{name}")
    assert manifest["state"] == "live"
    assert len(manifest["aliases"]) == 2
    assert [step["state"] for step in manifest["history"]][-1] == "live"
    assert manifest["gates"]["failed"] == []
    checked = run(door, ops, corpus, kind="check")
    assert checked["result"]["passed"]

    pages, after = [], ""
    while after is not None:
        page = get(door, ops, f"/corpora/{corpus}/generations/{name}/documents?size=1&after={after}")
        pages.append([found["documentId"] for found in page["documents"]])
        after = page["next"]
    assert pages == [["ops-pay"], ["ops-warranty"]]

    pruned = run(door, ops, corpus, kind="prune", keep=0, windowHours=0, dryRun=False)
    assert (pruned["state"], pruned["result"]) == ("done", {"pruned": [], "dryRun": False})
    listed = [job["kind"] for job in get(door, ops, f"/corpora/{corpus}/jobs")["jobs"]]
    assert sorted(listed) == sorted(["build", "gate", "publish", "check", "prune"])


def test_a_rollback_that_is_refused_ends_failed_with_the_sentence(door: Door, ops: dict[str, str]) -> None:
    door.ingest("ops-back", DOCUMENTS)
    failed = run(door, ops, "ops-back", kind="rollback")
    assert failed["state"] == "failed"
    assert "no live generation" in failed["reason"]


def test_the_second_of_two_builds_ends_failed_and_says_who_is_at_work(
    door: Door, ops: dict[str, str]
) -> None:
    corpus = "ops-two"
    door.ingest(corpus, DOCUMENTS)
    desk = Desk(door.services.engine.jobs, "olaf")
    with desk.working("build", new_job(corpus, "build", "olaf"), quiet) as first:
        second = run(door, ops, corpus, kind="build")
    assert second["state"] == "failed"
    assert "olaf is at work" in second["reason"] and first.job_id in second["reason"]
    assert get(door, ops, f"/jobs/{first.job_id}")["state"] == "done"


def test_a_job_hears_of_a_cancel(door: Door, ops: dict[str, str]) -> None:
    corpus = "ops-cancel"
    jobs = door.services.engine.jobs
    queued = jobs.write(new_job(corpus, "build", "olaf"))
    stopped = door.client.post(f"/v1/ops/jobs/{queued.job_id}/cancel", headers=ops)
    assert stopped.get_json()["state"] == "cancelled"
    running = jobs.write(dataclasses.replace(new_job(corpus, "build", "olaf"), state="running"))
    asked = door.client.post(f"/v1/ops/jobs/{running.job_id}/cancel", headers=ops).get_json()
    assert (asked["state"], asked["cancel"]) == ("running", True)


def test_a_job_whose_process_is_gone_shows_as_failed(door: Door, ops: dict[str, str]) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    job = dataclasses.replace(
        new_job("ops-lost", "build", "olaf"), state="running", host=socket.gethostname(), pid=gone.pid
    )
    elsewhere = dataclasses.replace(
        new_job("ops-lost", "build", "olaf"),
        state="running",
        host="another.example",
        pid=1,
        updated_at="2026-01-01T00:00:00+00:00",
    )
    for lost in (job, elsewhere):
        door.services.engine.jobs.write(lost)
        seen = get(door, ops, f"/jobs/{lost.job_id}")
        assert (seen["state"], seen["reason"]) == ("failed", LOST)


def test_a_corpus_takes_so_many_jobs_and_no_more(door: Door, ops: dict[str, str]) -> None:
    corpus = "ops-many"
    door.ingest(corpus, DOCUMENTS)
    jobs = door.services.engine.jobs
    for _ in range(MOST_WAITING):
        jobs.write(new_job(corpus, "build", "olaf"))
    sent = door.client.post(f"/v1/ops/corpora/{corpus}/jobs", json={"kind": "build"}, headers=ops)
    refused(sent, 409, "CONFLICT")
    assert len(list(jobs.scan(corpus))) == MOST_WAITING


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"kind": "drop"},
        {"kind": "build", "generation": "x"},
        {"kind": "build", "keep": 1},
        {"kind": "prune", "keep": -1},
        {"kind": "prune", "keep": "1"},
        {"kind": "prune", "dryRun": "no"},
        {"kind": "prune", "yes": True},
        {"kind": "gate", "force": "because"},
        {"kind": "publish", "force": ""},
        {"kind": "publish", "force": "…"},
        {"kind": "publish", "generation": "A/../B"},
    ],
)
def test_a_body_that_says_nothing_sensible_starts_nothing(
    door: Door, ops: dict[str, str], body: dict[str, Any]
) -> None:
    door.ingest("ops-bad", DOCUMENTS)
    refused(door.client.post("/v1/ops/corpora/ops-bad/jobs", json=body, headers=ops), 400)
    assert jobs_of(door, "ops-bad") == []


def test_what_is_not_there_is_not_found_before_a_job_is_made(door: Door, ops: dict[str, str]) -> None:
    client = door.client
    refused(client.post("/v1/ops/corpora/nowhere/jobs", json={"kind": "build"}, headers=ops), 404)
    assert jobs_of(door, "nowhere") == []
    elsewhere = door.publish("ops-elsewhere", DOCUMENTS).generation
    door.ingest("ops-there", DOCUMENTS)
    for kind, name in (("check", "x"), ("gate", elsewhere), ("publish", elsewhere)):
        body = {"kind": kind, "generation": name}
        sent = client.post("/v1/ops/corpora/ops-there/jobs", json=body, headers=ops)
        refused(sent, 400, "INVALID_INPUT")
        assert "/v1/ops/corpora/ops-there/generations" in sent.get_json()["error"]["message"]
    assert jobs_of(door, "ops-there") == []
    for path in (
        "/corpora/nowhere/generations",
        "/corpora/nowhere/generations/x",
        "/corpora/nowhere/generations/x/documents",
        "/corpora/nowhere/jobs",
        f"/jobs/{'0' * 32}",
    ):
        refused(client.get(f"/v1/ops{path}", headers=ops), 404, "NOT_FOUND")
    refused(client.post(f"/v1/ops/jobs/{'0' * 32}/cancel", headers=ops), 404, "NOT_FOUND")


def test_nobody_else_comes_in(door: Door) -> None:
    door.ingest("ops-closed", DOCUMENTS)
    path = "/v1/ops/corpora/ops-closed"
    refused(door.client.post(f"{path}/jobs", json={"kind": "build"}), 401)
    others = bearer(door.settings, roles=["reader", "inspect"])
    refused(door.client.post(f"{path}/jobs", json={"kind": "build"}, headers=others), 403, "ROLE_REQUIRED")
    refused(door.client.get(f"{path}/generations", headers=others), 403, "ROLE_REQUIRED")
    assert jobs_of(door, "ops-closed") == []


def jobs_of(door: Door, corpus: str) -> list[Job]:
    return list(door.services.engine.jobs.scan(corpus))
