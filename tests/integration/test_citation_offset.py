"""Citations that point beside their quote, on both engines."""

from __future__ import annotations

from service.bootstrap import Services
from service.evaluation.experiments import citation_offset


def test_no_moved_citation_leaves_and_a_reader_sees_nothing_beside_the_quote(services: Services) -> None:
    told = citation_offset.run(services.offline, services.online)
    assert [(e.what, e.expected, e.seen) for e in told if not e.holds] == []
    assert len({e.what for e in told}) == len(told) == 114
