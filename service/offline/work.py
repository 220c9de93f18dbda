"""Long work under a lease: one build and one switch at a time per corpus, progress that others can read, a cancel
that is heard.

A job's process raises its `beat` every few seconds. Whoever finds the lease taken watches that number: it moves, and
the work is somebody else's; it stands still, and the lease is taken over. No clocks are compared. Work that was taken
over hears of it at its next step; what it could still write is a generation that nobody searches, and the alias call
names what it replaces.
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from service.domain.jobs import Job, JobState, Lease, Slot
from service.domain.ports import Jobs
from service.errors import AttestError, Cancelled, Conflict

BEAT_S = 2.0
# Without a beat for this long, a job is taken for dead: several beats and a slow write.
SILENCE_S = 15.0
# Whoever only looks at a job takes it for lost after this long by the clock.
LOST_S = 60.0
LOST = "its process ended without a word"
_AT_THE_KEYBOARD = "stopped at the keyboard"
_LOOK_S = 0.25
_LOG_LINES = 200

Progress = Callable[[str, int, int], None]


def new_job(corpus: str, kind: str, who: str, arguments: Mapping[str, Any] | None = None) -> Job:
    """A job that nobody has begun yet."""
    # Finer than elsewhere: two that begin within a second are listed in their order.
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Job(uuid.uuid4().hex, corpus, kind, "queued", who, now, now, dict(arguments or {}))


def request_cancel(jobs: Jobs, job_id: str) -> Job | None:
    """Asks a job to stop; it does at its next step. None when there is no such job; one that is over stays as it is."""
    while (job := jobs.get(job_id)) is not None:
        if job.is_over or job.cancel:
            return job
        try:
            if job.state == "queued":
                return jobs.write(replace(job, state="cancelled", cancel=True, updated_at=_now()))
            return jobs.write(replace(job, cancel=True))
        except Conflict:
            continue  # Its own beat came between.
    return None


def as_seen(job: Job) -> Job:
    """The job as one who looks on should see it: failed when its process is gone. Nothing is taken over on this
    word, so clocks may be compared."""
    if job.is_over or not (_killed(job) or _silent_s(job) > LOST_S):
        return job
    return replace(job, state="failed", reason=LOST if job.pid else "its process never began")


def jobs_of(jobs: Jobs, corpus: str) -> list[Job]:
    """The jobs of a corpus as seen, the newest last."""
    return [as_seen(job) for job in jobs.scan(corpus)]


class Work:
    """What a job's own process holds: its progress, and whether it may go on."""

    def __init__(
        self, jobs: Jobs, job: Job, lease: Lease, progress: Progress, predecessor: Job | None = None
    ) -> None:
        self._jobs, self._job, self._lease, self._shown = jobs, job, lease, progress
        self._predecessor = predecessor
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._stopped: AttestError | None = None
        self._beating = threading.Thread(target=self._beat, name=f"job {job.job_id[:8]}", daemon=True)
        self._beating.start()

    @property
    def job_id(self) -> str:
        return self._job.job_id

    def progress(self, step: str, done: int, total: int) -> None:
        """Tells how far a step is. Raises Cancelled or Conflict when the work may not go on."""
        with self._lock:
            if step != self._job.step:
                self._log(step)
            self._job = replace(self._job, step=step, done=done, total=total)
        self._shown(step, done, total)
        self._may_go_on()

    def still_ours(self) -> None:
        """Asks the store, in real time, before what cannot be undone. Raises Conflict when it was taken over."""
        lease = self._jobs.lease(self._lease.corpus, self._lease.slot)
        if lease is None or lease.job_id != self._job.job_id:
            self._stopped = _taken_over()
        self._may_go_on()

    def keep(self, result: Mapping[str, Any]) -> None:
        """Notes what comes of the work, or what is about to be done: for whoever takes over if this process ends before
        it can say that it was."""
        with self._lock:
            self._job = replace(self._job, result={**self._job.result, **result})
        self._write()
        self._may_go_on()

    def took_over(self, kind: str, **result: Any) -> bool:
        """Whether the lease was taken from a job of that kind that was killed, or failed, after it had noted this."""
        dead = self._predecessor
        return (
            dead is not None and dead.kind == kind and all(dead.result.get(k) == v for k, v in result.items())
        )

    def end(self, state: JobState, reason: str = "") -> None:
        """Writes how it ended, and gives the lease back when all was done: whoever comes after work that was not sees
        what it had noted. A store that does not answer is no reason to fail: without beats the lease is free after a
        while."""
        self._over.set()
        self._beating.join()
        with self._lock:
            self._log(f"{state}: {reason}" if reason else state)
            self._job = replace(self._job, state=state, reason=reason)
        try:
            self._write()
            lease = self._jobs.lease(self._lease.corpus, self._lease.slot)
            if state == "done" and lease is not None and lease.job_id == self._job.job_id:
                self._jobs.write_lease(replace(lease, job_id=""))
        except AttestError:
            return

    def _may_go_on(self) -> None:
        if self._stopped is not None:
            raise self._stopped

    def _beat(self) -> None:
        while not self._over.wait(BEAT_S):
            try:
                self._write()
                lease = self._jobs.lease(self._lease.corpus, self._lease.slot)
            except AttestError:
                continue  # The work itself will meet it, if it lasts.
            if lease is None or lease.job_id != self._job.job_id:
                self._stopped = _taken_over()
                return

    def _write(self) -> None:
        """The job as it stands. Only a cancel is ever written by others."""
        while True:
            with self._lock:
                wanted = replace(self._job, beat=self._job.beat + 1, updated_at=_now())
            try:
                written = self._jobs.write(wanted)
            except Conflict:
                stored = self._jobs.get(wanted.job_id)
                if stored is None or stored.is_over:
                    self._stopped = _taken_over()
                    return
                with self._lock:
                    self._job = replace(self._job, token=stored.token, cancel=stored.cancel)
                if stored.cancel and self._stopped is None:
                    self._stopped = Cancelled(
                        "This work was stopped by an operator; nothing live has changed."
                    )
                continue
            with self._lock:
                self._job = replace(self._job, beat=written.beat, token=written.token)
            return

    def _log(self, line: str) -> None:
        self._job = replace(self._job, log=(*self._job.log, f"{_now()} {line}")[-_LOG_LINES:])


@dataclass(frozen=True, slots=True)
class Desk:
    """Where work is begun: the store of jobs, and who begins it."""

    jobs: Jobs
    who: str

    @contextmanager
    def working(self, slot: Slot, begun: Job, progress: Progress) -> Iterator[Work]:
        """Holds the lease while the block runs. Raises Conflict when somebody else is at work there."""
        job = self._begin(begun)
        try:
            lease, killed = self._take(job, slot)
        except AttestError as error:
            self.jobs.write(replace(job, state="failed", reason=error.message, updated_at=_now()))
            raise
        except KeyboardInterrupt as error:
            self.jobs.write(replace(job, state="cancelled", reason=_AT_THE_KEYBOARD, updated_at=_now()))
            raise Cancelled(f"This {begun.kind} was stopped at the keyboard before it began.") from error
        work = Work(self.jobs, job, lease, progress, killed)
        try:
            yield work
        except Cancelled as error:
            work.end("cancelled", error.message)
            raise
        except AttestError as error:
            work.end("failed", error.message)
            raise
        except KeyboardInterrupt as error:
            work.end("cancelled", _AT_THE_KEYBOARD)
            raise Cancelled(
                f"This {begun.kind} was stopped at the keyboard; what is live has not changed by halves. The same "
                "command goes on from here."
            ) from error
        except BaseException as error:
            work.end("failed", f"ended by {type(error).__name__}")
            raise
        work.end("done")

    def _begin(self, job: Job) -> Job:
        now = _now()
        begun = replace(
            job,
            state="running",
            host=socket.gethostname(),
            pid=os.getpid(),
            updated_at=now,
            log=(*job.log, f"{now} begun by {job.who}"),
        )
        return self.jobs.write(begun)

    def _take(self, job: Job, slot: Slot) -> tuple[Lease, Job | None]:
        """The lease, and the job that held it and did not end well, if one did."""
        lease = self.jobs.lease(job.corpus, slot) or Lease(job.corpus, slot, "")
        killed = self._silent(lease) if lease.job_id else None
        try:
            return self.jobs.write_lease(replace(lease, job_id=job.job_id)), killed
        except Conflict as error:
            raise Conflict(f"Somebody else began to work on {job.corpus!r} at this moment.") from error

    def _silent(self, lease: Lease) -> Job | None:
        """The lease's job once it is over or dead, and noted as such. Raises Conflict when it lives."""
        holder = self.jobs.get(lease.job_id)
        seen, silent_at = holder, time.monotonic() + SILENCE_S
        while holder is not None and not holder.is_over and not _killed(holder):
            if seen is not None and holder.beat != seen.beat:
                raise Conflict(
                    f"{holder.who} is at work on {lease.corpus!r} ({holder.kind}, {holder.step or 'just begun'}, job "
                    f"{holder.job_id}); wait for it, or stop it with `attest jobs cancel {holder.job_id}`."
                )
            if time.monotonic() >= silent_at:
                break
            time.sleep(_LOOK_S)
            holder = self.jobs.get(lease.job_id)
        if holder is None or holder.is_over:
            return holder
        try:
            return self.jobs.write(replace(holder, state="failed", reason=LOST, updated_at=_now()))
        except Conflict as error:
            raise Conflict(f"{holder.who} is still at work on {lease.corpus!r}.") from error


def _killed(job: Job) -> bool:
    """Whether the job ran on this machine and its process is gone. Elsewhere only silence tells."""
    if job.host != socket.gethostname() or not job.pid or job.pid == os.getpid():
        return False
    try:
        os.kill(job.pid, 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _silent_s(job: Job) -> float:
    return (datetime.now(UTC) - datetime.fromisoformat(job.updated_at)).total_seconds()


def _taken_over() -> Conflict:
    return Conflict("This work was taken over by somebody else, because nothing was heard of it for a while.")


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
