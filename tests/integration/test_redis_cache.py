"""The cache against a real Redis, and against everything that goes wrong with one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.adapters.redis_cache import NoCache, RedisCache
from service.adapters.redis_connection import CONNECT_TIMEOUT_S, PAUSE_S, REPLY_TIMEOUT_S
from service.errors import Misconfigured
from tests.fakes.redis_server import Clock, Server, free_port

# What one call may cost when Redis hangs, with room for a loaded machine.
BOUND_S = CONNECT_TIMEOUT_S + REPLY_TIMEOUT_S + 0.2


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path, free_port())
    yield started
    if started.process.poll() is None:
        started.stop()


def timed(cache: RedisCache, key: str = "k") -> tuple[bytes | None, float]:
    began = time.perf_counter()
    value = cache.get(key)
    return value, time.perf_counter() - began


def test_bytes_come_back_as_they_were_until_their_time_is_over(server: Server) -> None:
    cache = RedisCache(server.url)
    assert cache.healthy()
    assert cache.get("missing") is None
    rubbish = bytes(range(256)) + b'{"truncated": '
    cache.set("键:1", rubbish, 60)
    assert cache.get("键:1") == rubbish
    assert 0 < server.admin.ttl("键:1") <= 60
    server.admin.pexpire("键:1", 1)
    time.sleep(0.02)
    assert cache.get("键:1") is None


def test_a_closed_port_is_a_miss_at_once_and_is_counted(server: Server) -> None:
    seen: list[str] = []
    cache = RedisCache(f"redis://127.0.0.1:{free_port()}/0", on_error=seen.append)
    value, seconds = timed(cache)
    assert value is None
    assert seconds < BOUND_S
    cache.set("k", b"v", 60)
    assert seen == ["get_connection"], "after the first failure the same request is not made to wait again"
    assert not cache.healthy()


def test_a_hung_server_costs_one_bounded_delay_a_request() -> None:
    """Accepts, reads nothing, never replies."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        taken: list[socket.socket] = []

        def accept() -> None:
            try:
                while True:
                    taken.append(listener.accept()[0])
            except OSError:
                return

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        seen: list[str] = []
        clock = Clock()
        cache = RedisCache(
            f"redis://127.0.0.1:{listener.getsockname()[1]}/0", on_error=seen.append, clock=clock
        )
        began = time.perf_counter()
        for key in ("a", "b", "c"):
            assert cache.get(key) is None
            cache.set(key, b"v", 60)
        assert time.perf_counter() - began < BOUND_S
        assert seen == ["get_timeout"]
        clock.now += PAUSE_S + 0.01
        assert timed(cache)[1] < BOUND_S
        assert seen == ["get_timeout"] * 2, "after the pause one call tries again"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join(timeout=5)
        for connection in taken:
            connection.close()


def test_a_server_that_refuses_writes_still_answers_reads(server: Server) -> None:
    seen: list[str] = []
    cache = RedisCache(server.url, on_error=seen.append)
    cache.set("k", b"before", 60)
    server.admin.config_set("min-replicas-to-write", 1)
    cache.set("k", b"after", 60)
    assert cache.get("k") == b"before"
    assert seen == ["set_refused"]
    server.admin.config_set("min-replicas-to-write", 0)
    cache.set("k", b"after", 60)
    assert cache.get("k") == b"after"


def test_a_full_memory_is_no_failure_of_the_request(server: Server) -> None:
    seen: list[str] = []
    cache = RedisCache(server.url, on_error=seen.append)
    server.admin.config_set("maxmemory", 1)
    cache.set("k", b"v" * 1000, 60)
    assert cache.get("k") is None
    assert seen == ["set_refused"]


def test_a_key_of_another_type_is_a_miss(server: Server) -> None:
    seen: list[str] = []
    cache = RedisCache(server.url, on_error=seen.append)
    server.admin.rpush("list", "x")
    assert cache.get("list") is None
    assert cache.get("\ud800") is None
    cache.set("k", b"v", 0)
    assert seen == ["get_refused", "get_refused", "set_refused"]


def test_a_server_that_goes_and_comes_back_is_used_again(tmp_path: Path) -> None:
    port = free_port()
    first = Server(tmp_path, port)
    clock = Clock()
    seen: list[str] = []
    cache = RedisCache(first.url, on_error=seen.append, clock=clock)
    cache.set("k", b"v", 60)
    first.stop()
    assert cache.get("k") is None
    assert seen == ["get_connection"]
    second = Server(tmp_path, port)
    try:
        assert cache.get("k") is None, "still pausing"
        clock.now += PAUSE_S + 0.01
        cache.set("k", b"again", 60)
        assert cache.get("k") == b"again"
        assert seen == ["get_connection"]
    finally:
        second.stop()


def test_a_good_health_check_ends_the_pause(server: Server) -> None:
    cache = RedisCache(server.url, clock=Clock())
    cache._redis._paused_until = float("inf")
    cache.set("k", b"v", 60)
    assert server.admin.get("k") is None
    assert cache.healthy()
    cache.set("k", b"v", 60)
    assert cache.get("k") == b"v"


def test_many_threads_share_one_cache(server: Server) -> None:
    seen: list[str] = []
    cache = RedisCache(server.url, on_error=seen.append)

    def work(number: int) -> None:
        for turn in range(50):
            cache.set(f"{number}:{turn}", str(turn).encode(), 60)
            assert cache.get(f"{number}:{turn}") in (str(turn).encode(), None)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == []
    assert server.admin.dbsize() == 400


def test_a_url_that_cannot_be_read_is_said_at_once() -> None:
    with pytest.raises(Misconfigured):
        RedisCache("http://127.0.0.1:6379")


def test_no_cache_keeps_nothing() -> None:
    cache = NoCache()
    cache.set("k", b"v", 60)
    assert cache.get("k") is None
    assert (cache.healthy(), cache.name) == (True, "none")
