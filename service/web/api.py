"""The routes of the search and answer API."""

from __future__ import annotations

import uuid
from typing import Any, Protocol

from flask import Response, g, jsonify, request
from flask_openapi.blueprint import APIBlueprint
from flask_openapi.models.tag import Tag
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from service.domain.answers import GroundedAnswer, Question, SearchResult, SourceView
from service.domain.rights import Principal
from service.errors import RateLimited, TooBusy
from service.text.language import language
from service.web import models
from service.web.auth import TokenChecker, require
from service.web.errors import failure
from service.web.limits import Limits
from service.web.metrics import Metrics
from service.web.present import answer_json, chat_json, search_json, source_json


class OnlineService(Protocol):
    """What the routes need of the online path."""

    def answer(self, question: Question, principal: Principal) -> GroundedAnswer: ...

    def search(self, question: Question, principal: Principal, size: int) -> SearchResult: ...

    def read_source(
        self, principal: Principal, document_id: str, version: str, start: int | None, end: int | None
    ) -> SourceView: ...

    def read_trace(self, principal: Principal, trace_id: str) -> dict[str, Any]: ...

    def ready(self) -> dict[str, str]: ...


_SECURITY: list[dict[str, list[Any]]] = [{"bearer": []}]
_ERRORS: dict[str | int, Any] = {
    400: models.ErrorOut,
    401: models.ErrorOut,
    403: models.ErrorOut,
    404: models.ErrorOut,
    413: models.ErrorOut,
    415: models.ErrorOut,
    429: models.ErrorOut,
    503: models.ErrorOut,
}


def blueprint(service: OnlineService, tokens: TokenChecker, limits: Limits, metrics: Metrics) -> APIBlueprint:
    """The `/v1` and `/api` routes over one online path."""
    api = APIBlueprint("api", __name__, abp_security=_SECURITY, abp_responses=_ERRORS)
    questions, sources = Tag(name="questions"), Tag(name="sources")

    @api.before_request
    def caller_is_known() -> None:
        # Before anything is read: who has no token learns nothing about what a body may hold.
        g.principal = tokens.principal(request.headers.get("Authorization"))

    @api.before_request
    def within_limits() -> None:
        # Before the body is read: a slow body takes up room too.
        try:
            g.room = limits.enter(g.principal)
        except (RateLimited, TooBusy) as error:
            metrics.limited(error.code)
            raise

    @api.teardown_request
    def room_for_the_next(_: BaseException | None) -> None:
        if (room := g.pop("room", None)) is not None:
            limits.leave(room)

    @api.before_request
    def parameters_are_read() -> Response | None:
        # The framework passes over what no route reads; a caller who asks for more must hear that there is no more.
        if request.args and request.endpoint != f"{api.name}.{source.__name__}":
            return failure(400, "INVALID_REQUEST", "This address takes no parameters; see /openapi.")
        return None

    @api.before_request
    def body_is_json() -> Response | None:
        # The framework would read malformed JSON as an empty object; say what is wrong instead.
        if request.method != "POST":
            return None
        _not_cut_off()
        try:
            body = request.get_json()
        except UnsupportedMediaType:
            return failure(415, "UNSUPPORTED_MEDIA_TYPE", "Send JSON with Content-Type: application/json.")
        except (BadRequest, RecursionError):
            return failure(400, "MALFORMED_JSON", "The body is not valid JSON, or names a field twice.")
        if not isinstance(body, dict):
            return failure(400, "INVALID_REQUEST", "The body must be a JSON object.")
        return None

    def caller(role: str) -> Principal:
        who: Principal = g.principal
        require(who, role)
        return who

    @api.post(
        "/v1/answers",
        tags=[questions],
        summary="Ask: a proven answer, or why none",
        description=f"{_needs('reader')} With `explain` also: inspect.",
        responses={200: models.AnswerOut},
    )
    def answers(body: models.AnswerBody) -> Response:
        answer = service.answer(_question(body, _explaining(body, caller("reader"))), caller("reader"))
        metrics.outcome(str(answer.reason or answer.status))
        return jsonify(answer_json(answer))

    @api.post(
        "/v1/search",
        tags=[questions],
        summary="Ranked passages",
        description=f"{_needs('reader')} With `explain` also: inspect.",
        responses={200: models.SearchOut},
    )
    def search(body: models.SearchBody) -> Response:
        who = caller("reader")
        return jsonify(search_json(service.search(_question(body, _explaining(body, who)), who, body.size)))

    @api.post(
        "/api/chat",
        tags=[questions],
        summary="The same answer in the chat shape",
        description=_needs("reader"),
        responses={200: models.ChatOut},
    )
    def chat(body: models.ChatBody) -> Response:
        question = Question(uuid.uuid4().hex, body.question, body.corpus)
        answer = service.answer(question, caller("reader"))
        metrics.outcome(str(answer.reason or answer.status))
        return jsonify(chat_json(answer, language(body.question)))

    @api.get(
        "/v1/sources/<path:document_id>/<version>",
        tags=[sources],
        summary="A span of an archived version",
        description=_needs("reader"),
        responses={200: models.SourceTextOut},
    )
    def source(path: models.SourcePath, query: models.SourceQuery) -> Response:
        view = service.read_source(caller("reader"), path.document_id, path.version, query.start, query.end)
        return jsonify(source_json(view))

    @api.get(
        "/v1/traces/<trace_id>",
        tags=[sources],
        summary="A request's trace",
        description=_needs("inspect"),
        responses={200: models.TraceOut},
    )
    def trace(path: models.TracePath) -> Response:
        return jsonify(service.read_trace(caller("inspect"), path.trace_id))

    return api


def _needs(role: str) -> str:
    return f"Needs the role: {role}."


def _not_cut_off() -> None:
    """Raises RequestEntityTooLarge for a body in chunks that goes on beyond the largest: the framework would take
    what comes before as the whole."""
    if request.content_length is not None or len(request.get_data()) != request.max_content_length:
        return
    if request.environ["wsgi.input"].read(1):
        raise RequestEntityTooLarge


def _explaining(body: models.AnswerBody, who: Principal) -> bool:
    if body.explain:
        require(who, "inspect")
    return body.explain


def _question(body: models.AnswerBody, explain: bool) -> Question:
    return Question(
        query_id=body.query_id or uuid.uuid4().hex,
        text=body.text,
        corpus=body.corpus,
        corpus_version=body.allowed_corpus_version,
        profile=body.profile,
        locale=body.locale,
        explain=explain,
    )
