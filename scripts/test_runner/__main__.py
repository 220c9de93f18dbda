"""`python -m test_runner`: the order of the run; every step runs, whatever the ones before it said."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from test_runner.options import Options, read_options
from test_runner.processes import Interrupted, listen, run_captured, run_streamed, shield
from test_runner.servers import Servers, ServersFailed, needed
from test_runner.steps import CHECKS, pytest_command, test_environment
from test_runner.summary import Outcome, closing_line, skipped, table

REPOSITORY = Path(__file__).resolve().parents[2]
SETUP_SECONDS = "ATTEST_TEST_SETUP_SECONDS"  # scripts/test measures the set-up, which comes before Python


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    started = time.monotonic()
    outcomes = [Outcome("setup", True, float(os.environ.pop(SETUP_SECONDS, "0")))]
    servers = Servers(REPOSITORY)
    listen()
    try:
        _run(options, servers, outcomes)
    except Interrupted as interruption:
        print(f"\nscripts/test: interrupted by {interruption}", flush=True)
        outcomes.append(Outcome("whole run", False, time.monotonic() - started, "interrupted"))
    finally:
        shield()
        servers.stop()
    print(table(outcomes, time.monotonic() - started + outcomes[0].seconds), flush=True)
    return 0 if all(outcome.passed for outcome in outcomes) else 1


def _run(options: Options, servers: Servers, outcomes: list[Outcome]) -> None:
    wanted = options.servers and needed(os.environ)
    if wanted:
        servers.start()  # in the background: the checks below use the time it needs
    for check in () if options.fast else CHECKS:
        passed, seconds, output = run_captured(check.command, REPOSITORY)
        _say(f"{check.name}: {'ok' if passed else 'FAILED'} ({seconds:.1f} s)")
        if not passed:
            print(output, flush=True)
        outcomes.append(Outcome(check.name, passed, seconds))
    urls: dict[str, str] = {}
    if wanted:
        try:
            urls = servers.wait()
        except ServersFailed as failure:
            _say(f"servers: FAILED: {failure}")
            outcomes.append(Outcome("servers", False, servers.seconds, str(failure)))
        else:
            outcomes.append(Outcome("servers", True, servers.seconds, "started beside the checks"))
    _say("pytest")
    passed, seconds, output = run_streamed(
        pytest_command(options.pytest, os.cpu_count() or 1), REPOSITORY, test_environment(os.environ, urls)
    )
    outcomes.append(Outcome("pytest", passed, seconds, closing_line(output)))
    if not options.pytest and options.servers:
        # The whole suite with everything there: a test that does not run is a test that failed to be written.
        count = skipped(output)
        outcomes.append(Outcome("nothing skipped", count == 0, 0.0, f"{count} skipped" if count else ""))


def _say(line: str) -> None:
    print(f"── {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
