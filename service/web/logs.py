"""One JSON line a request: route, status, time. Never a question, a document or a token."""

from __future__ import annotations

import logging
import time

import structlog
from flask import Flask, Response, g, request

from service.web.metrics import Metrics


def configure(level: str) -> None:
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level]),
    )


def install(app: Flask, metrics: Metrics) -> None:
    log = structlog.get_logger("attest.web")

    @app.before_request
    def start() -> None:
        g.started = time.perf_counter()

    @app.after_request
    def finish(response: Response) -> Response:
        seconds = time.perf_counter() - g.get("started", time.perf_counter())
        route = request.url_rule.rule if request.url_rule is not None else "unknown"
        metrics.request(route, response.status_code, seconds)
        log.info(
            "request",
            method=request.method,
            route=route,
            status=response.status_code,
            ms=round(seconds * 1000, 1),
        )
        return response
