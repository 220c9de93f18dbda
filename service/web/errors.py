"""Failures as HTTP: one JSON shape, one table from code to status, never a stack trace."""

from __future__ import annotations

from typing import Any

import structlog
from flask import Flask, Response, jsonify
from pydantic import ValidationError
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from service.errors import (
    AttestError,
    BuildRefused,
    Cancelled,
    Conflict,
    InvalidInput,
    NotFound,
    RateLimited,
    RoleRequired,
    TooBusy,
    Unauthenticated,
    Unavailable,
)

# The first class that matches decides, so a subclass stands before its parent.
_STATUS: tuple[tuple[type[AttestError], int], ...] = (
    (Unauthenticated, 401),
    (RoleRequired, 403),
    (NotFound, 404),
    (Conflict, 409),
    (BuildRefused, 409),
    (Cancelled, 409),
    (InvalidInput, 400),
    (RateLimited, 429),
    (TooBusy, 429),
    (Unavailable, 503),
)
_HTTP_CODES = {
    400: ("BAD_REQUEST", "The request cannot be read."),
    405: ("METHOD_NOT_ALLOWED", "This address does not take that method; see /openapi."),
    408: ("REQUEST_TIMEOUT", "The request took too long to arrive."),
    413: ("BODY_TOO_LARGE", "The body is larger than this service accepts."),
    414: ("URI_TOO_LONG", "The address is longer than this service accepts."),
    415: ("UNSUPPORTED_MEDIA_TYPE", "Send JSON with Content-Type: application/json."),
    431: ("HEADERS_TOO_LARGE", "The headers are larger than this service accepts."),
}
_FIELD_MAX = 100
_log = structlog.get_logger("attest.web")


def failure(
    status: int, code: str, message: str, field: str | None = None, retry_after_s: int | None = None
) -> Response:
    body: dict[str, Any] = {"code": code, "message": message}
    if field is not None:
        body["field"] = field
    response = jsonify(error=body)
    response.status_code = status
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
    if retry_after_s is not None:
        response.headers["Retry-After"] = str(retry_after_s)
    return response


def validation_failure(error: ValidationError) -> Response:
    """The first fault in words of ours; what was sent is never echoed."""
    first = error.errors(include_input=False, include_url=False, include_context=False)[0]
    # The name of an unknown field is the caller's too: enough of it to be found, no more.
    field = ".".join(str(part) for part in first["loc"])[:_FIELD_MAX]
    what = first["msg"].removeprefix("Value error, ").rstrip(".")
    return failure(400, "INVALID_REQUEST", f"{field or 'The body'}: {what}.", field or None)


def install(app: Flask) -> None:
    """Every failure below this app ends in one of these three."""

    @app.errorhandler(AttestError)
    def attest_error(error: AttestError) -> Response:
        status = next((status for kind, status in _STATUS if isinstance(error, kind)), 500)
        if status == 500:
            _log.error("misconfigured", code=error.code, exc_info=error)
            return failure(
                500, error.code, "The service is not set up right; its operator finds the cause in the log."
            )
        return failure(status, error.code, error.message, retry_after_s=error.retry_after_s)

    @app.errorhandler(HTTPException)
    def http_error(error: HTTPException) -> Response:
        status = error.code or 500
        if status == 404:
            # An unknown address looks like an unknown object.
            return failure(404, NotFound.code, NotFound().message)
        code, message = _HTTP_CODES.get(status, (f"HTTP_{status}", "The request cannot be served."))
        response = failure(status, code, message)
        if isinstance(error, MethodNotAllowed) and error.valid_methods:
            response.headers["Allow"] = ", ".join(sorted(error.valid_methods))
        return response

    @app.errorhandler(Exception)
    def unexpected(error: Exception) -> Response:
        _log.error("unexpected", exc_info=error)
        return failure(500, "INTERNAL", "Something went wrong here; it has been logged.")
