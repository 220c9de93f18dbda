"""Measures against trec_eval's own numbers, intervals, case sets, and which stored runs may be compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidInput
from service.evaluation import stored
from service.evaluation.cases import load_case_set
from service.evaluation.gates import golden_cases
from service.evaluation.measures import mean, ndcg_at_k, recall_at_k, reciprocal_rank
from service.evaluation.statistics import interval, paired

names = st.sampled_from([f"d{n}" for n in range(30)])
judged = st.sets(names, min_size=1, max_size=12)
lists = st.lists(names, unique=True, max_size=30)


def reference(measure: Any, relevant: set[str], ranked: list[str]) -> float:
    qrels = [ir_measures.Qrel("q", name, 1) for name in relevant]
    # By falling scores: equal ones would be put in order by name.
    run = [ir_measures.ScoredDoc("q", name, -float(rank)) for rank, name in enumerate(ranked)]
    return float(ir_measures.calc_aggregate([measure], qrels, run)[measure])


@given(judged, lists, st.sampled_from([1, 5, 10, 50]))
def test_measures_are_those_of_trec_eval(relevant: set[str], ranked: list[str], k: int) -> None:
    assert recall_at_k(relevant, ranked, k) == pytest.approx(reference(ir_measures.R @ k, relevant, ranked))
    assert reciprocal_rank(relevant, ranked, k) == pytest.approx(
        reference(ir_measures.RR @ k, relevant, ranked)
    )
    assert ndcg_at_k(relevant, ranked, k) == pytest.approx(
        reference(ir_measures.nDCG @ k, relevant, ranked), abs=1e-6
    )


def test_ideal_gain_is_of_the_judged_and_a_question_without_hits_counts() -> None:
    """spiceai#12277."""
    first, second = ndcg_at_k({"a", "b"}, ["a"], 10), ndcg_at_k({"a"}, [], 10)
    assert round(first, 3) == 0.613
    assert second == 0
    assert mean([first, second]) == first / 2


values = st.lists(st.floats(0, 1), min_size=1, max_size=40)


@given(values)
def test_an_interval_lies_within_the_values_and_is_the_same_again(of: list[float]) -> None:
    low, high = interval(of)
    assert min(of) - 1e-9 <= low <= high <= max(of) + 1e-9
    assert interval(of) == (low, high)


@given(values)
def test_a_difference_turned_round_is_its_negative(of: list[float]) -> None:
    other = [1 - value for value in of]
    there, back = paired(of, other), paired(other, of)
    assert there.mean == pytest.approx(-back.mean)
    assert (there.better, there.worse) == (back.worse, back.better)
    assert paired(of, of).clear is False


def test_pairs_tell_what_means_alone_do_not() -> None:
    """A little better everywhere is clear, however far the cases lie apart."""
    before = [n / 20 for n in range(20)]
    assert paired(before, [value + 0.01 for value in before]).clear
    low, high = interval(before)
    assert low < mean(before) + 0.01 < high


HEAD = {"caseSet": "handbook", "version": 2, "split": "tune"}
CASE = {"caseId": "a", "query": "?", "answerability": "unanswerable"}


def case_file(tmp_path: Path, *lines: dict[str, Any]) -> Path:
    path = tmp_path / "cases.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_case_file_may_say_what_it_is(tmp_path: Path) -> None:
    named = load_case_set(case_file(tmp_path, HEAD, CASE))
    assert (named.name, named.version, named.split, len(named.cases)) == ("handbook", 2, "tune", 1)
    unnamed = load_case_set(case_file(tmp_path, CASE))
    assert (unnamed.name, unnamed.version, unnamed.split) == ("cases", None, None)
    assert unnamed.sha256 == named.sha256


def test_other_cases_are_another_set_whatever_version_they_claim(tmp_path: Path) -> None:
    one = load_case_set(case_file(tmp_path, HEAD, CASE))
    other = load_case_set(case_file(tmp_path, HEAD, {**CASE, "query": "What?"}))
    assert one.sha256 != other.sha256


@pytest.mark.parametrize(
    ("lines", "where"),
    [
        ((HEAD | {"version": 0}, CASE), ":1: version"),
        ((HEAD | {"vresion": 1}, CASE), ":1: vresion"),
        ((HEAD, CASE, CASE), ":3: caseId"),
        ((HEAD, HEAD, CASE), ":2: "),
        ((HEAD,), "no cases"),
    ],
)
def test_a_case_file_that_does_not_hold_is_refused(
    tmp_path: Path, lines: tuple[dict[str, Any], ...], where: str
) -> None:
    with pytest.raises(InvalidInput, match=where):
        load_case_set(case_file(tmp_path, *lines))


def test_the_cases_of_a_gate_are_read_as_a_case_file_is() -> None:
    [found] = golden_cases((json.dumps(HEAD), json.dumps(CASE)))
    assert found.case_id == "a"
    assert golden_cases(()) == ()
    with pytest.raises(InvalidInput, match=r"gates\.golden_cases:3: caseId: 'a' is that of line 2"):
        golden_cases((json.dumps(HEAD), json.dumps(CASE), json.dumps(CASE)))


def stored_run(values: dict[str, float], **made: Any) -> dict[str, Any]:
    of = {"caseSet": "s", "caseSetVersion": 1, "caseSetSha256": "x", "split": None} | made
    cases = {name: {"bucket": "all", "values": {"saysIt": value}} for name, value in values.items()}
    return {"format": stored.FORMAT, "made": of, "cases": cases}


def test_stored_runs_are_compared_case_by_case(tmp_path: Path) -> None:
    paths = tmp_path / "a.json", tmp_path / "b.json"
    for path, values in zip(paths, ({"a": 0.0, "b": 1.0}, {"b": 1.0, "a": 1.0}), strict=True):
        stored.write(stored_run(values), path)
    found = stored.compare(*map(stored.read, paths))
    assert found["all"]["saysIt"].mean == 0.5
    assert (found["all"]["saysIt"].better, found["all"]["saysIt"].worse) == (1, 0)
    assert found["all"]["saysIt"].cases == 2


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({"caseSetVersion": 2}, "caseSetVersion is 1 here and 2 there"),
        ({"caseSetSha256": "y"}, "caseSetSha256"),
        ({"caseSet": "t"}, "caseSet"),
        ({"split": "tune"}, "split"),
    ],
)
def test_runs_of_other_cases_are_never_compared(made: dict[str, Any], told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        stored.compare(stored_run({"a": 1.0}), stored_run({"a": 1.0}, **made))


def test_runs_that_asked_more_or_fewer_cases_are_never_compared() -> None:
    with pytest.raises(InvalidInput, match="asked different cases"):
        stored.compare(stored_run({"a": 1.0}), stored_run({"a": 1.0, "b": 1.0}))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 99}', "not json"])
def test_what_is_no_stored_run_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="no stored run"):
        stored.read(path)
