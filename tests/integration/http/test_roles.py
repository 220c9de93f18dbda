"""Every route says which role it needs, and asks for just that one."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask.testing import FlaskClient

from service.settings import Settings
from service.web.auth import ROLES
from tests.integration.http.material import RETRY, bearer, refused
from tests.integration.http.test_openapi import API_MD, COMMITTED

OPERATIONS = [
    (method, path, operation)
    for path, operations in COMMITTED["paths"].items()
    for method, operation in operations.items()
]
OPEN = {"/", "/healthz", "/readyz", "/metrics"}


def role_of(operation: dict[str, Any]) -> str | None:
    found = re.match(r"Needs the role: (\w+)\.", operation.get("description", ""))
    return found[1] if found else None


def test_every_route_names_its_role_or_is_open(client: FlaskClient) -> None:
    rules = {rule.rule for rule in client.application.url_map.iter_rules()}
    rules = {re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", rule) for rule in rules}
    described = {path for _, path, _ in OPERATIONS}
    assert {rule for rule in rules - described if not rule.startswith(("/openapi", "/static"))} == OPEN
    assert [path for _, path, operation in OPERATIONS if role_of(operation) not in ROLES] == []


def test_api_md_gives_each_route_the_same_role() -> None:
    rows = dict(re.findall(r"^\| `(\w+ /[^`?{]*)[^`]*` \| (\S+?);? ?(?:with .*?)?\|", API_MD, re.MULTILINE))
    stated = {name.lower(): role for name, role in rows.items()}
    actual = {f"{method} {path.partition('{')[0]}": role_of(op) for method, path, op in OPERATIONS}
    assert stated == actual | {f"get {path}": "–" for path in OPEN - {"/"}}


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=lambda value: str(value)[:30])
def test_a_route_asks_for_that_role_alone(
    client: FlaskClient, settings: Settings, method: str, path: str, operation: dict[str, Any]
) -> None:
    role = role_of(operation)
    url = path.replace("{version}", "0" * 64).replace("{document_id}", "x").replace("{corpus}", "nowhere")
    url = re.sub(r"\{(?:trace_id|job_id|review_id|generation)\}", "0" * 32, url)
    question = {"question" if path == "/api/chat" else "text": RETRY, "corpus": "lesson"}
    special = {"jobs": {"kind": "build"}, "mark": {"verdict": "supported"}}
    body = special.get(path.rpartition("/")[2], question) if method == "post" else None

    def call(roles: list[str]) -> Any:
        return client.open(url, method=method.upper(), json=body, headers=bearer(settings, roles=roles))

    others = [other for other in ROLES if other not in (role, "admin")]
    assert f"'{role}'" in refused(call(others), 403, "ROLE_REQUIRED")["message"]
    assert call([str(role)]).status_code in (200, 404)
    assert call(["admin"]).status_code in (200, 404)
