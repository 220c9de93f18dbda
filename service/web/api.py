"""The routes of the search and answer API."""

from __future__ import annotations

import uuid
from typing import Any, Protocol

from flask import Response, g, jsonify
from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.tag import Tag

from service.domain.answers import GroundedAnswer, Question, SearchResult, SourceView
from service.domain.rights import Principal
from service.text.language import language
from service.web import models
from service.web.auth import TokenChecker, require
from service.web.door import ERRORS, SECURITY, guard, needs
from service.web.limits import Limits
from service.web.metrics import Metrics
from service.web.present import answer_json, chat_json, search_json, source_json


class OnlineService(Protocol):
    """What the routes need of the online path."""

    def answer(self, question: Question, principal: Principal) -> GroundedAnswer: ...

    def search(self, question: Question, principal: Principal, size: int) -> SearchResult: ...

    def read_source(
        self,
        principal: Principal,
        document_id: str,
        version: str,
        start: int | None,
        end: int | None,
        quote_sha256: str | None = None,
    ) -> SourceView: ...

    def read_trace(self, principal: Principal, trace_id: str) -> dict[str, Any]: ...

    def ready(self) -> dict[str, str]: ...


def blueprint(service: OnlineService, tokens: TokenChecker, limits: Limits, metrics: Metrics) -> APIBlueprint:
    """The `/v1` and `/api` routes over one online path."""
    api = APIBlueprint("api", __name__, abp_security=SECURITY, abp_responses=ERRORS)
    questions, sources = Tag(name="questions"), Tag(name="sources")

    guard(api, tokens, limits, metrics, with_parameters={"source"})

    def caller(role: str) -> Principal:
        who: Principal = g.principal
        require(who, role)
        return who

    @api.post(
        "/v1/answers",
        tags=[questions],
        summary="Ask: a proven answer, or why none",
        description=f"{needs('reader')} With `explain` also: inspect.",
        responses={200: models.AnswerOut},
    )
    def answers(body: models.AnswerBody) -> Response:
        who = caller("reader")
        answer = service.answer(_question(body, _explaining(body, who), body.conversation_id), who)
        metrics.outcome(str(answer.reason or answer.status))
        return jsonify(answer_json(answer))

    @api.post(
        "/v1/search",
        tags=[questions],
        summary="Ranked passages",
        description=f"{needs('reader')} With `explain` also: inspect.",
        responses={200: models.SearchOut},
    )
    def search(body: models.SearchBody) -> Response:
        who = caller("reader")
        return jsonify(search_json(service.search(_question(body, _explaining(body, who)), who, body.size)))

    @api.post(
        "/api/chat",
        tags=[questions],
        summary="The same answer in the chat shape",
        description=needs("reader"),
        responses={200: models.ChatOut},
    )
    def chat(body: models.ChatBody) -> Response:
        question = Question(
            uuid.uuid4().hex, body.question, body.corpus, conversation_id=body.conversation_id
        )
        answer = service.answer(question, caller("reader"))
        metrics.outcome(str(answer.reason or answer.status))
        return jsonify(chat_json(answer, language(body.question)))

    @api.get(
        "/v1/sources/<path:document_id>/<version>",
        tags=[sources],
        summary="A span of an archived version",
        description=needs("reader"),
        responses={200: models.SourceTextOut},
    )
    def source(path: models.SourcePath, query: models.SourceQuery) -> Response:
        view = service.read_source(
            caller("reader"), path.document_id, path.version, query.start, query.end, query.quote_sha256
        )
        return jsonify(source_json(view))

    @api.get(
        "/v1/traces/<trace_id>",
        tags=[sources],
        summary="A request's trace",
        description=needs("inspect"),
        responses={200: models.TraceOut},
    )
    def trace(path: models.TracePath) -> Response:
        return jsonify(service.read_trace(caller("inspect"), path.trace_id))

    return api


def _explaining(body: models.QuestionBody, who: Principal) -> bool:
    if body.explain:
        require(who, "inspect")
    return body.explain


def _question(body: models.QuestionBody, explain: bool, conversation_id: str | None = None) -> Question:
    return Question(
        query_id=body.query_id or uuid.uuid4().hex,
        text=body.text,
        corpus=body.corpus,
        corpus_version=body.allowed_corpus_version,
        profile=body.profile,
        locale=body.locale,
        explain=explain,
        conversation_id=conversation_id,
    )
