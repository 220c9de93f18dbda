"""What the command line says."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

_EPILOG = """\
Whatever else is given goes to pytest, paths included.

  scripts/test                          everything, on servers of its own
  scripts/test --fast tests/unit -x     no linters; the unit tests until the first failure
  scripts/test -k citation              linters, then the tests whose names hold "citation"

ES_URL and REDIS_URL, where set, name the servers to use; then none is started."""


@dataclass(frozen=True)
class Options:
    fast: bool
    servers: bool
    pytest: tuple[str, ...]


def read_options(arguments: list[str]) -> Options:
    """Ours first, the rest for pytest; everything after `--` is pytest's unread."""
    parser = argparse.ArgumentParser(
        prog="scripts/test",
        description="Install what is missing, start Elasticsearch and Redis, lint, check types, test.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--fast", action="store_true", help="without linters and type checks")
    parser.add_argument(
        "--no-servers",
        action="store_true",
        help="start none; a test that finds no server fails",
    )
    ours, rest = _split(arguments)
    known, unknown = parser.parse_known_args(ours)
    return Options(fast=known.fast, servers=not known.no_servers, pytest=(*unknown, *rest))


def _split(arguments: list[str]) -> tuple[list[str], list[str]]:
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]
