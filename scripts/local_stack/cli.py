"""The command line of scripts/stack: results on standard output, progress and errors on standard error."""

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from .errors import StackError
from .given import redacted
from .lifecycle import DISTRIBUTION, HOME, REPOSITORY, StackInfo, down, running, up
from .start import ES_PORT, NODE_COUNTS, REDIS_PORT
from .status import ServerStatus, StackStatus, status

_ENVIRONMENT = """environment:
  ES_URL, REDIS_URL   running servers to use: nothing is started for what is set
  JAVA_HOME           the Java to run Elasticsearch with, if it is 21 or newer
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code is 0 only for success, for `status` only when all is healthy."""
    options = _parser().parse_args(arguments)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    try:
        code: int = options.command(options)
        return code
    except StackError as error:
        print(f"scripts/stack: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        # A full disk, a folder we may not write to: the system's sentence names the file.
        print(f"scripts/stack: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt as interrupt:
        print("scripts/stack: interrupted", file=sys.stderr)
        number = interrupt.args[0] if interrupt.args else signal.SIGINT
        # As shells do for a program that a signal has ended.
        return 128 + int(number)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt(number)


def _up(options: argparse.Namespace) -> int:
    info = up(options.home, options.nodes, options.es_port, options.redis_port, options.heap)
    if options.json:
        print(json.dumps(_info_fields(info), ensure_ascii=False))
        return 0
    print(f"Elasticsearch  {redacted(info.es_url)}")
    print(f"Redis          {redacted(info.redis_url)}")
    home = "" if options.home.resolve() == HOME else f" --home {shlex.quote(str(options.home))}"
    print(f'use it:  eval "$(scripts/stack{home} env)"     end it:  scripts/stack{home} down')
    return 0


def _down(options: argparse.Namespace) -> int:
    ended = down(options.home)
    print(f"ended {', '.join(ended)}; data kept in {options.home}" if ended else "nothing was running")
    return 0


def _status(options: argparse.Namespace) -> int:
    found = status(options.home)
    if options.json:
        print(json.dumps(_status_fields(found), ensure_ascii=False))
    elif not found.servers:
        print(f"not running (home {options.home}): scripts/stack up")
    else:
        _print_table([_row(server) for server in found.servers])
    return 0 if found.healthy else 1


def _env(options: argparse.Namespace) -> int:
    info = running(options.home)
    if not info.es_url or not info.redis_url:
        raise StackError(f"not running (home {options.home}): scripts/stack up")
    print(f"export ES_URL={shlex.quote(info.es_url)} REDIS_URL={shlex.quote(info.redis_url)}")
    return 0


def _info_fields(info: StackInfo) -> dict[str, Any]:
    servers = [*info.nodes, *([] if info.redis is None else [info.redis])]
    return {
        "esUrl": info.es_url,
        "esUrls": info.es_urls,
        "redisUrl": info.redis_url,
        "home": str(info.home),
        "started": info.started,
        "servers": [{"name": s.name, "url": s.url, "pid": s.pid, "log": str(s.log)} for s in servers],
    }


def _status_fields(found: StackStatus) -> dict[str, Any]:
    servers = [
        {
            "name": s.name,
            "url": s.url,
            "pid": s.pid,
            "state": s.state,
            "version": s.version,
            "healthy": s.healthy,
        }
        for s in found.servers
    ]
    return {"healthy": found.healthy, "home": str(found.info.home), "servers": servers}


def _row(server: ServerStatus) -> tuple[str, ...]:
    pid = "-" if server.pid is None else f"pid {server.pid}"
    return (server.name, server.state, server.version or "-", pid, server.url)


def _print_table(rows: Sequence[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="scripts/stack",
        description="A real Elasticsearch and Redis on this machine, without Docker.",
        epilog=f'{_ENVIRONMENT}\nexample:\n  scripts/stack up && eval "$(scripts/stack env)"\n',
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--home", type=Path, default=HOME, help=_HOME_HELP)
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    start = _command(commands, "up", _up, _UP_HELP, _UP_EXAMPLE)
    start.add_argument(
        "--nodes", type=int, choices=NODE_COUNTS, default=1, help="Elasticsearch nodes (default 1)"
    )
    start.add_argument(
        "--es-port", type=_port, metavar="N", help=_port_help(ES_PORT, "; three nodes: N, N+1, N+2")
    )
    start.add_argument("--redis-port", type=_port, metavar="N", help=_port_help(REDIS_PORT, ""))
    start.add_argument(
        "--heap", metavar="SIZE", help="Java heap of each node (default 1g, of three nodes 512m each)"
    )
    start.add_argument(
        "--json", action="store_true", help="print URLs, process ids and logs as one JSON object"
    )
    _command(commands, "down", _down, "End what `up` started; data is kept.", "scripts/stack down")
    state = _command(commands, "status", _status, _STATUS_HELP, "scripts/stack status --json")
    state.add_argument("--json", action="store_true", help="print one JSON object")
    _command(commands, "env", _env, "Print export lines for a shell.", 'eval "$(scripts/stack env)"')
    return parser


_HOME_HELP = f"folder of data, logs and process records (default {HOME.relative_to(REPOSITORY)})"
_UP_HELP = (
    "Start Elasticsearch and Redis, or find them running, and wait until they are healthy. "
    f"The first time the program files are fetched into {DISTRIBUTION.relative_to(REPOSITORY)}."
)
_UP_EXAMPLE = """scripts/stack up
  scripts/stack up --nodes 3
  scripts/stack --home "$(mktemp -d)" up --es-port 0 --redis-port 0 --json"""
_STATUS_HELP = "Ask every server; exit code 0 only if all are healthy."


def _command(commands: Any, name: str, function: Any, about: str, example: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        help=about,
        description=about,
        epilog=f"{_ENVIRONMENT}\nexample:\n  {example}\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # Understood before and after the command; SUPPRESS keeps the first from being overwritten by a default.
    parser.add_argument("--home", type=Path, default=argparse.SUPPRESS, help=_HOME_HELP)
    parser.set_defaults(command=function)
    return parser


def _port_help(default: int, more: str) -> str:
    return f"port to listen on, 0 for a free one (default {default}{more})"


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65_533:
        raise argparse.ArgumentTypeError(f"{port} is no port")
    return port
