"""The service under gunicorn as `attest serve` runs it: full, flooded and held up, it refuses and stays alive."""

from __future__ import annotations

import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from service.cli.serve import gunicorn_arguments
from service.settings import Settings
from tests.fakes.redis_server import free_port
from tests.integration.http.material import SECRET, bearer

REPOSITORY = Path(__file__).resolve().parents[3]
THREADS = 4
JSON = {"Content-Type": "application/json"}
HEAD_S, REQUEST_READ_S = 1.0, 2.0  # shortened; see tests/fakes/slow_service.py


@pytest.fixture(scope="module")
def settings() -> Settings:
    return Settings.model_validate(
        {"port": free_port(), "threads": THREADS, "token_secret": SECRET, "rate_per_minute": 0}
    )


@pytest.fixture(scope="module")
def port(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ATTEST_")}
    environment.pop("REDIS_URL", None)
    environment |= {
        "ATTEST_TOKEN_SECRET": SECRET,
        "ATTEST_THREADS": str(THREADS),
        "ATTEST_RATE_PER_MINUTE": "0",
        "HEAD_S": str(HEAD_S),
        "REQUEST_READ_S": str(REQUEST_READ_S),
    }
    arguments = [*gunicorn_arguments(settings)[:-1], "tests.fakes.slow_service:create()"]
    log = (tmp_path_factory.mktemp("gunicorn") / "log").open("w+")
    process = subprocess.Popen(
        [sys.executable, *arguments], cwd=REPOSITORY, env=environment, stdout=log, stderr=log
    )
    try:
        for _ in range(200):
            try:
                if health(settings.port)[0] == 200:
                    break
            except OSError:
                time.sleep(0.1)
        else:
            log.seek(0)
            raise AssertionError(log.read())
        yield settings.port
        process.terminate()
        assert process.wait(timeout=30) == 0
        log.seek(0)
        written = log.read()
        assert "Traceback" not in written
        assert "WORKER TIMEOUT" not in written
    finally:
        process.kill()
        log.close()


def send(
    port: int, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None, **more: Any
) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path, body, headers or {}, **more)
    response = connection.getresponse()
    response.body = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def health(port: int) -> tuple[int, float]:
    began = time.perf_counter()
    return send(port, "GET", "/healthz").status, time.perf_counter() - began


def question(seconds: float) -> bytes:
    return json.dumps({"text": str(seconds), "corpus": "lesson"}).encode()


def code(response: http.client.HTTPResponse) -> str:
    return str(json.loads(response.body)["error"]["code"])  # type: ignore[attr-defined]


def test_a_flood_is_refused_and_the_health_check_answers(port: int, settings: Settings) -> None:
    until = time.monotonic() + 3
    seen: Counter[tuple[int, str]] = Counter()

    def ask(number: int) -> None:
        headers = JSON | bearer(settings, subject=f"caller-{number % 6}")
        while time.monotonic() < until:
            response = send(port, "POST", "/v1/answers", question(0.2), headers)
            seen[response.status, code(response)] += 1
            if response.status == 429:
                assert response.headers["Retry-After"] == "1"
                time.sleep(0.02)

    checks: list[float] = []
    with ThreadPoolExecutor(max_workers=24) as pool:
        running = [pool.submit(ask, number) for number in range(24)]
        while time.monotonic() < until:
            status, seconds = health(port)
            assert status == 200
            checks.append(seconds)
            time.sleep(0.05)
        for one in running:
            one.result()
    assert seen.keys() == {(404, "NOT_FOUND"), (429, "TOO_BUSY")}
    # Three at once for three seconds at 0.2 s each are 45: refusing did not keep them from being worked on.
    assert seen[404, "NOT_FOUND"] >= 20
    assert max(checks) < 1.0, "a thread stays free"
    print(f"\n{dict(seen)}; health check: {len(checks)} times, slowest {max(checks) * 1000:.0f} ms")


def half_a_head(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nX-")


def nothing(connection: socket.socket) -> None:
    return None


def half_a_body_without_a_token(connection: socket.socket) -> None:
    connection.sendall(
        b"POST /v1/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"
    )


def a_whole_request_and_no_hanging_up(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")


def one_and_a_half(connection: socket.socket) -> None:
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\nHos")


@pytest.mark.parametrize(
    "sends",
    [nothing, half_a_head, half_a_body_without_a_token, a_whole_request_and_no_hanging_up, one_and_a_half],
)
def test_clients_that_hold_on_hold_nobody_up(port: int, sends: Callable[[socket.socket], None]) -> None:
    with ExitStack() as stack:
        for _ in range(10 * THREADS):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            sends(connection)
        time.sleep(0.1)
        assert max(health(port)[1] for _ in range(5)) < 1.0
        # Nor are they kept: the last one is closed from the other side.
        connection.settimeout(HEAD_S + 5)
        with suppress(ConnectionResetError):
            while connection.recv(65_536):
                pass
    assert health(port)[1] < 1.0


def test_a_head_that_comes_in_pieces_is_a_request(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        for piece in (b"GET /hea", b"lthz HT", b"TP/1.1\r\nHost: x\r", b"\n\r", b"\n"):
            connection.sendall(piece)
            time.sleep(0.05)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200")
        for piece in (b"GET /healthz HTTP/1.1\r\nConnection: close\r\n", b"Host: x\r\n\r\n"):
            connection.sendall(piece)
            time.sleep(0.05)
        assert connection.recv(65_536).startswith(b"HTTP/1.1 200"), "again on the same connection"


def test_several_requests_in_one_go_are_all_answered(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 3)
        got = b""
        while got.count(b"HTTP/1.1 200") < 3:
            got += connection.recv(65_536) or pytest.fail(f"closed after {got!r}")


def test_a_head_in_dribbles_is_dropped(port: int) -> None:
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        with suppress(BrokenPipeError, ConnectionResetError):
            while time.monotonic() - began < 10:
                connection.sendall(b"X-Y: z\r\n")
                time.sleep(0.1)
    assert HEAD_S - 0.5 < time.monotonic() - began < HEAD_S + 3


def test_a_slow_body_ends_and_makes_room(port: int, settings: Settings) -> None:
    token = bearer(settings)["Authorization"].encode()
    head = (
        b"POST /v1/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n"
    )
    with ExitStack() as stack:
        connections = [
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(3)
        ]
        for connection in connections:
            connection.sendall(head + b"Authorization: " + token + b"\r\n\r\n{")
        time.sleep(0.3)
        assert health(port)[1] < 1.0
        refused = send(port, "POST", "/v1/answers", question(0), JSON | bearer(settings))
        assert (refused.status, code(refused)) == (429, "TOO_BUSY"), "a slow body takes up room"
        for connection in connections:
            answer = connection.recv(65_536)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 400")
    assert send(port, "POST", "/v1/answers", question(0), JSON | bearer(settings)).status == 404


def test_an_answer_may_take_longer_than_a_request_may(port: int, settings: Settings) -> None:
    response = send(
        port, "POST", "/v1/answers", question(REQUEST_READ_S + 2), JSON | bearer(settings, subject="patient")
    )
    assert code(response) == "NOT_FOUND"


# ── sizes ───────────────────────────────────────────────────────────────────────────────────────────────


def chunks(size: int) -> Iterator[bytes]:
    """A good body and blanks behind it, so that its beginning means the same as the whole."""
    body = question(0)
    yield body
    size -= len(body)
    while size > 0:
        yield b" " * min(size, 1000)
        size -= 1000


@pytest.mark.parametrize(("size", "status"), [(1000, 404), (65_536, 404), (65_537, 413), (1_000_000, 413)])
def test_a_body_in_chunks_is_measured_too(port: int, settings: Settings, size: int, status: int) -> None:
    headers = JSON | bearer(settings)
    response = send(port, "POST", "/v1/answers", chunks(size), headers, encode_chunked=True)
    assert (response.status, code(response)) == (status, "NOT_FOUND" if status == 404 else "BODY_TOO_LARGE")


@pytest.mark.parametrize(
    "head",
    [
        b"Transfer-Encoding: chunked\r\nContent-Length: 5",
        b"Content-Length: 5\r\nContent-Length: 6",
        b"Content-Length: -1",
        b"Content-Length: 1_0",
        b"Transfer-Encoding: chunked, identity",
    ],
)
def test_a_length_that_is_ambiguous_is_refused(port: int, settings: Settings, head: bytes) -> None:
    token = bearer(settings)["Authorization"].encode()
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(
            b"POST /v1/answers HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: "
            + token
            + b"\r\n"
            + head
            + b"\r\n\r\n0\r\n\r\n"
        )
        status = int(connection.recv(65_536).split(b" ")[1])
    assert 400 <= status < 500 or status == 501


@pytest.mark.parametrize(
    ("name", "path", "headers"),
    [
        ("a long token", "/v1/traces/x", {"Authorization": "Bearer " + "a" * 9000}),
        ("a token of 100 kB", "/v1/traces/x", {"Authorization": "Bearer " + "a" * 100_000}),
        ("many headers", "/healthz", {f"X-{number}": "x" for number in range(100)}),
        ("an endless query", "/v1/traces/x?" + "a" * 9000, {}),
    ],
)
def test_a_head_that_is_too_large_is_refused_at_once(
    port: int, name: str, path: str, headers: dict[str, str]
) -> None:
    began = time.perf_counter()
    assert send(port, "GET", path, headers=headers).status in (400, 414, 431), name
    assert time.perf_counter() - began < 1.0
