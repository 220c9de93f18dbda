"""The lesson of the cut key sentence holds on both engines."""

from __future__ import annotations

from pathlib import Path

from service.bootstrap import Services
from service.evaluation.experiments import cut_sentence
from service.evaluation.experiments.cut_guideline import GUIDELINE

SAMPLES = Path(cut_sentence.__file__).parents[2] / "samples" / "lesson"


def test_fixed_length_parts_the_rule_and_structure_does_not(services: Services) -> None:
    figures, told = cut_sentence.run(services.offline, services.online, SAMPLES)
    assert [(e.what, e.seen) for e in told if not e.holds] == []
    assert len({e.what for e in told}) == len(told) == 28
    for seen in figures.values():
        assert seen["fixed"]["status"] == "answered"
        assert seen["fixed"]["recallOfKeyChunks"] == {"1": 0.5, "3": 1.0}
        assert seen["structure"]["ruleAndConsequenceInOneCitation"]


def test_the_border_falls_inside_the_rule_by_itself() -> None:
    assert GUIDELINE[: cut_sentence.USUAL].endswith("同一标本最多重新封装两次。第二次仍")
