"""Gates on both engines with the real model: what is asked, by whom, and what a forced publish leaves behind."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from service.domain.answers import Question
from service.errors import BuildRefused
from service.evaluation.gates import latency_gate
from service.offline.generations.gates import Force, GateResult
from service.profiles.corpus import CorpusProfile
from service.profiles.gates import GateSettings
from tests.integration.world import ALICE, CORPUS, PAY, WARRANTY, World, quiet


def gated(world: World, **settings: Any) -> None:
    """Reads the sources again under these gates."""
    profile = CorpusProfile(name=CORPUS, default_access={"allow": ["*"]}, gates=GateSettings(**settings))
    world.offline.ingest(CORPUS, [world.folder], profile, None, quiet)


def looked_at(world: World) -> dict[str, GateResult]:
    return {result.name: result for result in world.offline.gate(CORPUS, None)[1]}


def case(name: str, query: str, document: str, term: str, **more: Any) -> str:
    claim = {"claimId": "c", "acceptedDocumentIds": [document], "requiredTerms": [term]}
    line = {"caseId": name, "query": query, "answerability": "answerable", "requiredClaims": [claim]}
    return json.dumps(line | more)


def test_a_sample_query_is_asked_with_the_rights_of_everybody_unless_groups_are_given(world: World) -> None:
    gated(world, sample_queries=(WARRANTY, PAY))
    found = looked_at(world)["sample queries"]
    assert (found.passed, found.found) == (False, "1 of 2 answered")
    assert found.evidence[0].startswith("query 2: ")
    assert "25" not in str(found) and "Salaries" not in str(found)
    gated(world, sample_queries=(WARRANTY, PAY), groups=("hr",))
    assert looked_at(world)["sample queries"].passed


def test_golden_cases_are_compared_bucket_by_bucket(world: World) -> None:
    cases = (
        case("warranty", WARRANTY, "warranty.md", "12 months", bucket="a"),
        case("kitchen", "When does the kitchen open?", "kitchen.md", "eight", bucket="b"),
    )
    gated(world, cases=cases)
    world.publish()
    world.write({"kitchen.md": "# Kitchen\n\nThe kitchen has new chairs.\n"})
    gated(world, cases=cases)
    manifest = world.offline.build(CORPUS, quiet)
    found = looked_at(world)["golden cases"]
    assert not found.passed
    assert found.evidence == ("b: 1.000 → 0.000, no longer right: kitchen",)
    gated(world, cases=cases, tolerance=1.0)
    assert looked_at(world)["golden cases"].passed, "limits are those of now, without another build"
    assert world.offline.is_current(manifest.generation)


def test_a_case_that_is_none_is_told_and_not_passed_over(world: World) -> None:
    gated(world, cases=('{"caseId": "x"}',))
    found = looked_at(world)["golden cases"]
    assert (found.passed, found.found) == (False, "gates.golden_cases:1: query: Field required")


def test_gating_leaves_no_trace(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    gated(world, sample_queries=(WARRANTY,), cases=(case("w", WARRANTY, "warranty.md", "12 months"),))
    saved: list[str] = []
    traces = type(world.services.engine.traces)
    monkeypatch.setattr(traces, "save", lambda self, trace_id, record: saved.append(trace_id))
    assert all(result.passed for result in looked_at(world).values())
    assert saved == []
    world.online.answer(Question("q", WARRANTY, CORPUS), ALICE)
    assert len(saved) == 1


def test_a_forced_publish_says_by_whom_and_why(world: World) -> None:
    gated(world, sample_queries=("Who wrote the opera?",))
    with pytest.raises(BuildRefused, match=r"sample queries: 0 of 1 answered.*--force REASON"):
        world.publish()
    manifest, _ = world.offline.publish(CORPUS, None, force=Force("the opera comes next week"))
    [gate] = [g for g in manifest.gates if g.get("forced")]
    assert (gate["name"], gate["who"], gate["reason"]) == (
        "sample queries",
        world.offline.who,
        "the opera comes next week",
    )
    assert [step["reason"] for step in manifest.history if "forced" in step.get("reason", "")] == [
        "forced past sample queries: the opera comes next week"
    ]


def test_rights_cannot_be_forced(world: World) -> None:
    manifest = world.offline.build(CORPUS, quiet)
    engine = world.services.engine
    entry = engine.registry.get_many(CORPUS, ["pay.md"])["pay.md"]
    # The registry says otherwise than the chunks, and nothing tells that a spread is still to be done.
    engine.registry.write(replace(entry, access=replace(entry.access, allow=frozenset({"group:audit"}))))
    with pytest.raises(BuildRefused, match=r"rights: 1 of 3 at fault.*Rights cannot be forced"):
        world.offline.publish(CORPUS, manifest.generation, force=Force("please"))


def test_earlier_citations_are_those_of_answers_given(world: World) -> None:
    world.publish()
    world.ask(ALICE)
    found = looked_at(world)["earlier citations"]
    assert (found.passed, found.found) == (True, "1 of 1 verify")


def test_latency_is_compared_with_live_beyond_what_is_quick_anyway() -> None:
    assert latency_gate([40, 45, 49], [1, 1, 1], 3).passed
    assert latency_gate([250, 250, 1000], [100, 90, 80], 3).passed
    slow = latency_gate([280, 290, 20], [100, 90, 80], 3)
    assert (slow.passed, slow.found, slow.limit) == (False, "median 280.0 ms, live 90.0 ms", "270.0 ms")
    assert latency_gate([], [], 3).passed
