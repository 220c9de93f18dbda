"""One Redis, several principals, and a Redis that fails: reports 3 and 4, through the door and over both engines."""

from __future__ import annotations

import dataclasses
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.adapters.redis_connection import CONNECT_TIMEOUT_S, REPLY_TIMEOUT_S
from service.offline.rights import change_rights
from tests.fakes.redis_server import Server, free_port
from tests.integration.http.doors import Door, document, plain
from tests.integration.http.material import POSTS

LIST = document("D1", "裁员名单在 2026 年 4 月 8 日公布。", "group:hr")
CANTEEN = document("D2", "食堂在早上七点开门。")
LAYOFF, BREAKFAST = "裁员名单什么时候公布？", "食堂几点开门？"
DATE = "2026 年 4 月 8 日"
CORPUS = "cached"


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[Server]:
    started = Server(tmp_path, free_port())
    yield started
    if started.process.poll() is None:
        started.stop()


@pytest.fixture(scope="module")
def published(door: Door) -> Door:
    door.publish(CORPUS, [LIST, CANTEEN])
    return door


def ask(door: Door, client: FlaskClient, who: dict[str, str], path: str, text: str = LAYOFF) -> Any:
    response = door.post(who, path, CORPUS, text, client=client)
    assert response.status_code == 200, response.text
    return response


def seen(response: Any) -> tuple[Any, ...]:
    """Body and headers without the ids of the request."""
    headers = sorted((name, value) for name, value in response.headers if name != "Date")
    return plain(response.get_json()), headers


def without_cache(response: Any) -> tuple[Any, ...]:
    """The same, of a response that tells of the missing cache where its shape can: and of nothing else."""
    told, headers = seen(response)
    if "degraded" in told:
        assert told["degraded"] == ["cache"]
        told["degraded"] = []
    return told, [(name, value) for name, value in headers if name != "Content-Length"]


def lengthless(told: tuple[Any, ...]) -> tuple[Any, ...]:
    return told[0], [(name, value) for name, value in told[1] if name != "Content-Length"]


def stages(door: Door, who: dict[str, str], response: Any) -> Any:
    body = response.get_json()
    trace = door.trace(who, body.get("traceId") or body["trace_id"])
    return [(stage["stage"], stage["in"], stage["out"], plain(stage["detail"])) for stage in trace["stages"]]


@pytest.mark.parametrize("path", POSTS)
def test_no_reply_is_shared_between_rights(published: Door, redis: Server, path: str) -> None:
    """Report 3: bob first, then alice, who must meet what she meets on a cold cache; and the other way round."""
    door, client = published, published.app(redis_url=redis.url)
    alice, bob = door.who("alice", "eng"), door.who("bob", "hr", "eng")
    cold = ask(door, client, alice, path)
    assert DATE not in cold.text and "D1" not in cold.text
    cold_trace = stages(door, alice, cold)
    redis.admin.flushall()

    first = ask(door, client, bob, path)
    assert DATE in first.text
    warm = ask(door, client, alice, path)
    assert seen(warm) == seen(cold)
    assert stages(door, alice, warm) == cold_trace
    assert seen(ask(door, client, bob, path)) == seen(first)
    redis.admin.flushall()

    assert seen(ask(door, client, alice, path)) == seen(cold)
    assert seen(ask(door, client, bob, path)) == seen(first), "her no-answer is not his"
    assert seen(ask(door, client, alice, path)) == seen(cold)
    # Bob left hr, and his next call is hers.
    assert seen(ask(door, client, door.who("bob", "eng"), path)) == seen(cold)
    for key in redis.admin.keys("*"):
        assert not any(word.encode() in key for word in ("alice", "bob", "group", "裁员"))


@pytest.mark.parametrize("path", POSTS)
def test_a_revocation_empties_what_is_cached_at_once(published: Door, redis: Server, path: str) -> None:
    door, client = published, published.app(redis_url=redis.url)
    bob = door.who("bob", "hr")
    kept = door.services.engine.registry.get_many(CORPUS, ["D1"])["D1"].access

    def allow(*subjects: str) -> None:
        access = dataclasses.replace(kept, allow=frozenset(subjects))
        change_rights(
            door.services.engine,
            CORPUS,
            "D1",
            lambda entry: dataclasses.replace(entry, access=access),
            action="test",
            who="tests",
            now="2026-12-02T00:00:00+00:00",
        )

    for _ in range(2):
        assert DATE in ask(door, client, bob, path).text
    try:
        allow("group:board")
        for _ in range(2):
            assert DATE not in ask(door, client, bob, path).text
    finally:
        allow("group:hr")
    assert DATE in ask(door, client, bob, path).text


def errors(client: FlaskClient) -> float:
    lines = [line for line in client.get("/metrics").text.splitlines() if 'kind="cache_error"' in line]
    return sum(float(line.split()[-1]) for line in lines if "_created" not in line)


def hits(client: FlaskClient) -> float:
    lines = client.get("/metrics").text.splitlines()
    return sum(
        float(line.split()[-1]) for line in lines if 'kind="cache",name="hit"' in line and "_total" in line
    )


def test_a_stopped_redis_changes_no_answer_and_no_right(
    published: Door, redis: Server, tmp_path: Path
) -> None:
    """Report 4a: and the cache fills again when Redis is back."""
    door, client = published, published.app(redis_url=redis.url)
    alice, bob = door.who("alice", "eng"), door.who("bob", "hr")
    asked = [(who, path, text) for who in (alice, bob) for path in POSTS for text in (LAYOFF, BREAKFAST)]
    expected = [seen(ask(door, client, *one)) for one in asked]
    redis.stop()
    assert [without_cache(ask(door, client, *one)) for one in asked] == list(map(lengthless, expected))
    assert errors(client) >= 1
    ready = client.get("/readyz")
    assert ready.status_code == 200
    assert ready.get_json()["parts"]["cache"].startswith("degraded")
    again = Server(tmp_path, redis.port)
    try:
        assert client.get("/readyz").get_json()["parts"]["cache"] == "ok"
        before = hits(client)
        assert [seen(ask(door, client, *one)) for one in asked] == expected
        assert [seen(ask(door, client, *one)) for one in asked] == expected
        assert hits(client) > before
    finally:
        again.stop()


def test_a_redis_that_refuses_writes(published: Door, redis: Server) -> None:
    """Report 4b."""
    door, client = published, published.app(redis_url=redis.url)
    bob = door.who("bob", "hr")
    cold = [seen(ask(door, client, bob, path)) for path in POSTS]
    redis.admin.flushall()
    redis.admin.replicaof("127.0.0.1", str(free_port()))
    assert [without_cache(ask(door, client, bob, path)) for path in POSTS] == list(map(lengthless, cold))
    assert errors(client) >= 1
    assert redis.admin.dbsize() == 0
    redis.admin.replicaof("NO", "ONE")
    assert [seen(ask(door, client, bob, path)) for path in POSTS] == cold
    assert redis.admin.dbsize() >= 1


def test_a_hung_redis_costs_one_bounded_delay_a_request(published: Door) -> None:
    """Report 4c: the connection is taken by the kernel, and nobody ever replies."""
    door = published
    alice, bob = door.who("alice", "eng"), door.who("bob", "hr")
    expected = {path: seen(ask(door, door.client, bob, path)) for path in POSTS}
    began = time.perf_counter()
    ask(door, door.client, bob, "/v1/answers")
    usual = time.perf_counter() - began
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(50)
        client = door.app(redis_url=f"redis://127.0.0.1:{listener.getsockname()[1]}/0")
        for path in POSTS:
            began = time.perf_counter()
            assert without_cache(ask(door, client, bob, path)) == lengthless(expected[path])
            spent = time.perf_counter() - began
            # Reading and writing each wait at most once, and with room for a loaded machine.
            assert spent < 3 * usual + CONNECT_TIMEOUT_S + REPLY_TIMEOUT_S + 1.0
            assert DATE not in ask(door, client, alice, path).text
        assert errors(client) >= 1


def test_a_damaged_entry_is_a_miss_and_is_mended(published: Door, redis: Server) -> None:
    """Report 4d: truncated, of another type, somebody else's, or rubbish."""
    door, client = published, published.app(redis_url=redis.url)
    alice, bob = door.who("alice", "eng"), door.who("bob", "hr")
    expected = [seen(ask(door, client, who, path)) for who in (alice, bob) for path in POSTS]
    keys = sorted(key for key in redis.admin.keys("*") if redis.admin.type(key) == b"string")
    values = {key: redis.admin.get(key) for key in keys}
    assert len(keys) >= 4
    whole = list(values.values())
    for turn in range(5):
        for place, key in enumerate(keys):
            value = values[key]
            damaged = [
                value[: len(value) // 2],
                b"",
                json.dumps({"status": "answered"}).encode(),
                b"\xff\x00",
            ]
            # Every entry under the key of another: what was kept for bob lies where alice looks.
            redis.admin.set(key, damaged[turn] if turn < 4 else whole[(place + 1) % len(whole)])
        found = [seen(ask(door, client, who, path)) for who in (alice, bob) for path in POSTS]
        assert found == expected, turn
    before = hits(client)
    assert [seen(ask(door, client, who, path)) for who in (alice, bob) for path in POSTS] == expected
    assert hits(client) == before + 2 * len(POSTS), "what was damaged was written anew"
