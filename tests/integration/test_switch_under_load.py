"""Clients of a real service while generations are switched, on both engines."""

from __future__ import annotations

from service.bootstrap import Services
from service.cli.serving import served
from service.evaluation.experiments import switch_under_load


def test_no_error_no_mixture_and_nothing_stale_over_switches(services: Services) -> None:
    names = switch_under_load.prepare(services.offline)
    with served(services.settings, clients=4) as (url, headers):
        figures, told = switch_under_load.run(services.offline, names, url, headers, switches=5, rollbacks=2)
    assert [(e.what, e.expected, e.seen) for e in told if not e.holds] == []
    assert set(figures["generationsSeen"]) == set(names)
