"""Health, readiness, metrics: for the machines that look after the service. No token, nothing about documents."""

from __future__ import annotations

from flask import Blueprint, Response, jsonify

from service.errors import AttestError
from service.web.api import OnlineService
from service.web.metrics import Metrics


def blueprint(service: OnlineService, metrics: Metrics) -> Blueprint:
    health = Blueprint("health", __name__)

    @health.get("/healthz")
    def healthz() -> Response:
        """The process lives. Says nothing of what it depends on, so that a slow engine restarts nobody."""
        return jsonify(status="ok")

    @health.get("/readyz")
    def readyz() -> Response:
        """Whether requests can be served, part by part; 503 when one that is needed does not answer."""
        try:
            parts = service.ready()
        except AttestError as error:
            parts = {"service": error.code}
        ready = all(state.startswith(("ok", "degraded")) for state in parts.values())
        response = jsonify(status="ready" if ready else "not ready", parts=parts)
        response.status_code = 200 if ready else 503
        return response

    @health.get("/metrics")
    def prometheus() -> Response:
        return Response(metrics.render(), mimetype="text/plain; version=0.0.4")

    return health
