"""Prometheus metrics of one process. No label ever holds a question, a document or a principal."""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

_BUCKETS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


class Metrics:
    """Counters and histograms; `on_event` is what the online path reports to."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "attest_requests_total",
            "Requests by route and status.",
            ["route", "status"],
            registry=self.registry,
        )
        self._seconds = Histogram(
            "attest_request_seconds",
            "Seconds of a request.",
            ["route"],
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._stages = Histogram(
            "attest_stage_seconds", "Seconds of a stage.", ["stage"], buckets=_BUCKETS, registry=self.registry
        )
        self._events = Counter(
            "attest_events_total",
            "Cache hits and misses, cache and limiter errors, degraded parts, lost traces and reviews.",
            ["kind", "name"],
            registry=self.registry,
        )
        self._outcomes = Counter(
            "attest_answers_total",
            "Answers by outcome: answered, or the reason code.",
            ["outcome"],
            registry=self.registry,
        )

        self._limited = Counter(
            "attest_limited_total",
            "Requests refused by a limit, by its code.",
            ["code"],
            registry=self.registry,
        )

    def on_event(self, kind: str, name: str, value: float) -> None:
        if kind == "stage":
            self._stages.labels(name).observe(value)
        else:
            self._events.labels(kind, name).inc(value)

    def request(self, route: str, status: int, seconds: float) -> None:
        self._requests.labels(route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def outcome(self, name: str) -> None:
        self._outcomes.labels(name).inc()

    def limited(self, code: str) -> None:
        self._limited.labels(code).inc()

    def render(self) -> bytes:
        return generate_latest(self.registry)
