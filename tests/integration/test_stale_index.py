"""A changed sentence, the switch and the way back, on both engines."""

from __future__ import annotations

from service.bootstrap import Services
from service.evaluation.experiments import stale_index


def test_the_answer_follows_the_switch_and_the_old_citation_tells_it_is_old(services: Services) -> None:
    told = stale_index.run(services.offline, services.online)
    assert [(e.what, e.expected, e.seen) for e in told if not e.holds] == []
    assert len(told) == 17
