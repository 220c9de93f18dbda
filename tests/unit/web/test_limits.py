"""The limits at the door: who is refused, with what, and that nobody else notices."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from service.access.policy import principal_of
from service.adapters.rate_limit import NoLimiter
from service.app import create_app
from service.domain.rights import Principal
from service.errors import NotFound, RateLimited, TooBusy
from service.settings import Settings
from service.web.limits import Limits
from tests.integration.http.material import SECRET, bearer, refused

ROUTES: list[tuple[str, str, Any]] = [
    ("POST", "/v1/answers", {"text": "x", "corpus": "c"}),
    ("POST", "/v1/search", {"text": "x", "corpus": "c"}),
    ("POST", "/api/chat", {"question": "x", "corpus": "c"}),
    ("GET", "/v1/sources/d/" + "0" * 64, None),
    ("GET", "/v1/traces/" + "0" * 32, None),
]


class Path:
    """An online path that finds nothing; `hold` keeps its requests inside."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.open.set()
        self.entered = threading.Semaphore(0)

    def find(self, *_: Any) -> Any:
        self.entered.release()
        assert self.open.wait(timeout=30)
        raise NotFound

    answer = search = read_source = read_trace = find

    def ready(self) -> dict[str, str]:
        return {"engine": "ok"}

    @contextmanager
    def hold(self, requests: list[Callable[[], Any]]) -> Iterator[list[Any]]:
        """Inside the block these requests are under way; after it the list holds their responses."""
        self.open.clear()
        responses: list[Any] = []
        with ThreadPoolExecutor(max_workers=len(requests)) as pool:
            running = [pool.submit(request) for request in requests]
            for _ in requests:
                assert self.entered.acquire(timeout=30)
            try:
                yield responses
            finally:
                self.open.set()
        responses += [one.result() for one in running]


@pytest.fixture
def path() -> Path:
    return Path()


def settings_of(**changes: Any) -> Settings:
    base = {"engine": "embedded", "redis_url": None, "token_secret": SECRET}
    return Settings.model_validate({**base, **changes})


def app_of(path: Path, settings: Settings) -> Flask:
    return create_app(settings, service=path)


def call(client: FlaskClient, headers: dict[str, str], route: tuple[str, str, Any] = ROUTES[0]) -> Any:
    method, where, body = route
    return client.open(where, method=method, json=body, headers=headers)


def metric(client: FlaskClient, code: str) -> str:
    return next(
        line.split()[-1]
        for line in client.get("/metrics").text.splitlines()
        if line.startswith(f'attest_limited_total{{code="{code}"}}')
    )


# ── the rate ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route[1][:12])
def test_too_often_is_429_with_the_seconds_to_wait(path: Path, route: tuple[str, str, Any]) -> None:
    settings = settings_of(rate_per_minute=2, rate_burst=2)
    client = app_of(path, settings).test_client()
    headers = bearer(settings, roles=["reader", "inspect"])
    assert [call(client, headers, route).status_code for _ in range(2)] == [404, 404]
    response = call(client, headers, route)
    assert "ask again in 30 s" in refused(response, 429, "RATE_LIMITED")["message"]
    assert response.headers["Retry-After"] == "30"
    assert response.headers["Cache-Control"] == "no-store"
    assert metric(client, "RATE_LIMITED") == "1.0"


def test_one_budget_over_all_routes_tokens_and_spellings_of_a_name(path: Path) -> None:
    settings = settings_of(rate_per_minute=1, rate_burst=2)
    client = app_of(path, settings).test_client()
    call(client, bearer(settings), ROUTES[0])
    call(client, bearer(settings, subject="ALICE", groups=["hr"], ttl_s=50), ROUTES[3])
    refused(call(client, bearer(settings, labels=["x"]), ROUTES[1]), 429, "RATE_LIMITED")


def test_nobody_else_is_affected(path: Path) -> None:
    settings = settings_of(rate_per_minute=1, rate_burst=1)
    client = app_of(path, settings).test_client()
    for _ in range(3):
        last = call(client, bearer(settings))
    refused(last, 429)
    assert call(client, bearer(settings, subject="bob")).status_code == 404
    assert call(client, bearer(settings, tenant="other")).status_code == 404
    for where in ("/healthz", "/readyz", "/metrics", "/", "/openapi/openapi.json"):
        assert client.get(where).status_code == 200


def test_the_token_is_asked_for_first_and_roles_and_body_last(path: Path) -> None:
    settings = settings_of(rate_per_minute=1, rate_burst=1)
    client = app_of(path, settings).test_client()
    for _ in range(5):
        refused(client.post("/v1/answers", data=b"{"), 401)
        refused(client.post("/v1/answers", headers={"Authorization": "Bearer x.y.z"}), 401)
    # A request without the role, or with a body that cannot be read, has been made all the same.
    refused(call(client, bearer(settings, roles=[])), 403)
    refused(call(client, bearer(settings, roles=[])), 429)
    bob = bearer(settings, subject="bob")
    refused(client.post("/v1/answers", data=b"{", content_type="application/json", headers=bob), 400)
    refused(client.post("/v1/answers", data=b"{", content_type="application/json", headers=bob), 429)


def test_no_rate_is_no_limit(path: Path) -> None:
    settings = settings_of(rate_per_minute=0, rate_burst=1)
    client, headers = app_of(path, settings).test_client(), bearer(settings)
    assert {call(client, headers).status_code for _ in range(200)} == {404}


# ── what is under way ───────────────────────────────────────────────────────────────────────────────────


def test_one_caller_cannot_take_every_thread(path: Path) -> None:
    settings = settings_of(threads=8, max_concurrent_per_principal=2)
    app = app_of(path, settings)
    alice, bob = bearer(settings), bearer(settings, subject="bob")
    with path.hold([lambda: call(app.test_client(), alice)] * 2) as held:
        for route in ROUTES:
            response = call(app.test_client(), alice, route)
            assert "2 requests under way" in refused(response, 429, "TOO_BUSY")["message"]
            assert response.headers["Retry-After"] == "1"
        path.open.set()
        assert call(app.test_client(), bob).status_code == 404
    assert [response.status_code for response in held] == [404, 404]
    assert call(app.test_client(), alice).status_code == 404, "who has ended makes room"
    assert metric(app.test_client(), "TOO_BUSY") == "5.0"


def test_what_is_beyond_the_process_is_refused_at_once(path: Path) -> None:
    settings = settings_of(threads=4)
    assert settings.requests_at_once == 3
    app = app_of(path, settings)

    def ask(number: int) -> Any:
        return call(app.test_client(), bearer(settings, subject=f"caller-{number}"))

    with path.hold([lambda n=n: ask(n) for n in range(3)]) as held:
        refused(ask(9), 429, "TOO_BUSY")
        refused(app.test_client().post("/v1/answers"), 401)
        for where in ("/healthz", "/readyz", "/metrics"):
            assert app.test_client().get(where).status_code == 200
    assert [response.status_code for response in held] == [404] * 3
    assert ask(9).status_code == 404


def test_what_is_refused_for_want_of_room_uses_up_no_rate(path: Path) -> None:
    settings = settings_of(rate_per_minute=1, rate_burst=2, max_concurrent_per_principal=1)
    app, headers = app_of(path, settings), bearer(settings)
    with path.hold([lambda: call(app.test_client(), headers)]):
        for _ in range(5):
            refused(call(app.test_client(), headers), 429, "TOO_BUSY")
    assert call(app.test_client(), headers).status_code == 404
    refused(call(app.test_client(), headers), 429, "RATE_LIMITED")


@pytest.mark.parametrize("threads", [1, 2, 256])
def test_a_thread_stays_free_where_there_is_more_than_one(threads: int) -> None:
    assert settings_of(threads=threads).requests_at_once == max(1, threads - 1)
    assert settings_of(threads=threads, max_concurrent=5).requests_at_once == 5


def test_room_is_given_back_whatever_happens() -> None:
    class Broken(Path):
        def find(self, *_: Any) -> Any:
            raise RuntimeError

        answer = search = read_source = read_trace = find

    settings = settings_of(max_concurrent=1, rate_per_minute=0)
    app = app_of(Broken(), settings)
    app.config["PROPAGATE_EXCEPTIONS"] = False
    client, headers = app.test_client(), bearer(settings)
    for _ in range(3):
        refused(call(client, headers), 500)
        refused(client.post("/v1/answers", data=b"{", content_type="application/json", headers=headers), 400)
        refused(client.post("/v1/answers", data=b"x", headers=headers), 415)
        refused(call(client, bearer(settings, roles=[])), 403)


# ── the class itself ────────────────────────────────────────────────────────────────────────────────────


class Recording:
    """A limiter that keeps the keys it is asked for, and answers one wait."""

    name = "recording"

    def __init__(self, wait_s: float = 0.0) -> None:
        self.keys: list[str] = []
        self.wait_s = wait_s

    def take(self, key: str) -> float:
        self.keys.append(key)
        return self.wait_s


def who(tenant: str, subject: str) -> Principal:
    return principal_of(tenant=tenant, subject=subject, groups=[], labels=[], roles=[])


def test_the_key_tells_no_name_and_no_two_callers_share_one() -> None:
    rate = Recording()
    limits = Limits(rate, at_once=99, at_once_each=99)
    callers = [("demo", "alice"), ("demo", "bob"), ("a", "b,c"), ("a,b", "c"), ('a","b', "c"), ("a", 'b","c')]
    for tenant, subject in callers:
        limits.enter(who(tenant, subject))
    assert len(set(rate.keys)) == len(callers)
    for key in rate.keys:
        assert len(key) == len(hashlib.sha256().hexdigest())
        assert int(key, 16) >= 0


@pytest.mark.parametrize(("wait_s", "told"), [(1e-6, 1), (0.99, 1), (1.0, 1), (1.01, 2), (59.2, 60)])
def test_seconds_are_whole_and_never_too_few(wait_s: float, told: int) -> None:
    limits = Limits(Recording(wait_s), at_once=1, at_once_each=1)
    for _ in range(3):
        with pytest.raises(RateLimited) as raised:
            limits.enter(who("demo", "alice"))
        assert raised.value.retry_after_s == told


def test_nobody_is_remembered_after_leaving() -> None:
    limits = Limits(NoLimiter(), at_once=2, at_once_each=1)
    for number in range(100):
        limits.leave(limits.enter(who("demo", f"user-{number}")))
    assert limits._inside == {}
    limits.enter(who("demo", "a"))
    with pytest.raises(TooBusy):
        limits.enter(who("demo", "a"))
    assert len(limits._inside) == 1


def test_a_limiter_that_breaks_keeps_no_room() -> None:
    class Broken(Recording):
        def take(self, key: str) -> float:
            raise RuntimeError

    limits = Limits(Broken(), at_once=1, at_once_each=1)
    for _ in range(3):
        with pytest.raises(RuntimeError):
            limits.enter(who("demo", "alice"))
