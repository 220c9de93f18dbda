"""A rule and its opposite, on both engines."""

from __future__ import annotations

from service.bootstrap import Services
from service.evaluation.experiments import opposite_rule


def test_the_right_rule_is_quoted_though_its_opposite_has_more_of_the_words(services: Services) -> None:
    figures, told = opposite_rule.run(services.offline, services.online)
    assert [(e.what, e.expected, e.seen) for e in told if not e.holds] == []
    assert len({e.what for e in told}) == len(told) == 68
    assert all(seen["rankByWords"]["opposite"] == 1 for seen in figures)
