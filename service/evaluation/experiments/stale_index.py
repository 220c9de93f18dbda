"""A sentence changes from 三次 to 两次: what is answered, and what the old citation shows, before the switch, after it,
and after the way back."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from service.access.policy import principal_of
from service.domain.answers import Citation, GroundedAnswer, Question
from service.domain.documents import RegistryEntry
from service.domain.rights import Access, Principal
from service.errors import AttestError
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.permission_wrong import Memory
from service.offline.generations.lifecycle import now
from service.offline.rights import change_rights
from service.offline.story import Offline, quiet
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile

CORPUS = "stale-index"
TENANT = "demo"
RETRY = "任务失败后最多自动重试几次？"
CACHE = "缓存的有效期是多少分钟？"
BACKUP = "备份在几点开始？"
OLD, NEW = "任务失败后最多自动重试三次。", "任务失败后最多自动重试两次。"
PAGES = {
    "retry-policy": ("重试策略", OLD),
    "cache-policy": ("缓存策略", "缓存的有效期是十五分钟。"),
    "backup-policy": ("备份策略", "备份在凌晨四点开始。"),
}
READER = principal_of(tenant=TENANT, subject="reader", groups=["ops"], labels=[], roles=["reader"])


def run(offline: Offline, online: Online) -> list[Expectation]:
    """Two versions, a switch and a way back, with a deletion and a revocation in between; the caller gives an engine
    of its own. Every question is asked twice, so that the second answer may come from the cache."""
    asked = replace(online, cache=Memory())
    _ingest(offline, PAGES)
    first = offline.build(CORPUS, quiet).generation
    offline.publish(CORPUS, first)
    old = _cited(asked)
    told = [_says(asked, "before anything changes", "三次", first)]

    _ingest(offline, PAGES | {"retry-policy": ("重试策略", NEW)})
    second = offline.build(CORPUS, quiet).generation
    told += [_says(asked, "built, not switched", "三次", first)]
    offline.publish(CORPUS, second)
    new = _cited(asked)
    told += [
        _says(asked, "after the switch", "两次", second),
        expect(
            "after the switch: versions of old and new citation differ", True, _version(old) != _version(new)
        ),
        expect("old citation: shown as", "superseded", _source(asked, old, "status")),
        expect("old citation: its archived words", old.quote if old else None, _source(asked, old, "text")),
        expect("new citation: shown as", "current", _source(asked, new, "status")),
    ]

    gone, hidden = _cited(asked, CACHE), _cited(asked, BACKUP)
    _change(offline, "cache-policy", lambda entry: replace(entry, deleted=True))
    hr_only = Access(TENANT, frozenset({"public"}), frozenset({"group:hr"}))
    _change(offline, "backup-policy", lambda entry: replace(entry, access=hr_only))
    _, back = offline.rollback(CORPUS)
    told += [
        _says(asked, "after the rollback", "三次", first),
        expect("the rollback counts what was withdrawn since", 1, back.withdrawn),
        expect("the rollback counts whose rights changed since", 1, back.rights_changed),
        expect("after the rollback: the version live again", "superseded", _source(asked, old, "status")),
    ]
    for what, question, citation in (("deleted", CACHE, gone), ("revoked", BACKUP, hidden)):
        told += [
            expect(f"{what} document: was cited before", True, citation is not None),
            expect(f"{what} document: answer after the rollback", "no_answer", _ask(asked, question).status),
            expect(f"{what} document: its old citation", "NOT_FOUND", _source(asked, citation, "status")),
        ]
    return told


def _ingest(offline: Offline, pages: Mapping[str, tuple[str, str]]) -> None:
    with TemporaryDirectory(prefix="attest-stale-") as folder:
        source = Path(folder) / "pages.jsonl"
        lines = [
            {"documentId": name, "title": title, "text": text, "access": {"allow": ["*"]}}
            for name, (title, text) in pages.items()
        ]
        source.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines), encoding="utf-8")
        offline.ingest(CORPUS, [source], CorpusProfile(name=CORPUS, tenant=TENANT), None, quiet)


def _change(offline: Offline, document_id: str, change: Callable[[RegistryEntry], RegistryEntry]) -> None:
    change_rights(
        offline.engine, CORPUS, document_id, change, action="experiment", who=offline.who, now=now()
    )


def _ask(online: Online, text: str, who: Principal = READER) -> GroundedAnswer:
    return online.answer(Question("stale-index", text, CORPUS), who)


def _says(online: Online, when: str, number: str, generation: str) -> Expectation:
    answers = [_ask(online, RETRY) for _ in range(2)]
    seen = {
        (next((n for n in ("三次", "两次") if n in (a.answer or "")), a.reason), a.retrieval.generation)
        for a in answers
    }
    return expect(f"{when}: says, from", {(number, generation)}, seen)


def _cited(online: Online, text: str = RETRY) -> Citation | None:
    return next((c for claim in _ask(online, text).claims for c in claim.citations), None)


def _version(citation: Citation | None) -> str | None:
    return citation.document_version if citation else None


def _source(online: Online, citation: Citation | None, field: str) -> object:
    """One field of the citation's source, or the code of the refusal."""
    if citation is None:
        return None
    span = citation.span
    try:
        view = online.read_source(
            READER, citation.document_id, citation.document_version, span.start, span.end
        )
    except AttestError as refused:
        return refused.code
    return getattr(view, field)
