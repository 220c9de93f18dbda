"""Redis as a cache: started in memory only, asked how it is."""

import re
import socket
import ssl
import time
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from . import debian
from .errors import StackError
from .ports import HOST
from .progress import Say

NAME = "redis"
START_SECONDS = 20.0
_ANSWER_SECONDS = 3.0
_DEFAULT_PORT = 6379


def program(say: Say) -> Path:
    """Path of redis-server, installed when missing and possible; StackError with what to do otherwise."""
    return debian.program(
        "redis-server", "redis-server", "set REDIS_URL to a running Redis (then none is started here)", say
    )


def url(port: int) -> str:
    """Address of our Redis."""
    return f"redis://{HOST}:{port}"


def command(redis_server: Path, port: int, folder: Path) -> list[str]:
    """The command line: nothing is saved, and a full cache drops what was used least recently."""
    return [
        str(redis_server),
        "--port",
        str(port),
        "--bind",
        HOST,
        "--dir",
        str(folder),
        "--daemonize",
        "no",
        "--save",
        "",
        "--appendonly",
        "no",
        "--maxmemory",
        "256mb",
        "--maxmemory-policy",
        "allkeys-lru",
    ]


def ask(address: str) -> tuple[str | None, str | None]:
    """What is wrong with the Redis at `address` in a few words (None: nothing); its version (None: unknown).

    `address` is redis:// or rediss://, with user and password if any.
    """
    parts = urllib.parse.urlsplit(address)
    try:
        endpoint = (parts.hostname or HOST, parts.port or _DEFAULT_PORT)
        with socket.create_connection(endpoint, timeout=_ANSWER_SECONDS) as plain:
            secure = parts.scheme == "rediss"
            link = (
                ssl.create_default_context().wrap_socket(plain, server_hostname=parts.hostname)
                if secure
                else plain
            )
            if parts.password:
                user = [urllib.parse.unquote(parts.username)] if parts.username else []
                _call(link, ["AUTH", *user, urllib.parse.unquote(parts.password)])
            answer = _call(link, ["PING"])
            version = re.search(r"redis_version:(\S+)", _call(link, ["INFO", "server"]))
        return (None if answer == "+PONG" else f"answers {answer[:80]}"), (version[1] if version else None)
    except (OSError, ValueError) as error:
        return f"no answer ({error})", None


def _call(link: socket.socket, words: list[str]) -> str:
    """The first part of the answer to one command; enough for a status line and the head of INFO."""
    link.sendall(encoded(words))
    return link.recv(4096).decode("utf-8", "replace").strip()


def encoded(words: list[str]) -> bytes:
    """A command in Redis' wire format (RESP)."""
    raw = [word.encode() for word in words]
    return b"*%d\r\n" % len(raw) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in raw)


def wait(port: int, log: Path, ended: Callable[[], bool]) -> None:
    """Return when it answers; StackError with the end of its log when it ends before, or takes too long."""
    deadline = time.monotonic() + START_SECONDS
    while (trouble := ask(url(port))[0]) is not None:
        if ended() or time.monotonic() > deadline:
            said = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
            raise StackError(f"Redis did not start: {trouble}\n{log}:\n{said[-2000:]}")
        time.sleep(0.05)
