"""A real `attest serve` beside a command, for experiments that must come in through the door."""

from __future__ import annotations

import http.client
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile

from pydantic import SecretStr

from service.errors import Unavailable
from service.settings import Settings
from service.web.auth import issue_token

START_S = 60.0
_VALID_S = 3600


@contextmanager
def served(settings: Settings, clients: int) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Its address, and the headers of as many readers. Ended with the block.

    Raises Unavailable when it does not come up, with the end of what it wrote.
    """
    settings = settings.model_copy(
        update={
            "port": _free_port(),
            "token_secret": SecretStr(secrets.token_hex(32)),
            "token_keys_file": None,
        }
    )
    with TemporaryFile("w+", encoding="utf-8") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "service.cli", "serve"],
            env=_environment(settings, clients),
            stdout=log,
            stderr=log,
        )
        try:
            if not _answers(process, settings.port):
                log.seek(0)
                raise Unavailable(f"The service did not come up: {log.read()[-2000:]}")
            yield f"http://127.0.0.1:{settings.port}", [_reader(settings, n) for n in range(clients)]
        finally:
            process.terminate()
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=30)
            process.kill()
            process.wait()


def _environment(settings: Settings, clients: int) -> dict[str, str]:
    """The caller's, on the engine and prefix of `settings`, with a place for each client and no limit of rate."""
    secret = settings.token_secret.get_secret_value() if settings.token_secret else ""
    changed = {
        "ATTEST_ENGINE": settings.engine,
        "ATTEST_PREFIX": settings.prefix,
        "ATTEST_DATA_DIR": str(settings.data_dir),
        "ATTEST_HOST": "127.0.0.1",
        "ATTEST_PORT": str(settings.port),
        "ATTEST_TOKEN_SECRET": secret,
        "ATTEST_THREADS": str(clients + 4),
        "ATTEST_MAX_CONCURRENT": str(clients + 2),
        "ATTEST_RATE_PER_MINUTE": "0",
    }
    servers = {"ES_URL": settings.es_url, "REDIS_URL": settings.redis_url}
    changed |= {name: url for name, url in servers.items() if url}
    dropped = {"ATTEST_TOKEN_KEYS_FILE", "ATTEST_ES_URL", "ATTEST_REDIS_URL", *servers}
    return {name: value for name, value in os.environ.items() if name not in dropped} | changed


def _answers(process: subprocess.Popen[bytes], port: int) -> bool:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        with suppress(OSError, http.client.HTTPException):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/readyz")
            if connection.getresponse().status == 200:
                return True
        time.sleep(0.1)
    return False


def _reader(settings: Settings, number: int) -> dict[str, str]:
    token = issue_token(
        settings,
        tenant="demo",
        subject=f"client-{number}",
        groups=[],
        labels=[],
        roles=["reader"],
        ttl_s=_VALID_S,
    )
    return {"Authorization": f"Bearer {token}"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
