"""The Flask application: settings → bootstrap → routes. No logic of its own."""

from __future__ import annotations

from flask import Flask, Response, jsonify
from flask_openapi.models.info import Info
from flask_openapi.openapi import OpenAPI

from service.bootstrap import build
from service.settings import Settings, load_settings
from service.web import api, errors, health, logs, ops
from service.web.auth import TokenChecker
from service.web.limits import Limits
from service.web.metrics import Metrics
from service.web.strict_json import StrictJson

_SECURITY_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}


def create_app(settings: Settings | None = None, service: api.OnlineService | None = None) -> Flask:
    """The WSGI application. Without arguments everything comes from the environment; models load here, in the
    worker, so that each process has its own sessions."""
    settings = settings or load_settings()
    metrics = Metrics()
    logs.configure(settings.log_level)
    services = build(settings, metrics.on_event)
    online = service or services.online
    limits = Limits(
        services.limiter,
        at_once=settings.requests_at_once,
        at_once_each=settings.max_concurrent_per_principal,
    )
    app = OpenAPI(
        __name__,
        info=Info(
            title="Attest", version="1", description="Answers that are proven, or refused with a reason."
        ),
        security_schemes={"bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"}},
        validation_error_callback=errors.validation_failure,
        validation_error_status=400,
    )
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body_bytes
    app.json = StrictJson(app)
    tokens = TokenChecker.of(settings)
    app.register_api(api.blueprint(online, tokens, limits, metrics))
    app.register_api(ops.blueprint(lambda: services.engine, settings, tokens, limits, metrics))
    app.register_blueprint(health.blueprint(online, metrics))
    errors.install(app)
    logs.install(app, metrics)

    @app.get("/", doc_ui=False)
    def index() -> Response:
        return jsonify(
            service="attest",
            openapi="/openapi/openapi.json",
            page="/openapi",
            ready="/readyz",
            metrics="/metrics",
        )

    @app.after_request
    def headers(response: Response) -> Response:
        for name, value in _SECURITY_HEADERS.items():
            response.headers.setdefault(name, value)
        return response

    return app
