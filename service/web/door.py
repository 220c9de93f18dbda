"""What stands before every route that needs a token: who calls, within which limits, and whether the body is JSON."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from flask import Response, g, request
from flask_openapi.blueprint import APIBlueprint
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType

from service.errors import RateLimited, TooBusy
from service.web import models
from service.web.auth import TokenChecker
from service.web.errors import failure
from service.web.limits import Limits
from service.web.metrics import Metrics

SECURITY: list[dict[str, list[Any]]] = [{"bearer": []}]
ERRORS: dict[str | int, Any] = {
    400: models.ErrorOut,
    401: models.ErrorOut,
    403: models.ErrorOut,
    404: models.ErrorOut,
    413: models.ErrorOut,
    415: models.ErrorOut,
    429: models.ErrorOut,
    503: models.ErrorOut,
}


def guard(
    api: APIBlueprint,
    tokens: TokenChecker,
    limits: Limits,
    metrics: Metrics,
    *,
    with_parameters: Set[str] = frozenset(),
    without_body: Set[str] = frozenset(),
) -> None:
    """Every request of these routes comes through here; `g.principal` is then who calls. Routes are named that read
    parameters, and of the POSTs those that take no body."""
    reading = {f"{api.name}.{name}" for name in with_parameters}
    bodiless = {f"{api.name}.{name}" for name in without_body}

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
        if request.args and request.endpoint not in reading:
            return failure(400, "INVALID_REQUEST", "This address takes no parameters; see /openapi.")
        return None

    @api.before_request
    def body_is_json() -> Response | None:
        # The framework would read malformed JSON as an empty object; say what is wrong instead.
        if request.method != "POST" or request.endpoint in bodiless:
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


def needs(role: str) -> str:
    return f"Needs the role: {role}."


def _not_cut_off() -> None:
    """Raises RequestEntityTooLarge for a body in chunks that goes on beyond the largest: the framework would take
    what comes before as the whole."""
    if request.content_length is not None or len(request.get_data()) != request.max_content_length:
        return
    if request.environ["wsgi.input"].read(1):
        raise RequestEntityTooLarge
