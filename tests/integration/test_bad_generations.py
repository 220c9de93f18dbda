"""Every kind of bad generation is refused by the gate that is there for it, on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.bootstrap import Services
from service.evaluation.experiments import bad_generations


@pytest.mark.timeout(600)
def test_each_kind_is_refused_by_its_gate(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    refusals, told = bad_generations.run(services.offline, services.online, folder)
    assert [(e.what, e.expected, e.seen) for e in told if not e.holds] == []
    assert len({refusal.kind for refusal in refusals}) == len(refusals) >= 25
    for refusal in refusals:
        assert (
            refusal.by[0] == "engine"
            or f"{refusal.by[0]}: " in refusal.message
            or "built with" in refusal.message
        )
