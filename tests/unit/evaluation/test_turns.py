"""The cases of conversations and calculations over the samples: enough, in both languages, of real documents."""

from __future__ import annotations

from pathlib import Path

import pytest

import service
from service.evaluation.cases import load_case_set
from service.text.followup import Open, Resolved, resolve
from service.text.language import language

SAMPLES = Path(service.__file__).parent / "samples"
FILES = sorted((SAMPLES / "turns").glob("*.jsonl"))
CASES = [case for path in FILES for case in load_case_set(path).cases]


def test_there_are_enough_in_both_languages() -> None:
    assert len(CASES) >= 20
    assert {language(case.query) for case in CASES} == {"zh", "en"}
    assert sum(bool(case.earlier) for case in CASES) >= 10
    assert sum(case.bucket.startswith("derived") for case in CASES) >= 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_gold_documents_are_there(path: Path) -> None:
    for document in (name for case in load_case_set(path).cases for name in case.gold_documents()):
        folder = SAMPLES / path.stem
        assert (folder / document).is_file() or list(folder.glob(f"{document}.*")), document


@pytest.mark.parametrize("case", [case for case in CASES if case.earlier], ids=lambda case: case.case_id)
def test_a_turn_that_can_be_answered_is_settled(case: object) -> None:
    standing: str | None = None
    for text in (*case.earlier, case.query):  # type: ignore[attr-defined]
        found = resolve(text, standing)
        standing = found.question if isinstance(found, Resolved) else standing
    assert isinstance(found, Open) == (case.answerability == "unanswerable")  # type: ignore[attr-defined]
