"""What the HTTP tests share: tokens, a question, and how an answer or a refusal is read."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient

from service.settings import Settings
from service.web.auth import issue_token

SECRET = "0123456789abcdef0123456789abcdef"
RETRY = "同一任务自动重试耗尽后消息进入哪里？"
SWITCH = "内部恢复开关用于什么？"  # answered by the restricted document only
PRICE = "明年的价格是多少？"  # out of scope by a rule of the corpus
POSTS = {"/v1/answers": "text", "/v1/search": "text", "/api/chat": "question"}


def token(settings: Settings, **changes: Any) -> str:
    who: dict[str, Any] = {
        "tenant": "demo",
        "subject": "alice",
        "groups": [],
        "labels": [],
        "roles": ["reader"],
        "ttl_s": 60,
    }
    return issue_token(settings, **{**who, **changes})


def bearer(settings: Settings, **changes: Any) -> dict[str, str]:
    return {"Authorization": f"Bearer {token(settings, **changes)}"}


def claims(settings: Settings, **changes: Any) -> dict[str, Any]:
    """The claims of a good token with `changes`; None removes one."""
    now = int(time.time())
    base: dict[str, Any] = {
        "iss": settings.token_issuer,
        "aud": settings.token_audience,
        "iat": now,
        "exp": now + 60,
        "sub": "alice",
        "tenant": "demo",
        "groups": [],
        "labels": [],
        "roles": ["reader"],
    }
    return {name: value for name, value in {**base, **changes}.items() if value is not None}


def ask(client: FlaskClient, headers: dict[str, str], path: str = "/v1/answers", text: str = RETRY) -> Any:
    response = client.post(path, json={POSTS[path]: text, "corpus": "lesson"}, headers=headers)
    assert response.status_code == 200, response.text
    return response.get_json()


def citations(answer: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for claim in answer["claims"]:
        yield from claim["citations"]


def refused(response: Any, status: int, code: str | None = None) -> dict[str, Any]:
    """The one shape of every failure: a stable code and a sentence, and nothing of the inside."""
    assert response.status_code == status, response.text
    assert response.mimetype == "application/json"
    assert response.get_json().keys() == {"error"}
    error: dict[str, Any] = response.get_json()["error"]
    assert {"code", "message"} <= error.keys() <= {"code", "message", "field"}
    assert error["code"].replace("_", "").isalpha() and error["code"].isupper()
    if code is not None:
        assert error["code"] == code
    assert " " in error["message"] and error["message"].endswith(".")
    assert not error["message"].endswith("..")
    for inside in ("Traceback", "service/", "pydantic", "Value error", 'File "'):
        assert inside not in response.text
    return error
