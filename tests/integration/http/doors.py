"""The application as callers meet it, over one engine or the other: for what both must keep."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from service import bootstrap
from service.app import create_app
from service.bootstrap import Services, build
from service.domain.generations import Manifest
from service.profiles.corpus import CorpusProfile
from service.settings import Settings
from tests.integration.http.material import POSTS, bearer

Document = dict[str, Any]


def document(document_id: str, text: str, *allow: str, **access: Any) -> Document:
    """A document for some subjects, for everybody when none is named."""
    rule = {"allow": list(allow) or ["*"], **access}
    return {"documentId": document_id, "title": document_id, "text": text, "access": rule}


@dataclass
class Door:
    """One engine, the services over it, and a client of the application without a cache."""

    services: Services
    embedder: Any
    folder: Path
    client: FlaskClient = field(init=False)

    def __post_init__(self) -> None:
        self.services.__dict__["embedder"] = self.embedder
        self.client = self.app()

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def engine(self) -> str:
        return self.settings.engine

    def app(self, **changes: Any) -> FlaskClient:
        """A client of an application of its own over the same engine, wired as in production."""
        with pytest.MonkeyPatch.context() as patch:
            # The model is loaded once for all; nothing else is replaced.
            patch.setattr(bootstrap, "OnnxEmbedder", lambda *_, **__: self.embedder)
            return create_app(self.settings.model_copy(update=changes)).test_client()

    def ingest(self, corpus: str, documents: Iterable[Document]) -> None:
        path = self.folder / f"{corpus}.jsonl"
        path.write_text("\n".join(map(json.dumps, documents)), encoding="utf-8")
        report = self.services.offline.ingest(corpus, [path], CorpusProfile(name=corpus), None, quiet)
        assert report.refused == []

    def publish(self, corpus: str, documents: Iterable[Document]) -> Manifest:
        self.ingest(corpus, documents)
        manifest = self.services.offline.build(corpus, quiet)
        self.services.offline.publish(corpus, manifest.generation)
        return manifest

    def who(self, subject: str, *groups: str, **changes: Any) -> dict[str, str]:
        """The headers of a caller who may also read traces."""
        changes = {"roles": ["reader", "inspect"], "ttl_s": 600, **changes}
        return bearer(self.settings, subject=subject, groups=list(groups), **changes)

    def post(
        self,
        who: dict[str, str],
        path: str,
        corpus: str,
        text: str,
        *,
        client: FlaskClient | None = None,
        **more: Any,
    ) -> Any:
        body = {POSTS[path]: text, "corpus": corpus, **more}
        return (client or self.client).post(path, json=body, headers=who)

    def search(self, who: dict[str, str], corpus: str, text: str, **more: Any) -> Any:
        response = self.post(who, "/v1/search", corpus, text, **more)
        assert response.status_code == 200, response.text
        return response.get_json()

    def trace(self, who: dict[str, str], trace_id: str) -> Any:
        response = self.client.get(f"/v1/traces/{trace_id}", headers=who)
        assert response.status_code == 200, response.text
        return response.get_json()


def open_door(engine: str, prefix: str, folder: Path, embedder: Any, secret: str, es_url: str | None) -> Door:
    values = {"engine": engine, "prefix": prefix, "data_dir": folder / "data", "token_secret": secret}
    values |= {"es_url": es_url, "redis_url": None, "rate_per_minute": 0}
    return Door(build(Settings.model_validate(values)), embedder, folder)


def ids(found: Any) -> list[str]:
    return [hit["documentId"] for hit in found["hits"]]


def plain(value: Any) -> Any:
    """A response without what differs from one request to the next: ids of the request, and times."""
    if isinstance(value, dict):
        return {
            k: plain(v)
            for k, v in value.items()
            if k not in ("traceId", "trace_id", "queryId", "ms", "tookMs")
        }
    return [plain(part) for part in value] if isinstance(value, list) else value


def shape(response: Any) -> tuple[Any, ...]:
    """Status, body and headers but the date: what two responses must share to be one."""
    headers = sorted((name, value) for name, value in response.headers if name != "Date")
    return response.status_code, response.data, headers


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""
