"""Jobs that the service is asked for: written down as queued, then run by a process of their own.

A worker that is restarted does not end them, and a build takes none of its memory. The process is the command line's
(`attest jobs run`), with this service's settings, and acts as whoever asked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from typing import Any

from service.domain.jobs import Job, Kind
from service.domain.ports import Engine
from service.errors import Conflict, NotFound
from service.offline.work import jobs_of, new_job
from service.settings import PREFIX, Settings, environment_of

MOST_WAITING = 4  # jobs of a corpus at work or about to be: each loads the models


def start(
    engine: Engine, settings: Settings, corpus: str, kind: Kind, who: str, arguments: Mapping[str, Any]
) -> Job:
    """The job as queued, its process on its way. Raises NotFound for a corpus that is not there, Conflict when so
    much is at work on it already."""
    if engine.registry.corpus_profile(corpus) is None:
        raise NotFound
    waiting = sum(1 for job in jobs_of(engine.jobs, corpus) if not job.is_over)
    if waiting >= MOST_WAITING:
        raise Conflict(f"{waiting} jobs are at work on {corpus!r} already; wait for one, or cancel it.")
    job = engine.jobs.write(new_job(corpus, kind, who, arguments))
    process = subprocess.Popen(
        [sys.executable, "-m", "service.cli", "jobs", "run", job.job_id],
        env=_environment(settings),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        start_new_session=True,  # what stops a worker does not reach it
    )
    # Who has ended must be waited for, or looks alive.
    threading.Thread(target=process.wait, name=f"job {job.job_id[:8]}", daemon=True).start()
    return job


def _environment(settings: Settings) -> dict[str, str]:
    """Ours without what names settings, and these settings; without a token, since the job says who acts."""
    names = ("ES_URL", "REDIS_URL")
    kept = {n: v for n, v in os.environ.items() if not n.startswith(PREFIX) and n not in names}
    given = environment_of(settings)
    given.pop(f"{PREFIX}TOKEN", None)
    return kept | given
