"""The published descriptions of the API, openapi.json and api.md, are those of the running application."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service import errors
from service.web.models import AnswerBody, AnswerOut, ChatBody, ChatOut, SearchBody, SearchOut, SourceTextOut
from service.web.ops_models import JobBody, JobOut, ManifestOut, MarkBody, ReviewOut
from service.web.present import _CHAT_REASON

REPOSITORY = Path(__file__).resolve().parents[3]
API_MD = (REPOSITORY / "docs" / "api.md").read_text(encoding="utf-8")
COMMITTED = json.loads((REPOSITORY / "docs" / "openapi.json").read_text(encoding="utf-8"))


def test_the_committed_document_is_in_step() -> None:
    script = REPOSITORY / "scripts" / "openapi"
    done = subprocess.run(
        [sys.executable, str(script), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_committed_document_is_the_served_one(client: FlaskClient) -> None:
    assert client.get("/openapi/openapi.json").get_json() == COMMITTED


def test_every_operation_needs_a_token_and_declares_its_failures() -> None:
    operations = [operation for path in COMMITTED["paths"].values() for operation in path.values()]
    assert len(operations) == 14
    for operation in operations:
        assert operation["security"] == [{"bearer": []}]
        assert {"400", "401", "403", "404", "429", "503"} <= operation["responses"].keys()
        assert {"200", "202"} & operation["responses"].keys()


def test_api_md_names_every_route(client: FlaskClient) -> None:
    rules = [rule.rule for rule in client.application.url_map.iter_rules()]
    ours = {
        rule.split("<")[0] for rule in rules if not rule.startswith(("/openapi", "/static")) and rule != "/"
    }
    assert len(ours) == 12
    assert [rule for rule in ours if f" {rule}" not in API_MD] == []


@pytest.mark.parametrize(
    "model",
    [
        AnswerBody,
        SearchBody,
        ChatBody,
        AnswerOut,
        SearchOut,
        ChatOut,
        SourceTextOut,
        JobBody,
        JobOut,
        ManifestOut,
        MarkBody,
        ReviewOut,
    ],
)
def test_api_md_names_every_field(model: Any) -> None:
    names = [field.alias or name for name, field in model.model_fields.items()]
    assert [name for name in names if f"`{name}`" not in API_MD and f"`{name}[]`" not in API_MD] == []


def test_api_md_names_every_code() -> None:
    # Raised by the command line only, or never seen by a caller of these routes.
    elsewhere = {"BUILD_REFUSED", "CANCELLED", "SOURCE_UNREADABLE", "INVALID_ACCESS", "INVALID_QUESTION"}
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    codes = {kind.code for kind in kinds if issubclass(kind, errors.AttestError)} - elsewhere
    assert len(codes) == 14
    assert [code for code in codes if f"`{code}`" not in API_MD] == []
    assert [reason for reason in _CHAT_REASON.values() if f"`{reason}`" not in API_MD] == []
