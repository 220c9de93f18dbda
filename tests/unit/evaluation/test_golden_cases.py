"""The golden cases over the sample corpora: gold stands in the documents as they are, a change is a new version."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import service
from service.domain.sources import SourceItem
from service.evaluation.cases import CaseSet, load_case_set
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources
from service.text.folding import fold

SAMPLES = Path(service.__file__).parent / "samples"
FILES = sorted((SAMPLES / "cases").glob("*.jsonl"))
# Other cases → raise `version` in the file's first line, and write its hash here: kept runs are told apart by both.
PINNED = {
    "golden-arthas": (1, "8dd1d9438db5b6a4b4a131fa196229776285bded4dca2313880302a058b4e3a3"),
    "golden-enterprise": (1, "b77320f493e043c89a64fe1c928abdaa43d91634ffd2124916f61541372a2df6"),
    "golden-lesson": (1, "89fdd94add15d47ff22816d6a2907bc0d613196fbeb507b98d803f206f128f13"),
    "golden-tidb": (1, "dfcf89041d3ec9bd68e216ce0ed11698b123b281169bd830e253e66ea499059d"),
}
BUCKETS = {
    "short-identifiers", "error-codes", "colloquial", "table-parameters", "negation", "old-versions", "links",
    "mixed-identifiers", "same-unit", "table-heads", "conflicts", "rights", "no-answer",
}  # fmt: skip


def texts(corpus: str) -> dict[str, str]:
    items = [item for item in read_sources([SAMPLES / corpus]) if isinstance(item, SourceItem)]
    return {p.document_id: p.canonical_text for p in map(parse, items)}


def case_sets() -> list[CaseSet]:
    return [load_case_set(path) for path in FILES]


def test_there_are_enough_in_both_languages_and_every_bucket() -> None:
    cases = [case for case_set in case_sets() for case in case_set.cases]
    assert len(cases) >= 150
    assert {case.bucket for case in cases} == BUCKETS
    chinese = [case for case in cases if re.search("[\u4e00-\u9fff]", case.query)]
    assert len(chinese) >= 50 and len(cases) - len(chinese) >= 50
    assert len({case.case_id for case in cases}) == len(cases)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_must_be_said_stands_in_the_gold_span(path: Path) -> None:
    known = texts(path.stem)
    for case in load_case_set(path).cases:
        assert (case.answerability == "answerable") == bool(case.required_claims), case.case_id
        for claim in case.required_claims:
            assert claim.accepted_spans and claim.required_terms, case.case_id
            for span in claim.accepted_spans:
                gold = known[span.document_id][span.start : span.end]
                assert len(gold) == span.end - span.start, case.case_id
                missing = [term for term in claim.required_terms if fold(term) not in fold(gold)]
                assert missing == [], f"{case.case_id}: {gold!r}"


def test_what_is_forbidden_stands_somewhere_in_the_corpus() -> None:
    """A forbidden text that no document holds could never be said, and would watch over nothing."""
    for path in FILES:
        whole = fold("\n".join(texts(path.stem).values()))
        for case in load_case_set(path).cases:
            assert [text for text in case.forbidden_claims if fold(text) not in whole] == [], case.case_id


def test_the_versions_are_those_that_were_kept() -> None:
    assert {s.name: (s.version, s.sha256) for s in case_sets()} == PINNED


def test_the_texts_of_the_documents_are_not_in_the_cases() -> None:
    """Gold is a place: the files hold questions and the few words that must be said."""
    for path in FILES:
        for line in path.read_text("utf-8").splitlines()[1:]:
            claims = json.loads(line).get("requiredClaims", [])
            assert all(len(term) < 80 for claim in claims for term in claim["requiredTerms"])
