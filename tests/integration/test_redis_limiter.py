"""The shared limiter against a real Redis, and against everything that goes wrong with one."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.adapters.rate_limit import LocalLimiter, Rate
from service.adapters.redis_connection import CONNECT_TIMEOUT_S, PAUSE_S, REPLY_TIMEOUT_S
from service.adapters.redis_limiter import RedisLimiter
from service.errors import Misconfigured
from tests.fakes.redis_server import Clock, Server, free_port

BOUND_S = CONNECT_TIMEOUT_S + REPLY_TIMEOUT_S + 0.2
# One a minute: nothing comes back while a test runs.
SLOW = Rate(per_minute=1, burst=5)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path, free_port())
    yield started
    if started.process.poll() is None:
        started.stop()


def passing(limiter: RedisLimiter, times: int, key: str = "k") -> int:
    return sum(limiter.take(key) == 0.0 for _ in range(times))


def test_two_processes_share_one_budget(server: Server) -> None:
    first, second = (RedisLimiter(server.url, SLOW, "test") for _ in range(2))
    assert [limiter.take("k") == 0.0 for limiter in (first, second) * 4] == [True] * 5 + [False] * 3
    assert 59 < first.take("k") <= 60
    assert second.take("other") == 0.0, "another caller is not affected"


def test_another_service_in_the_same_redis_has_budgets_of_its_own(server: Server) -> None:
    assert passing(RedisLimiter(server.url, SLOW, "one"), 9) == 5
    assert passing(RedisLimiter(server.url, SLOW, "two"), 9) == 5


def test_what_is_written_is_one_short_lived_number(server: Server) -> None:
    RedisLimiter(server.url, SLOW, "test").take("0af3")
    assert server.admin.keys("*") == [b"test:rate:0af3"]
    assert server.admin.get("test:rate:0af3").isdigit()
    assert 59_000 < server.admin.pttl("test:rate:0af3") <= 60_000


def test_requests_pass_at_the_rate(server: Server) -> None:
    limiter = RedisLimiter(server.url, Rate(per_minute=6000, burst=1), "test")
    began = time.perf_counter()
    passed = 0
    while time.perf_counter() - began < 0.5:
        passed += limiter.take("k") == 0.0
    seconds = time.perf_counter() - began
    assert seconds * 100 * 0.5 < passed <= 1 + seconds * 100
    wait = next(wait for _ in range(100) if (wait := limiter.take("k")) > 0)
    assert wait <= 0.01
    time.sleep(0.02)
    assert limiter.take("k") == 0.0


def test_many_threads_share_one_budget(server: Server) -> None:
    limiter = RedisLimiter(server.url, Rate(1, 100), "test")
    passed: list[int] = []
    threads = [threading.Thread(target=lambda: passed.append(passing(limiter, 50))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(passed) == 100


def test_without_redis_each_process_counts_for_itself_and_the_door_stays_shut(tmp_path: Path) -> None:
    port = free_port()
    first_server = Server(tmp_path, port)
    clock, seen = Clock(), []
    limiter = RedisLimiter(first_server.url, SLOW, "test", on_error=seen.append, clock=clock)
    assert passing(limiter, 9) == 5
    first_server.stop()
    began = time.perf_counter()
    assert passing(limiter, 50) == 5, "one burst of its own, and no more"
    assert time.perf_counter() - began < BOUND_S
    assert seen == ["limit_connection"]
    second_server = Server(tmp_path, port)
    try:
        assert passing(limiter, 9) == 0, "still pausing"
        clock.now += PAUSE_S + 0.01
        assert passing(limiter, 9) == 5, "a Redis that has forgotten everything counts anew"
    finally:
        second_server.stop()


def test_a_hung_server_costs_one_bounded_delay() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        seen: list[str] = []
        url = f"redis://127.0.0.1:{listener.getsockname()[1]}/0"
        limiter = RedisLimiter(url, SLOW, "test", on_error=seen.append)
        began = time.perf_counter()
        assert passing(limiter, 50) == 5
        assert time.perf_counter() - began < BOUND_S
        assert seen == ["limit_timeout"]


def test_a_redis_that_refuses_is_no_open_door(server: Server) -> None:
    seen: list[str] = []
    limiter = RedisLimiter(server.url, SLOW, "test", on_error=seen.append)
    server.admin.config_set("min-replicas-to-write", 1)
    assert passing(limiter, 9) == 5
    assert set(seen) == {"limit_refused"}
    server.admin.config_set("min-replicas-to-write", 0)
    server.admin.rpush("test:rate:list", "x")
    assert passing(limiter, 9, "list") == 5


@pytest.mark.parametrize("value", ["", "soon", "nan", "-1", "1e300", "inf"])
def test_a_value_that_cannot_be_locks_nobody_out_for_long(server: Server, value: str) -> None:
    rate = Rate(per_minute=6000, burst=5)
    limiter = RedisLimiter(server.url, rate, "test")
    server.admin.set("test:rate:k", value)
    assert limiter.take("k") <= rate.interval_us / 1e6
    time.sleep(0.02)
    assert limiter.take("k") == 0.0
    assert server.admin.get("test:rate:k").isdigit()


def test_a_clock_put_back_locks_nobody_out(server: Server) -> None:
    rate = Rate(per_minute=6000, burst=5)
    limiter = RedisLimiter(server.url, rate, "test")
    server.admin.set("test:rate:k", int((time.time() + 3600) * 1e6))
    assert 0 < limiter.take("k") <= rate.interval_us / 1e6
    time.sleep(0.02)
    assert limiter.take("k") == 0.0
    assert server.admin.pttl("test:rate:k") < 1000


def test_a_url_that_cannot_be_read_is_said_at_once() -> None:
    with pytest.raises(Misconfigured):
        RedisLimiter("http://127.0.0.1:6379", SLOW, "test")


def test_both_limiters_say_the_same(server: Server) -> None:
    """The rule stands in Python and in Lua. Within a burst no time matters, so the two can be compared."""
    for rate in (Rate(1, 1), Rate(1, 7), Rate(3, 20)):
        shared, local = RedisLimiter(server.url, rate, f"t{rate.burst}"), LocalLimiter(rate, lambda: 0)
        for _ in range(rate.burst + 3):
            assert shared.take("k") == pytest.approx(local.take("k"), abs=1.0)
