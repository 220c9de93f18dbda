"""A builder of the kill matrix: one step of it in a process of its own, which strikes where it is told to.

`python -m service.cli.killed STEP FOLDER [--point NAME] [--server PID:PORT]`; with a server, that is killed and the
builder goes on; without one, the builder is what is killed.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from service.bootstrap import build
from service.errors import AttestError
from service.evaluation.experiments.kill_matrix_points import STEPS, Trap, named
from service.evaluation.experiments.kill_matrix_world import perform
from service.evaluation.experiments.own_stack import kill
from service.settings import load_settings


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=STEPS)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--point")
    parser.add_argument("--server")
    given = parser.parse_args()
    offline = build(load_settings()).offline
    if given.point is not None:
        trap = Trap(named(given.point, given.step), lambda: _strike(given.server))
        offline = replace(offline, engine=trap.on(offline.engine))
    try:
        perform(given.step, offline, given.folder)
    except AttestError as error:
        sys.exit(f"{error.code}: {error.message}")


def _strike(server: str | None) -> None:
    if server is None:
        os.kill(os.getpid(), signal.SIGKILL)
    else:
        kill(server)


if __name__ == "__main__":
    main()
