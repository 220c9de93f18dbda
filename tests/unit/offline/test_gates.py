"""Gates that need no question: bands, what may be forced, what the record and the refusal say; and their settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.generations import Generation, Manifest
from service.errors import InvalidInput
from service.offline.generations.checks import CheckResult
from service.offline.generations.gates import FIRST, Force, GateResult, judged, standing_gates
from service.profiles.corpus import kept_with_generation, read_corpus_profile
from service.profiles.gates import MOST_CASES, GateSettings, gates_of
from tests.contract.material import manifest as made

WHOLE = [CheckResult("vector", True, "0"), CheckResult("rights as registered", True, "0 of 9 at fault")]


def holding(documents: int, each: int = 2) -> Manifest:

    counts = {f"d{n:03}": each for n in range(documents)}
    return replace(
        made(Generation("p", "c", "cv0123456789ab", 1)),
        documents=dict.fromkeys(counts, "v"),
        chunks_per_document=counts,
        chunks=documents * each,
    )


def gates(
    candidate: Manifest, live: Manifest | None, settings: GateSettings | None = None
) -> dict[str, GateResult]:
    found = standing_gates(candidate, live, WHOLE, settings or GateSettings(), candidate.processors)
    return {result.name: result for result in found}


def test_without_a_live_generation_there_is_nothing_to_compare_with() -> None:
    found = gates(holding(3), None)
    assert list(found) == ["integrity", "rights", "processors", "documents", "chunks"]
    assert all(result.passed for result in found.values())
    assert (found["documents"].found, found["documents"].limit) == ("3", FIRST)


def test_half_the_documents_missing_names_them() -> None:
    found = gates(holding(5), holding(10))["documents"]
    assert (found.passed, found.found, found.limit) == (False, "5, live has 10", "9 to 60")
    assert found.evidence[0] == "no longer in it: d005"


def test_a_young_corpus_may_grow_by_more_than_its_share() -> None:
    assert gates(holding(54), holding(4))["documents"].passed
    assert not gates(holding(55), holding(4))["documents"].passed


def test_doubled_chunks_are_told_document_by_document() -> None:
    found = gates(holding(100, 40), holding(100, 10))["chunks"]
    assert (found.passed, found.limit) == (False, "700 to 3000")
    assert found.evidence[0] == "d000: 10 → 40 chunks"


@given(st.integers(1, 200), st.integers(0, 700), st.floats(0, 1), st.floats(1, 5))
def test_a_count_passes_exactly_within_its_band(live: int, count: int, least: float, most: float) -> None:
    settings = GateSettings(documents=(least, most))
    passed = gates(holding(count), holding(live), settings)["documents"].passed
    assert passed == (least * live <= count <= max(most * live, live + 50))


def test_force_passes_over_what_may_be_forced_and_is_kept() -> None:
    small = GateResult("documents", False, "5, live has 10", "9 to 60")
    kept = judged([small], Force("half was moved to another corpus"), "user:ann")
    assert kept.refusal == ""
    assert kept.remark == "forced past documents: half was moved to another corpus"
    assert {k: kept.record[0][k] for k in ("forced", "who", "reason", "passed")} == {
        "forced": True,
        "who": "user:ann",
        "reason": "half was moved to another corpus",
        "passed": False,
    }
    assert kept.record[0]["at"]


@pytest.mark.parametrize("name", ["integrity", "rights"])
def test_what_cannot_be_forced_is_refused_with_force_too(name: str) -> None:
    broken = GateResult(name, False, "1 of 9", "0", may_be_forced=False)
    small = GateResult("documents", False, "5, live has 10", "9 to 60")
    kept = judged([broken, small], Force("please"), "user:ann")
    assert f"{name}: 1 of 9, allowed is 0" in kept.refusal
    assert f"{name.capitalize()} cannot be forced" in kept.refusal
    assert kept.remark == ""
    assert "forced" not in kept.record[0]


def test_without_force_the_refusal_says_what_can_be_done() -> None:
    kept = judged([GateResult("documents", False, "5", "9 to 60", ("no longer in it: d1",))], None, "ann")
    assert "no longer in it: d1" in kept.refusal
    assert "[gates]" in kept.refusal and "--force REASON" in kept.refusal


@pytest.mark.parametrize("reason", ["", "  \n", "…", "x" * 501])
def test_force_needs_a_reason(reason: str) -> None:
    with pytest.raises(InvalidInput, match="say why"):
        Force(reason)


# ── the section [gates] ─────────────────────────────────────────────────────────────────────────────────

PROFILE = 'name = "c"\n[gates]\n'


def settings(folder: Path, text: str) -> GateSettings:
    (folder / "corpus.toml").write_text(PROFILE + text, encoding="utf-8")
    profile = read_corpus_profile(folder)
    assert profile is not None
    return profile.gates


def test_the_cases_are_read_beside_the_profile_and_kept(tmp_path: Path) -> None:
    (tmp_path / "cases.jsonl").write_text('{"a": 1}\n\n{"b": 2}\n', encoding="utf-8")
    found = settings(tmp_path, 'golden_cases = "cases.jsonl"\ndocuments = [0.5, 2]\n')
    assert found.cases == ('{"a": 1}', '{"b": 2}')
    assert found.documents == (0.5, 2)
    profile = read_corpus_profile(tmp_path)
    assert profile is not None
    stored = profile.model_dump(mode="json")
    assert gates_of(stored) == found
    assert "gates" not in kept_with_generation(stored)
    assert gates_of(None) == gates_of({}) == GateSettings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('golden_cases = "../cases.jsonl"\n', "leads out"),
        ('golden_cases = "none.jsonl"\n', "no file"),
        ('golden_cases = "many.jsonl"\n', f"{MOST_CASES} cases"),
        ('cases = ["{}"]\n', "read from the file"),
        ("documents = [1.1, 2]\n", "least"),
        ("documents = [0.9]\n", "gates.documents"),
        ("latency = 0.5\n", "gates.latency"),
        ('sample_queries = [""]\n', "gates.sample_queries"),
        ("sampel_queries = []\n", "sampel_queries"),
    ],
)
def test_what_does_not_hold_is_said(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "many.jsonl").write_text("{}\n" * (MOST_CASES + 1), encoding="utf-8")
    with pytest.raises(InvalidInput, match=said):
        settings(tmp_path, text)
