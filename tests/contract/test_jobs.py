"""Jobs and leases on both engines: compare-and-set, read in real time."""

from __future__ import annotations

import dataclasses
import threading

import pytest

from service.domain.jobs import Job, Lease
from service.domain.ports import Engine
from service.errors import AttestError, Conflict
from tests.contract.material import CORPUS

AT = "2026-12-02T10:00:0{}+00:00"


def job(name: str = "a", second: int = 0, corpus: str = CORPUS) -> Job:
    at = AT.format(second)
    return Job(name, corpus, "build", "queued", "ann", at, at, {"generation": "g", "keep": 1})


def test_a_job_is_read_as_it_was_written(engine: Engine) -> None:
    assert engine.jobs.get("a") is None
    assert list(engine.jobs.scan(CORPUS)) == []
    written = engine.jobs.write(job())
    assert written == dataclasses.replace(job(), token=written.token)
    assert engine.jobs.get("a") == written
    full = dataclasses.replace(
        written, state="running", host="h", pid=7, beat=3, step="build", done=1, total=2, log=("线 1", "2"),
        cancel=True, result={"pruned": ["g"], "withdrawn": 2}, reason="停"
    )  # fmt: skip
    again = engine.jobs.write(full)
    assert engine.jobs.get("a") == dataclasses.replace(full, token=again.token)


def test_of_two_who_read_the_same_job_one_writes(engine: Engine) -> None:
    first = engine.jobs.write(job())
    engine.jobs.write(dataclasses.replace(first, beat=1))
    with pytest.raises(Conflict):
        engine.jobs.write(dataclasses.replace(first, beat=2))
    with pytest.raises(Conflict):
        engine.jobs.write(job())
    kept = engine.jobs.get("a")
    assert kept is not None and kept.beat == 1


def test_jobs_of_a_corpus_are_listed_newest_last(engine: Engine) -> None:
    for one in (job("late", 9), job("early", 1), job("b", 5), job("a", 5), job("other", 2, "elsewhere")):
        engine.jobs.write(one)
    assert [one.job_id for one in engine.jobs.scan(CORPUS)] == ["early", "a", "b", "late"]
    assert [one.job_id for one in engine.jobs.scan("elsewhere")] == ["other"]
    assert list(engine.jobs.scan("nothing")) == []


def test_leases_of_other_corpora_and_slots_do_not_meet(engine: Engine) -> None:
    assert engine.jobs.lease(CORPUS, "build") is None
    held = {
        ("x", "build"): "1",
        ("x", "switch"): "2",
        ("x-build", "build"): "3",
        (CORPUS, "look"): "4",
    }
    for (corpus, slot), name in held.items():
        engine.jobs.write_lease(Lease(corpus, slot, name))  # type: ignore[arg-type]
    found = {key: engine.jobs.lease(*key) for key in held}  # type: ignore[arg-type]
    assert {key: lease and lease.job_id for key, lease in found.items()} == held
    assert engine.jobs.lease(CORPUS, "build") is None
    assert list(engine.jobs.scan("x")) == [], "a lease is no job"


def test_a_lease_is_taken_by_one(engine: Engine) -> None:
    """Eight at once, at first from nothing and then from one another: each time one wins, the others hear of it."""
    for turn in range(3):
        before = engine.jobs.lease(CORPUS, "switch") or Lease(CORPUS, "switch", "")
        ended = all_take(engine, before, [f"{turn}-{n}" for n in range(8)])
        won = [end for end in ended if isinstance(end, str)]
        assert len(won) == 1
        assert [type(end) for end in ended if not isinstance(end, str)] == [Conflict] * 7
        kept = engine.jobs.lease(CORPUS, "switch")
        assert kept is not None and kept.job_id == won[0]


def all_take(engine: Engine, before: Lease, names: list[str]) -> list[str | AttestError]:
    """The name of who got it, or what it was told, of each."""
    start = threading.Barrier(len(names))
    ended: list[str | AttestError] = []

    def take(name: str) -> None:
        start.wait()
        try:
            ended.append(engine.jobs.write_lease(dataclasses.replace(before, job_id=name)).job_id)
        except AttestError as refused:
            ended.append(refused)

    threads = [threading.Thread(target=take, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return ended
