"""The cases by type of question: enough of each, in both languages, and their gold stands in the documents as they are."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

import service
from service.domain.sources import SourceItem
from service.evaluation.cases import load_case_set
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources
from service.text.language import language

SAMPLES = Path(service.__file__).parent / "samples"
FILES = sorted((SAMPLES / "types").glob("*.jsonl"))
SETS = [load_case_set(path) for path in FILES]
# Other cases → raise `version` in the file's first line, and write its hash here: kept runs are told apart by both.
PINNED = {
    "types-arthas": (1, "ac2a7da07f6c604711b940d75994e91bcf6465502ade0d604cf152baae59fddc"),
    "types-enterprise": (1, "a9f0275e548bbb360f2e8adf00ebc53d39eeb7ea74c84cac00c3713d049cffc5"),
    "types-lesson": (1, "9324cdc3c3048f0e5bc980363d42797de8879a2f9b4c1e98e221560212a83c2d"),
    "types-tidb": (1, "1b82eca1720140ff65b55e14caca9ad3f168d4937367a318ac08ae963fee58a3"),
}
BUCKETS = {"comparison", "unless", "versions", "tables", "steps", "conflict", "derived", "multi-turn"}


def test_there_are_enough_of_every_type_in_both_languages() -> None:
    cases = [case for case_set in SETS for case in case_set.cases]
    assert len(cases) >= 60
    counted = Counter(case.bucket for case in cases)
    assert set(counted) == BUCKETS and min(counted.values()) >= 7
    assert min(Counter(language(case.query) for case in cases).values()) >= 25
    assert len({case.case_id for case in cases}) == len(cases)


def test_a_set_that_changed_has_a_new_version() -> None:
    assert {one.name: (one.version, one.sha256) for one in SETS} == PINNED


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_gold_stands_in_the_documents(path: Path) -> None:
    items = [item for item in read_sources([SAMPLES / path.stem]) if isinstance(item, SourceItem)]
    known = {p.document_id: p.canonical_text for p in map(parse, items)}
    for case in load_case_set(path).cases:
        assert (case.answerability == "answerable") == bool(case.required_claims), case.case_id
        for claim in case.required_claims:
            assert claim.accepted_spans and claim.required_terms, case.case_id
            for span in claim.accepted_spans:
                gold = known[span.document_id][span.start : span.end]
                assert gold.strip() and len(gold) == span.end - span.start, case.case_id
