"""Requests made from the OpenAPI document, good and bad: no 5xx, no undeclared status, every body as declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from flask.testing import FlaskClient
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from schemathesis import Case, GenerationMode
from schemathesis.checks import CHECKS

from service.settings import Settings
from tests.integration.http.material import ask, bearer, citations

OPERATIONS = {
    "POST /v1/answers",
    "POST /v1/search",
    "POST /api/chat",
    "GET /v1/sources/{document_id}/{version}",
    "GET /v1/traces/{trace_id}",
    "GET /v1/ops/corpora/{corpus}/generations",
    "GET /v1/ops/corpora/{corpus}/generations/{generation}",
    "GET /v1/ops/corpora/{corpus}/generations/{generation}/documents",
    "GET /v1/ops/corpora/{corpus}/jobs",
    # No corpus that is made up exists, so no job begins; tests/integration/http/test_ops.py begins real ones.
    "POST /v1/ops/corpora/{corpus}/jobs",
    "GET /v1/ops/jobs/{job_id}",
    "POST /v1/ops/jobs/{job_id}/cancel",
    "GET /v1/ops/reviews",
    "POST /v1/ops/reviews/{review_id}/mark",
}


@pytest.fixture(scope="module")
def operations(client: FlaskClient) -> dict[str, Any]:
    schema = schemathesis.openapi.from_wsgi("/openapi/openapi.json", client.application)
    found = [result.ok() for result in schema.get_all_operations()]
    return {operation.label: operation for operation in found}


@pytest.fixture(scope="module")
def everything(settings: Settings) -> dict[str, str]:
    # Good for as long as the slowest run of this module.
    return bearer(settings, roles=["admin"], ttl_s=600)


def test_every_route_is_described(operations: dict[str, Any]) -> None:
    assert operations.keys() == OPERATIONS


MODES = pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
LABELS = pytest.mark.parametrize("label", sorted(OPERATIONS))


@MODES
@LABELS
def test_responses_are_as_declared(
    operations: dict[str, Any], everything: dict[str, str], label: str, mode: GenerationMode
) -> None:
    for_each_case(operations[label], mode, 40, lambda case: case.call_and_validate(headers=everything))


# Nobody's, a mere reader's, one's from a tenant without documents, and one that is over.
CALLERS: dict[str, dict[str, Any]] = {
    "reader": {"roles": ["reader"]},
    "stranger": {"tenant": "elsewhere", "roles": ["admin"], "labels": ["restricted-demo"]},
    "expired": {"ttl_s": -600},
}


@MODES
@LABELS
@pytest.mark.parametrize("who", ["nobody", *CALLERS])
def test_what_others_are_told(
    client: FlaskClient,
    settings: Settings,
    operations: dict[str, Any],
    who: str,
    label: str,
    mode: GenerationMode,
) -> None:
    headers = {} if who == "nobody" else bearer(settings, **{"ttl_s": 600, **CALLERS[who]})
    told = client.post("/v1/answers")
    refusal = (told.status_code, told.data)
    assert refusal[0] == 401
    seen: set[int] = set()

    def check(case: Case) -> None:
        # As itself the check takes the token away to see that it is needed; that is what "nobody" does here.
        response = case.call_and_validate(headers=headers, excluded_checks=[CHECKS.get_one("ignored_auth")])
        seen.add(response.status_code)
        # A bad case may bring a bad token of its own.
        if who in ("nobody", "expired") or response.status_code == 401:
            assert (response.status_code, response.content) == refusal
        elif who == "stranger":
            # Nothing is there for him; a request that is wrong in itself is told so first.
            nothing = response.status_code == 200 and response.json() == {"reviews": []}
            assert nothing or response.status_code in (400, 404, 405, 415), response.text
        elif label.startswith("GET /v1/traces") or "/v1/ops/" in label:
            assert response.status_code in (400, 403, 404, 405), response.text

    for_each_case(operations[label], mode, 12, check)
    assert seen == {401} if who in ("nobody", "expired") else seen - {401}


def for_each_case(operation: Any, mode: GenerationMode, examples: int, check: Callable[[Case], Any]) -> None:
    @hypothesis_settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def run(case: Case) -> None:
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict):
            settle(case.body)
        check(case)

    run()


def settle(body: dict[str, Any]) -> None:
    """What no schema can say: which profiles exist, and that 2.0 is not sent for 2. Half of the questions go to
    the corpus that exists, so that full answers are compared with their schema too."""
    body.pop("profile", None)
    body.pop("allowedCorpusVersion", None)
    if "kind" in body:
        # Which field goes with which kind.
        for name in [name for name in body if name != "kind"]:
            del body[name]
        return
    if isinstance(body.get("size"), float):
        body["size"] = int(body["size"])
    if len(body.get("text", body.get("question", ""))) % 2:
        body["corpus"] = "lesson"


def test_full_answers_and_sources_match_their_schemas(
    client: FlaskClient, operations: dict[str, Any], everything: dict[str, str]
) -> None:
    for path, field in (("/v1/answers", "text"), ("/v1/search", "text"), ("/api/chat", "question")):
        for text in ("同一任务自动重试耗尽后消息进入哪里？", "明年的价格是多少？"):
            case = operations[f"POST {path}"].Case(
                body={field: text, "corpus": "lesson"}, media_type="application/json"
            )
            assert case.call_and_validate(headers=everything).status_code == 200
    answer = ask(client, everything)
    cited = next(citations(answer))
    where = {"document_id": cited["documentId"], "version": cited["documentVersion"]}
    source = operations["GET /v1/sources/{document_id}/{version}"].Case(path_parameters=where)
    assert source.call_and_validate(headers=everything).status_code == 200
    named = {"trace_id": answer["traceId"]}
    corpora = "/v1/ops/corpora/{corpus}"
    for label in (f"GET {corpora}/generations", f"GET {corpora}/jobs"):
        case = operations[label].Case(path_parameters={"corpus": "lesson"})
        assert case.call_and_validate(headers=everything).status_code == 200
    one = {"corpus": "lesson", "generation": answer["retrieval"]["generation"]}
    for label in (
        f"GET {corpora}/generations/{{generation}}",
        f"GET {corpora}/generations/{{generation}}/documents",
    ):
        case = operations[label].Case(path_parameters=one)
        assert case.call_and_validate(headers=everything).status_code == 200
    trace = operations["GET /v1/traces/{trace_id}"].Case(path_parameters=named)
    assert trace.call_and_validate(headers=everything).status_code == 200
