"""Both stories end to end with the real model, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import service
from service.bootstrap import Services, build
from service.cli.shared import principal
from service.domain.answers import Question, Reason
from service.errors import NotFound
from service.evaluation.experiments import lesson
from service.profiles.corpus import CorpusProfile, read_corpus_profile
from service.settings import Settings

SAMPLES = Path(service.__file__).parent / "samples"


def quiet(step: str, done: int, total: int) -> None:
    """No progress bars in tests."""


@pytest.fixture(params=["embedded", pytest.param("elasticsearch", marks=pytest.mark.elasticsearch)])
def services(request: pytest.FixtureRequest, prefix: str, tmp_path: Path) -> Iterator[Services]:
    values: dict[str, Any] = {"engine": request.param, "prefix": prefix, "data_dir": tmp_path / "data"}
    if request.param == "elasticsearch":
        values["es_url"] = request.getfixturevalue("es_url")
    opened = build(Settings.model_validate(values))
    yield opened
    opened.engine.erase()


def published(services: Services, corpus: str, folder: Path, profile: CorpusProfile | None = None) -> Any:
    profile = profile or read_corpus_profile(folder) or CorpusProfile(name=corpus)
    report = services.offline.ingest(corpus, [folder], profile, None, quiet)
    manifest = services.offline.build(corpus, quiet)
    services.offline.publish(corpus, manifest.generation)
    return report, manifest


def test_the_lesson_holds(services: Services) -> None:
    results = lesson.run(services.offline, services.online, SAMPLES / "lesson")
    assert [result.what for result in results if not result.holds] == []
    assert len(results) == 16


def test_one_question_two_principals_and_a_contradiction(services: Services) -> None:
    published(services, "enterprise", SAMPLES / "enterprise")
    alice, bob = principal("demo", "alice", ("eng",), ()), principal("demo", "bob", ("it",), ())

    def ask(text: str, who: Any) -> Any:
        return services.online.answer(Question("q", text, "enterprise"), who)

    vpn = "What happens if the VPN connectivity problem persists?"
    # Twice each, and in turns: what is cached for one is never shown to the other.
    for _ in range(2):
        assert "remote troubleshooting session" in ask(vpn, alice).answer
        assert "network team" in ask(vpn, bob).answer
    ticket = "What did Matthew Brooks do in ticket INC-900?"
    hidden, absent = ask(ticket, alice), ask(ticket.replace("INC-900", "INC-901"), alice)
    assert hidden.reason is absent.reason is Reason.EVIDENCE_BELOW_THRESHOLD
    assert hidden.retrieval.candidate_chunk_ids == ()
    assert "reset the email account credentials" in ask(ticket, bob).answer
    lost = ask("Within how many hours must a lost corporate credit card be reported?", alice)
    assert lost.reason is Reason.CONFLICTING_EVIDENCE


def test_another_name_in_another_document_is_told_to_whom_may_see_both(
    services: Services, tmp_path: Path
) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "new.md").write_text("# Contacts\n\nLi Na heads the support team.\n", encoding="utf-8")
    (folder / "old.md").write_text(
        '---\naccess:\n  allow: ["group:hr"]\n---\n# Contacts\n\nAnna Ward heads the support team.\n',
        encoding="utf-8",
    )
    published(services, "handbook", folder, CorpusProfile(name="handbook", default_access={"allow": ["*"]}))
    question = Question("q", "Who heads the support team?", "handbook")
    both = services.online.answer(question, principal("demo", "ann", ("hr",), ()))
    assert {c.text for c in both.claims} == {
        "Li Na heads the support team.",
        "Anna Ward heads the support team.",
    }
    assert both.reason is None and both.gap is not None and both.gap.part == "conflict"
    assert "new.md (version" in both.gap.missing and "old.md (version" in both.gap.missing
    one = services.online.answer(question, principal("demo", "bob", (), ()))
    assert [c.text for c in one.claims] == ["Li Na heads the support team."]
    assert one.gap is None


def test_build_beside_switch_and_switch_back(services: Services, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    profile = CorpusProfile(name="handbook", default_access={"allow": ["*"]})
    (folder / "warranty.md").write_text("# Warranty\n\nThe warranty period is 12 months.\n", encoding="utf-8")
    (folder / "returns.txt").write_text("Returns are accepted within 30 days.\n", encoding="utf-8")
    (folder / "pay.md").write_text(
        '---\naccess:\n  allow: ["group:hr"]\n---\n# Pay\n\nSalaries are paid on day 25.\n', encoding="utf-8"
    )
    (folder / "broken.md").write_text(
        "---\naccess:\n  allow: []\n---\n# No\n\nNobody said who.\n", encoding="utf-8"
    )
    report, first = published(services, "handbook", folder, profile)
    assert len(report.added) == 3
    [(source, reason)] = report.refused
    assert source == "broken.md"
    assert "allow" in reason
    reader = principal("demo", "ann", (), ())

    def warranty() -> str:
        return (
            services.online.answer(
                Question("q", "How long is the warranty period?", "handbook"), reader
            ).answer
            or ""
        )

    assert "12 months" in warranty()
    (folder / "warranty.md").write_text("# Warranty\n\nThe warranty period is 24 months.\n", encoding="utf-8")
    report = services.offline.ingest("handbook", [folder], profile, None, quiet)
    assert (report.updated, len(report.unchanged)) == (["warranty.md"], 2)
    second = services.offline.build("handbook", quiet)
    assert second.corpus_version != first.corpus_version
    assert second.timings["vectorsReused"] == 2
    assert "12 months" in warranty()
    services.offline.publish("handbook", second.generation)
    assert "24 months" in warranty()
    services.offline.rollback("handbook")
    assert "12 months" in warranty()
    with pytest.raises(NotFound):
        services.online.answer(Question("q", "x", "handbook", "cv000000000000"), reader)
