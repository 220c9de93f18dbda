"""Work under a lease, on both engines: one at a time, a dead one's place is taken, a late one hears of it, a cancel
is heard. Times are shortened; nothing here is timed."""

from __future__ import annotations

import dataclasses
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from typing import cast

import pytest

from service.domain.jobs import Job, Lease, Slot
from service.domain.ports import Engine, Jobs
from service.errors import Cancelled, Conflict, Unavailable
from service.offline import work
from service.offline.story import quiet
from service.offline.work import Desk, Work, as_seen, new_job, request_cancel

CORPUS = "handbook"
ELSEWHERE = "another-machine"
Begin = Callable[..., AbstractContextManager[Work]]
LATEST_S = 20.0  # how long a test waits for what must come


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "BEAT_S", 0.05)
    monkeypatch.setattr(work, "SILENCE_S", 1.0)
    monkeypatch.setattr(work, "_LOOK_S", 0.02)


@pytest.fixture
def begin(engine: Engine) -> Begin:
    def begun(
        who: str = "ann", slot: Slot = "build", kind: str = "build", engine: Engine = engine
    ) -> AbstractContextManager[Work]:
        return Desk(engine.jobs, who).working(slot, new_job(CORPUS, kind, who), quiet)

    return begun


def stored(engine: Engine, job_id: str) -> Job:
    found = engine.jobs.get(job_id)
    assert found is not None
    return found


def wait_until(holds: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(int(LATEST_S / 0.02)):
        if holds():
            return
        pause.wait(0.02)
    raise AssertionError("It did not happen.")


def left_behind(engine: Engine, host: str = ELSEWHERE, pid: int = 1, **result: str) -> Job:
    """A job that holds the lease of builds and of which nothing more will be heard."""
    begun = new_job(CORPUS, "build", "bob")
    dead = engine.jobs.write(
        dataclasses.replace(begun, state="running", host=host, pid=pid, result=dict(result))
    )
    take_away(engine, "build", dead.job_id)
    return dead


def take_away(engine: Engine, slot: Slot, job_id: str = "of somebody else") -> None:
    lease = engine.jobs.lease(CORPUS, slot) or Lease(CORPUS, slot, "")
    engine.jobs.write_lease(dataclasses.replace(lease, job_id=job_id))


def test_work_is_told_from_its_beginning_to_its_end(engine: Engine, begin: Begin) -> None:
    with begin() as mine:
        mine.progress("build", 3, 9)
        mine.keep({"generation": "g"})
        running = stored(engine, mine.job_id)
        assert (running.state, running.host, running.pid) == ("running", socket.gethostname(), os.getpid())
        assert (running.step, running.done, running.total) == ("build", 3, 9)
    done = stored(engine, mine.job_id)
    assert (done.state, done.result, done.reason) == ("done", {"generation": "g"}, "")
    assert [line.split(" ", 1)[1] for line in done.log] == ["begun by ann", "build", "done"]
    lease = engine.jobs.lease(CORPUS, "build")
    assert lease is not None and lease.job_id == ""


def test_it_beats_while_it_runs(engine: Engine, begin: Begin) -> None:
    with begin() as mine:
        first = stored(engine, mine.job_id).beat
        wait_until(lambda: stored(engine, mine.job_id).beat > first + 2)
    ended = stored(engine, mine.job_id).beat
    threading.Event().wait(0.2)
    assert stored(engine, mine.job_id).beat == ended


@pytest.mark.parametrize("slot", ["build", "switch"])
def test_of_two_builders_or_publishers_the_second_is_told_who_is_at_work(
    engine: Engine, begin: Begin, slot: Slot
) -> None:
    with begin("ann", slot) as mine:
        with (
            pytest.raises(Conflict, match=f"ann is at work on '{CORPUS}'.*{mine.job_id}"),
            begin("bob", slot),
        ):
            raise AssertionError("two at once")
        mine.still_ours()
    [first, second] = sorted(engine.jobs.scan(CORPUS), key=lambda job: job.who)
    assert (first.state, second.state) == ("done", "failed")
    assert "ann is at work" in second.reason


def test_eight_who_begin_at_once_never_work_at_once(engine: Engine, begin: Begin) -> None:
    inside = threading.Semaphore(1)
    start = threading.Barrier(8)
    ended: list[str] = []

    def one(name: str) -> None:
        start.wait()
        try:
            with begin(name, "switch", "publish") as mine:
                assert inside.acquire(blocking=False), "two publishers at once"
                mine.still_ours()
                inside.release()
            ended.append("done")
        except Conflict:
            ended.append("conflict")

    threads = [threading.Thread(target=one, args=(f"p{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 8 and set(ended) <= {"done", "conflict"} and "done" in ended


def test_a_rollback_does_not_wait_for_a_build(begin: Begin) -> None:
    with begin(slot="build"), begin(slot="switch", kind="rollback") as other:
        other.still_ours()


def test_who_was_silent_on_another_machine_is_taken_over(engine: Engine, begin: Begin) -> None:
    dead = left_behind(engine, generation="g2")
    with begin() as mine:
        assert mine.took_over("build", generation="g2")
        assert not mine.took_over("build", generation="g3")
        assert not mine.took_over("rollback", generation="g2")
    noted = stored(engine, dead.job_id)
    assert (noted.state, noted.reason) == ("failed", work.LOST)


def test_who_beats_on_another_machine_is_not(engine: Engine, begin: Begin) -> None:
    alive = left_behind(engine)
    stop = threading.Event()

    def beat() -> None:
        job = alive
        while not stop.wait(0.05):
            job = engine.jobs.write(dataclasses.replace(job, beat=job.beat + 1))

    beating = threading.Thread(target=beat)
    beating.start()
    try:
        with pytest.raises(Conflict, match="bob is at work"), begin():
            raise AssertionError("two at once")
    finally:
        stop.set()
        beating.join()
    assert stored(engine, alive.job_id).state == "running"


def test_a_process_that_is_gone_from_this_machine_is_not_waited_for(
    engine: Engine, begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "SILENCE_S", 3600.0)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = left_behind(engine, host=socket.gethostname(), pid=gone.pid)
    assert as_seen(dead).state == "failed"
    with begin():
        assert stored(engine, dead.job_id).state == "failed"


def test_who_was_taken_over_hears_of_it_and_may_not_go_on(engine: Engine, begin: Begin) -> None:
    """A process that slept through its silence: what cannot be undone it does not do, and the other's lease stays."""

    def publish() -> None:
        with begin("slow", "switch", "publish") as slow:
            take_away(engine, "switch")
            slow.still_ours()
            raise AssertionError("went on")

    with pytest.raises(Conflict, match="taken over"):
        publish()
    kept = engine.jobs.lease(CORPUS, "switch")
    assert kept is not None and kept.job_id == "of somebody else", "who lost a lease does not give it back"


def test_the_beat_too_tells_who_was_taken_over(engine: Engine, begin: Begin) -> None:
    def build() -> None:
        with begin() as slow:
            take_away(engine, "build")
            for step in range(int(LATEST_S / 0.05)):
                slow.progress("build", step, 0)
                threading.Event().wait(0.05)

    with pytest.raises(Conflict, match="taken over"):
        build()


def test_a_cancel_is_heard_at_the_next_step(engine: Engine, begin: Begin) -> None:
    names: list[str] = []

    def build() -> None:
        with begin() as mine:
            names.append(mine.job_id)
            asked = request_cancel(engine.jobs, mine.job_id)
            assert asked is not None and asked.cancel
            mine.keep({"generation": "g"})
            raise AssertionError("went on")

    with pytest.raises(Cancelled):
        build()
    over = stored(engine, names[0])
    assert (over.state, over.cancel) == ("cancelled", True)
    assert request_cancel(engine.jobs, over.job_id) == over, "what is over stays as it is"
    assert request_cancel(engine.jobs, "nothing") is None
    with begin():
        pass  # Who comes after finds the place free.


def test_a_job_that_never_began_is_cancelled_at_once(engine: Engine) -> None:
    queued = engine.jobs.write(new_job(CORPUS, "build", "ann"))
    cancelled = request_cancel(engine.jobs, queued.job_id)
    assert cancelled is not None and (cancelled.state, cancelled.cancel) == ("cancelled", True)


def test_work_that_failed_holds_nobody_up_and_tells_what_it_had_noted(engine: Engine, begin: Begin) -> None:
    def fail() -> None:
        with begin(slot="switch", kind="rollback") as failed:
            failed.keep({"to": "g1"})
            raise Unavailable("The connection was lost.")

    with pytest.raises(Unavailable):
        fail()
    [failed] = engine.jobs.scan(CORPUS)
    assert (failed.state, failed.reason) == ("failed", "The connection was lost.")
    with begin(slot="switch", kind="rollback") as mine:
        assert mine.took_over("rollback", to="g1")
    with begin(slot="switch", kind="rollback") as next_one:
        assert not next_one.took_over("rollback", to="g1"), "what was done since counts"


def test_a_store_that_is_away_at_the_end_takes_nothing_from_who_worked(engine: Engine, begin: Begin) -> None:
    class Gone:
        """The jobs port once its server is away."""

        def __init__(self) -> None:
            self.away = False

        def __getattr__(self, name: str) -> object:
            if self.away:
                raise Unavailable("Elasticsearch cannot be reached.")
            return getattr(engine.jobs, name)

    gone = Gone()
    jobs = cast("Jobs", gone)
    with begin(engine=dataclasses.replace(engine, jobs=jobs)) as mine:
        gone.away = True
        mine.progress("seal", 0, 1)
    assert stored(engine, mine.job_id).state == "running", "what could not be written was not"


def lines(job: Job) -> Iterator[str]:
    return (line.split(" ", 1)[1] for line in job.log)


def test_who_stops_it_at_the_keyboard_is_told_so(engine: Engine, begin: Begin) -> None:
    with pytest.raises(Cancelled, match="stopped at the keyboard"), begin() as mine:
        raise KeyboardInterrupt
    over = stored(engine, mine.job_id)
    assert over.state == "cancelled"
    assert list(lines(over))[-1] == "cancelled: stopped at the keyboard"
