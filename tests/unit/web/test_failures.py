"""What a failing online path looks like from outside: a status by kind, a stable code, never the inside."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from service import errors
from service.app import create_app
from service.settings import Settings
from tests.integration.http.material import SECRET, bearer, refused


class Failing:
    """An online path whose every call raises the same error."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def fail(self, *_: Any) -> Any:
        raise self.error

    answer = search = read_source = read_trace = ready = fail


@pytest.fixture
def settings() -> Settings:
    return Settings.model_validate({"engine": "embedded", "redis_url": None, "token_secret": SECRET})


def client_of(settings: Settings, error: Exception) -> FlaskClient:
    app = create_app(settings, service=Failing(error))
    # Flask raises again in tests unless told to behave as in service.
    app.config["PROPAGATE_EXCEPTIONS"] = False
    return app.test_client()


CASES = [
    (errors.InvalidInput("A sentence that helps."), 400, "INVALID_INPUT"),
    (errors.InvalidQuestion("A sentence that helps."), 400, "INVALID_QUESTION"),
    (errors.InvalidAccess("A sentence that helps."), 400, "INVALID_ACCESS"),
    (errors.InvalidInput("A sentence that helps.", code="INVALID_SPAN"), 400, "INVALID_SPAN"),
    (errors.Unauthenticated(), 401, "UNAUTHENTICATED"),
    (errors.RoleRequired("reader"), 403, "ROLE_REQUIRED"),
    (errors.RateLimited(7), 429, "RATE_LIMITED"),
    (errors.TooBusy("All hands are full."), 429, "TOO_BUSY"),
    (errors.NotFound(), 404, "NOT_FOUND"),
    (errors.Conflict("Somebody wrote first."), 409, "CONFLICT"),
    (errors.BuildRefused("The build was refused."), 409, "BUILD_REFUSED"),
    (errors.Cancelled("An operator stopped it."), 409, "CANCELLED"),
    (errors.Unavailable("The engine is down."), 503, "UNAVAILABLE"),
    (errors.DeadlineExceeded("The time is spent."), 503, "DEADLINE_EXCEEDED"),
    (errors.AliasOnSeveral(("one", "two")), 503, "ALIAS_ON_SEVERAL"),
    (errors.GenerationGone("Pruned meanwhile, ask again."), 503, "GENERATION_GONE"),
    (errors.GenerationFailed("timeout"), 503, "GENERATION_FAILED"),
]


@pytest.mark.parametrize(("error", "status", "code"), CASES, ids=lambda value: str(value))
def test_each_kind_of_failure_has_its_status(
    settings: Settings, error: errors.AttestError, status: int, code: str
) -> None:
    client, headers = client_of(settings, error), bearer(settings, roles=["reader", "inspect"])
    responses = [
        client.post("/v1/answers", json={"text": "x", "corpus": "c"}, headers=headers),
        client.post("/v1/search", json={"text": "x", "corpus": "c"}, headers=headers),
        client.post("/api/chat", json={"question": "x", "corpus": "c"}, headers=headers),
        client.get("/v1/sources/d/" + "0" * 64, headers=headers),
        client.get("/v1/traces/" + "0" * 32, headers=headers),
    ]
    for response in responses:
        assert refused(response, status, code)["message"] == error.message
        assert response.headers.get("Retry-After") == {"RATE_LIMITED": "7", "TOO_BUSY": "1"}.get(
            code, "2" if status == 503 else None
        )
        assert response.headers.get("WWW-Authenticate") == ("Bearer" if status == 401 else None)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.Misconfigured("The file /etc/secret.json is broken."), "MISCONFIGURED"),
        (errors.SourceUnreadable("The file /etc/secret.json is broken."), "SOURCE_UNREADABLE"),
        (RuntimeError("/etc/secret.json"), "INTERNAL"),
        (KeyError("secret"), "INTERNAL"),
        (RecursionError("secret"), "INTERNAL"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else value,
)
def test_a_fault_of_ours_tells_nothing(settings: Settings, error: Exception, code: str) -> None:
    response = client_of(settings, error).post(
        "/v1/answers", json={"text": "x", "corpus": "c"}, headers=bearer(settings)
    )
    refused(response, 500, code)
    assert "secret" not in response.text


def test_every_class_of_error_is_tried_here() -> None:
    def below(kind: type[errors.AttestError]) -> set[type[errors.AttestError]]:
        return {kind}.union(*(below(child) for child in kind.__subclasses__()))

    ours = {kind for kind in below(errors.AttestError) if kind.__module__ == errors.__name__}
    tried = {type(case[0]) for case in CASES}
    assert ours - tried == {errors.AttestError, errors.Misconfigured, errors.SourceUnreadable}


def test_not_ready_is_503_with_the_part_that_is_not(settings: Settings) -> None:
    client = client_of(settings, errors.Unavailable("http://node:9200 refused"))
    response = client.get("/readyz")
    assert response.status_code == 503
    assert response.get_json() == {"status": "not ready", "parts": {"service": "UNAVAILABLE"}}
    assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    ("parts", "status"),
    [
        ({"engine": "ok", "cache": "ok"}, 200),
        ({"engine": "ok", "cache": "degraded: slow"}, 200),
        ({"engine": "no answer", "cache": "ok"}, 503),
    ],
)
def test_a_degraded_part_still_serves(settings: Settings, parts: dict[str, str], status: int) -> None:
    class Parts(Failing):
        def ready(self) -> dict[str, str]:
            return parts

    client = create_app(settings, service=Parts(RuntimeError())).test_client()
    assert (client.get("/readyz").status_code, client.get("/readyz").get_json()["parts"]) == (status, parts)
