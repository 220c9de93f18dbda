"""attest demo: sample corpora, questions, and a look at what comes back. scripts/demo installs and calls it."""

from __future__ import annotations

import json
import os
import secrets
import sys
import time
from pathlib import Path
from typing import Any

import click

from service.bootstrap import Services
from service.cli.ask import render
from service.cli.shared import as_json, echo_json, needs, principal, progress_bars, services
from service.domain.answers import GroundedAnswer, Question
from service.domain.generations import live_alias
from service.profiles.corpus import CorpusProfile, read_corpus_profile
from service.settings import load_settings
from service.web.auth import issue_token

SAMPLES = Path(__file__).parent.parent / "samples"


@needs("operator")
@click.command("demo", epilog="\b\nExample:\n  attest demo --serve")
@click.option("--serve", is_flag=True, help="Leave the service running afterwards; prints URLs and a token.")
@as_json
def demo_command(serve: bool, as_json: bool) -> None:
    """Build the sample corpora, ask the sample questions, print answers with their proof, or why there is none.

    What is already built is reused. Exit code 1 when an answer is not as the questions file expects.
    """
    opened = services()
    click.echo(f"engine: {opened.settings.engine}", err=True)
    questions = json.loads((SAMPLES / "questions.json").read_text(encoding="utf-8"))
    for corpus in dict.fromkeys(question["corpus"] for question in questions):
        _prepare(opened, corpus)
    outcomes = [_ask(opened, question, quiet=as_json) for question in questions]
    good = sum(not outcome["faults"] for outcome in outcomes)
    if as_json:
        echo_json(outcomes)
    else:
        click.echo(f"\n{good} of {len(outcomes)} as expected.")
    if serve:
        _serve()
    if good < len(outcomes):
        sys.exit(1)


def _prepare(opened: Services, corpus: str) -> None:
    """Ingests the sample corpus, and builds and publishes it unless what is live already holds just that."""
    folder = SAMPLES / corpus
    profile = read_corpus_profile(folder) or CorpusProfile(name=corpus)
    started = time.perf_counter()
    with progress_bars() as progress:
        report = opened.offline.ingest(corpus, [folder], profile, None, progress)
        for source, reason in report.refused:
            click.echo(f"  refused {source}: {reason}", err=True)
        live = opened.engine.generations.aliases(corpus).get(live_alias(opened.engine.prefix, corpus), ())
        if live and not report.added and not report.updated and opened.offline.is_current(live[0]):
            click.echo(f"{corpus}: {live[0]} is live and up to date", err=True)
            return
        manifest = opened.offline.build(corpus, progress)
    opened.offline.publish(corpus, manifest.generation)
    seconds = time.perf_counter() - started
    click.echo(
        f"{corpus}: {len(manifest.documents)} documents, {manifest.chunks} chunks, live after {seconds:.0f} s",
        err=True,
    )


def _ask(opened: Services, entry: dict[str, Any], *, quiet: bool) -> dict[str, Any]:
    who = entry["principal"]
    answer = opened.online.answer(
        Question(entry["id"], entry["text"], entry["corpus"]),
        principal("demo", who["subject"], tuple(who.get("groups", ())), tuple(who.get("labels", ()))),
    )
    faults = _faults(entry["expect"], answer)
    if not quiet:
        groups = ", ".join(who.get("groups", ())) or "no groups"
        click.echo(f"\n── {entry['shows']}")
        click.echo(f"Q ({entry['corpus']}, {who['subject']}, {groups}): {entry['text']}")
        click.echo(render(answer))
        for fault in faults:
            click.echo(f"  NOT AS EXPECTED: {fault}")
    return {
        "id": entry["id"],
        "status": answer.status,
        "answer": answer.answer,
        "reason": answer.reason,
        "faults": faults,
    }


def _faults(expected: dict[str, Any], answer: GroundedAnswer) -> list[str]:
    said = answer.answer or ""
    cited = {c.document_id for claim in answer.claims for c in claim.citations}
    faults = []
    if answer.status != expected["status"]:
        faults.append(f"status {answer.status}, expected {expected['status']}")
    if expected.get("reasonCode") and answer.reason != expected["reasonCode"]:
        faults.append(f"reason {answer.reason}, expected {expected['reasonCode']}")
    faults += [f"lacks {text!r}" for text in expected.get("contains", ()) if text not in said]
    faults += [f"says {text!r}" for text in expected.get("notContains", ()) if text in said]
    wanted = set(expected.get("documentIds", ()))
    if wanted and answer.status == "answered" and not wanted & cited:
        faults.append(f"cites {sorted(cited)}, expected one of {sorted(wanted)}")
    return faults


def _serve() -> None:
    """Replaces this process by the service, with a development secret when none is set."""
    os.environ.setdefault("ATTEST_TOKEN_SECRET", secrets.token_hex(32))
    settings = load_settings()
    token = issue_token(
        settings,
        tenant="demo",
        subject="alice",
        groups=["eng"],
        labels=[],
        roles=["reader", "inspect"],
        ttl_s=43_200,
    )
    base = f"http://{settings.host}:{settings.port}"
    click.echo(f"\nService: {base}   API: {base}/openapi   Ready: {base}/readyz   Metrics: {base}/metrics")
    click.echo(f"Token (12 hours, user alice, group eng):\n  export TOKEN={token}")
    click.echo(
        f'Try:\n  curl -s {base}/v1/answers -H "Authorization: Bearer $TOKEN" \\\n'
        "    -H 'Content-Type: application/json' \\\n"
        '    -d \'{"text": "任务自动重试耗尽后怎么办？", "corpus": "lesson"}\''
    )
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "service.cli", "serve"])
