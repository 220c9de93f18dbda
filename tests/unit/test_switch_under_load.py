"""Which generations a request may speak of while aliases move."""

from __future__ import annotations

from service.evaluation.experiments.switch_under_load import Switches


def test_what_a_request_may_speak_of_follows_the_alias_calls() -> None:
    switches = Switches("a", began=[1.0, 5.0], ended=[2.0, 6.0], to=["b", "a"])
    assert switches.possible(0.0, 0.5) == {"a"}
    assert switches.possible(0.0, 1.5) == {"a", "b"}  # the call may have been done already, or not
    assert switches.possible(2.5, 4.0) == {"b"}  # begun after the call returned: the new one only
    assert switches.possible(2.5, 5.5) == {"a", "b"}
    assert switches.possible(6.0, 9.0) == {"a"}
