"""Undecided claims at the shell: list, show, mark, export, and what `doctor` says of them."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from service.domain.documents import Span
from service.domain.reviews import CitedSpan, Review, Undecided
from tests.integration.test_operator_commands import CORPUS, Shell, shell

__all__ = ["shell"]

TEXT = "The warranty period is 12 months."
HIDDEN = "--tenant", "elsewhere"


@pytest.fixture
def reviewed(shell: Shell) -> Shell:
    """One open claim about a document that everybody of the tenant may see."""
    shell.ingest(warranty=TEXT)
    entry = shell.engine.registry.get_many(CORPUS, ["warranty.md"])["warranty.md"]
    key = (entry.document_id, entry.current_version)
    start = shell.engine.archive.get_many([key])[key].canonical_text.index(TEXT)
    cited = CitedSpan(*key, Span(start, start + len(TEXT)))
    at = datetime.now(UTC).isoformat(timespec="seconds")
    undecided = Undecided("The guarantee lasts 12 months.", "words", (cited,), ("warranty.md",))
    tenant = entry.access.tenant
    shell.engine.reviews.write(Review("a" * 32, at, tenant, CORPUS, "cv1", "g1", "t1", undecided))
    return shell


def test_a_claim_is_listed_shown_marked_and_exported(reviewed: Shell) -> None:
    review_id = "a" * 32
    [listed] = reviewed.json("review", "list", "--corpus", CORPUS, "--state", "open")
    assert (listed["reviewId"], listed["state"]) == (review_id, "open")
    assert reviewed.out("review", "export") == ""
    assert TEXT in reviewed.out("review", "show", review_id)
    assert reviewed.json("review", "show", review_id)["quotes"] == [TEXT]
    assert "1 claims to look at" in reviewed.run("doctor").stdout

    marked = reviewed.json("review", "mark", review_id, "supported", "--note", "guarantee is warranty")
    assert marked["state"] == "supported" and marked["markedBy"]
    assert json.loads(reviewed.out("review", "export")) == {
        "reviewId": review_id,
        "claim": "The guarantee lasts 12 months.",
        "quotes": [TEXT],
        "verdict": "supported",
        "reason": "words",
        "note": "guarantee is warranty",
    }
    assert reviewed.out("review", "list", "--state", "open").strip() == "nothing to look at"
    assert "claims to look at" not in reviewed.run("doctor").stdout


def test_who_may_not_see_its_document_sees_nothing_of_it(reviewed: Shell) -> None:
    review_id = "a" * 32
    assert reviewed.json("review", "list", *HIDDEN) == []
    for arguments in (("show", review_id), ("mark", review_id, "supported")):
        hidden, missing = (
            reviewed.run("review", *(name if part == review_id else part for part in arguments), *who)
            for name, who in ((review_id, HIDDEN), ("b" * 32, ()))
        )
        assert hidden.exit_code == missing.exit_code == 1
        assert str(hidden.exception) == str(missing.exception)
    reviewed.out("access", "delete", CORPUS, "warranty.md")
    assert reviewed.json("review", "list") == []
    assert reviewed.out("review", "export") == ""
    assert reviewed.engine.reviews.get(review_id) is not None, "out of sight, and dropped with its age"
