"""Claims that people have judged: counted by what passes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from service.errors import InvalidInput
from service.evaluation.experiments.attribution import Judged, read, run

SOURCE = "The reading room holds 20 people. It closes at nine."


def test_counts_tell_what_passes_from_what_people_say() -> None:
    claims = [
        Judged(claim="The reading room holds 20 people.", source=SOURCE, borne=True),
        Judged(claim="A score of readers find a seat.", source=SOURCE, borne=True),
        Judged(claim="The reading room holds 30 people.", source=SOURCE, borne=False),
        Judged(claim="It closes at nine.", source=SOURCE, borne=False),
    ]
    [counted], wrongly = run(claims)
    assert (counted.borne_proven, counted.borne_refused) == (1, 1)
    assert (counted.other_proven, counted.other_refused) == (1, 1)
    assert counted.precision == counted.recall == 0.5
    assert [one.claim for one in wrongly] == ["It closes at nine."]


def test_what_nothing_passes_has_no_precision() -> None:
    [counted], _ = run([Judged(claim="It rains.", source=SOURCE, borne=False)])
    assert counted.precision is None and counted.recall is None


@pytest.mark.parametrize("line", ["{", "[]", '{"claim": "x"}', '{"claim": "x", "source": "y", "borne": 1}'])
def test_a_wrong_line_is_named(tmp_path: Path, line: str) -> None:
    path = tmp_path / "judged.jsonl"
    right = json.dumps({"claim": "x", "source": "y", "borne": True})
    path.write_text(f"{right}\n\n{line}\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"judged\.jsonl, line 3"):
        list(read(path))
