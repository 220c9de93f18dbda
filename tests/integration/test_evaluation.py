"""A run of cases over a real engine: each stage's order is what the engine and the stages really gave."""

from __future__ import annotations

import dataclasses

import pytest

from service.domain.generations import Generation
from service.errors import InvalidInput
from service.evaluation import stored
from service.evaluation.cases import AcceptedSpan, Case, CasePrincipal, CaseSet, RequiredClaim
from service.evaluation.perturbing import perturb
from service.evaluation.runs import figures, misses, run
from service.evaluation.sides import Side, ask_both, cost, regressed, rows
from service.evaluation.watching import STAGES
from service.profiles.ranking import load_profile
from tests.integration.world import ALICE, CORPUS, FILES, PAY, WARRANTY, World, quiet

pytestmark = pytest.mark.slow

START = FILES["warranty.md"].index("The warranty")
GOLD = RequiredClaim(
    claim_id="period",
    accepted_spans=(AcceptedSpan(document_id="warranty.md", start=START, end=len(FILES["warranty.md"])),),
    required_terms=("12 months",),
)
CASES = (
    Case(
        case_id="period",
        query=WARRANTY,
        answerability="answerable",
        required_claims=(GOLD,),
        bucket="numbers",
    ),
    Case(case_id="hidden", query=PAY, answerability="unanswerable", bucket="rights"),
    Case(
        case_id="seen",
        query=PAY,
        principal=CasePrincipal(subject="bob", groups=("hr",)),
        answerability="answerable",
        required_claims=(
            RequiredClaim(claim_id="day", accepted_document_ids=("pay.md",), required_terms=("25",)),
        ),
        bucket="rights",
    ),
)
SET = CaseSet("handbook", 1, None, "0" * 64, CASES)


def test_every_stage_is_measured_and_rights_are_part_of_it(world: World) -> None:
    period, hidden, seen = run(world.online, CORPUS, CASES, None, quiet)
    assert set(period.ranked) == set(STAGES)
    assert period.ranked["anchors"] == (), "no name stands in the question or is spelled by its words"
    for stage in ("bm25", "knn", "fused", "reranked", "packed", "answered"):
        assert period.ranked[stage][0] == "warranty.md", stage
        assert period.passages[stage] == (1,), stage
    assert (period.says_it, period.cites_it, period.claims_met, period.cited_rightly) == (
        True,
        True,
        1.0,
        1.0,
    )
    assert hidden.answer.status == "no_answer"
    assert "pay.md" not in {name for order in hidden.ranked.values() for name in order}
    assert hidden.ranked["packed"] == hidden.ranked["answered"] == ()
    assert seen.ranked["answered"] == ("pay.md",)


def test_orders_are_those_that_a_caller_gets(world: World) -> None:
    """The reranked order is that of a search; the fused one is not put in order by name in the trace."""
    [result] = run(world.online, CORPUS, CASES[:1], None, quiet)
    hits = world.search(ALICE, WARRANTY).hits
    assert result.ranked["reranked"] == tuple(dict.fromkeys(hit.document_id for hit in hits))


def test_answers_that_must_not_be_given_are_told_before_all_other_misses(world: World) -> None:
    """Among the cases: one that is answered and must be refused, one answered otherwise, one refused."""
    period, hidden, seen = CASES
    otherwise = RequiredClaim(claim_id="period", required_terms=("13 months",))
    cases = (
        period,
        seen.model_copy(update={"case_id": "not-for-alice", "principal": hidden.principal}),
        period.model_copy(update={"case_id": "other-gold", "required_claims": (otherwise,)}),
        hidden,
        hidden.model_copy(update={"case_id": "no-answer-wanted", "query": WARRANTY}),
    )
    found = misses(run(world.online, CORPUS, cases, None, quiet))
    assert [(kind, result.case.case_id) for kind, result in found] == [
        ("should be refused", "no-answer-wanted"),
        ("answered wrongly", "other-gold"),
        ("refused", "not-for-alice"),
    ]


def test_cases_that_fall_short_for_a_small_change_are_told(world: World) -> None:
    """The same question with another gold comes out wrong either way, so that it is never told."""
    wrong = RequiredClaim(claim_id="period", required_terms=("13 months",))
    cases = (*CASES, CASES[0].model_copy(update={"case_id": "wrong", "required_claims": (wrong,)}))
    found = {one.kind: one for one in perturb(world.online, CORPUS, cases, load_profile("default"), quiet)}
    assert set(found) == {"rrf k 30", "rrf k 90", "weights ± 10 %", "rewording", "typo", "word order"}
    assert found["weights ± 10 %"].cases == 4 * len(cases)
    for one in found.values():
        assert {flip.case_id for flip in one.spoilt} <= {"period", "hidden", "seen"}
        assert one.lost <= len(one.spoilt) + 1, "only one answered case was wrong before"
    for kind in ("rrf k 30", "rrf k 90"):
        assert (found[kind].overlap, found[kind].jumped, found[kind].spoilt) == (1.0, 0, ())


def test_nothing_is_read_from_the_cache(world: World) -> None:
    for _ in range(2):
        [result] = run(world.online, CORPUS, CASES[:1], None, quiet)
        assert result.ranked["bm25"]


def test_a_stored_run_names_what_made_it_and_holds_no_text(world: World) -> None:
    results = run(world.online, CORPUS, CASES, None, quiet)
    kept = stored.to_json(results, SET, CORPUS, world.services.embedder.identity, 1.0)
    made = kept["made"]
    assert made["engine"] == world.services.engine.name
    assert (made["caseSet"], made["caseSetVersion"], made["asked"]) == ("handbook", 1, 3)
    assert made["generation"] == results[0].answer.retrieval.generation
    assert made["profile"] == results[0].answer.profile
    assert "12 months" not in str(kept) and WARRANTY not in str(kept)
    assert stored.compare(kept, kept)["all"]["saysIt"].mean == 0
    assert set(figures(results)) == {"all", "numbers", "rights"}


def test_a_run_over_two_generations_is_not_kept(world: World) -> None:
    first = run(world.online, CORPUS, CASES[:1], None, quiet)
    answer = first[0].answer
    moved = dataclasses.replace(
        first[0],
        answer=dataclasses.replace(
            answer, retrieval=dataclasses.replace(answer.retrieval, generation="another")
        ),
    )
    with pytest.raises(InvalidInput, match="2 generations"):
        stored.to_json([*first, moved], SET, CORPUS, "e", 1.0)


def test_two_generations_are_put_side_by_side_and_what_came_out_worse_is_named(world: World) -> None:
    [live] = world.services.engine.builds.scan(CORPUS)
    world.write({"warranty.md": "# Warranty\n\nThe guarantee has lapsed.\n"})
    world.ingest()
    candidate = world.offline.build(CORPUS, quiet)
    pinned = dataclasses.replace(world.online, pinned=Generation.parse(candidate.generation))
    sides = Side(world.online, CORPUS, None), Side(pinned, CORPUS, None)
    first, second = ask_both(*sides, SET, None, quiet)
    assert first["made"]["generation"] == live.generation
    assert second["made"]["generation"] == candidate.generation
    engine = world.services.engine
    costs = [cost(engine, run["made"]["generation"]) for run in (first, second)]
    told = {row.name: (row.first, row.second) for row in rows(first, second, costs)}
    assert told["saysAndCitesIt"] == (1.0, 0.5)
    assert told["refusedRightly"] == (1.0, 1.0)
    assert told["vectorsReused"] == (0.0, 2.0)
    for name in ("reranked.mrr@10", "p50Ms", "sizeMB", "buildSeconds"):
        assert None not in told[name]
    worse = regressed(first, second)
    assert [(one.case_id, one.measure) for one in worse if one.measure == "saysAndCitesIt"] == [
        ("period", "saysAndCitesIt")
    ]
    assert worse[0].ended_before == "answered"
    assert regressed(first, first) == []
    assert "12 months" not in str(second)
