"""The little world of the kill matrix: a corpus that goes through every step, and all that must be equal after it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from service.access.policy import principal_of
from service.access.rules import to_json
from service.domain.answers import Question
from service.domain.documents import IndexedChunk
from service.domain.generations import Generation, Manifest, live_alias, version_alias
from service.domain.rights import Access
from service.errors import NotFound
from service.evaluation.experiments.kill_matrix_points import Step
from service.offline.generations.lifecycle import now
from service.offline.rights import change_rights
from service.offline.story import Offline, quiet
from service.online.entry import Online
from service.profiles.corpus import CorpusProfile

CORPUS = "kill-matrix"
TENANT = "demo"
ALARM = "alarm-policy.md"
BEFORE = {
    "retry-policy.md": "# 任务重试\n\n任务失败后最多自动重试三次。第三次仍失败时，消息进入隔离队列。\n",
    "cache-policy.md": "# 缓存边界\n\n缓存的有效期是十五分钟。\n\n## 缺失\n\n缓存缺失时，读取应回到权威数据库。\n",
    "backup-policy.md": "# 备份策略\n\n备份在凌晨四点开始。\n",
    ALARM: "# 告警策略\n\n告警在五分钟内送达值班人员。\n",
}
AFTER = {
    "retry-policy.md": BEFORE["retry-policy.md"].replace("三次", "两次").replace("第三次", "第二次"),
    "cache-policy.md": BEFORE["cache-policy.md"],
    ALARM: BEFORE[ALARM],
    "release-policy.md": "# 发布窗口\n\n版本发布只在每周二上午进行。\n\n"
    "| 环境 | 时长 |\n|---|---|\n| 测试 | 2 小时 |\n| 生产 | 4 小时 |\n",
}
QUESTIONS = (
    "任务失败后最多自动重试几次？",
    "缓存的有效期是多少分钟？",
    "告警在几分钟内送达值班人员？",
    "版本发布在每周几进行？",
    "明年的预算是多少？",
)
READER = principal_of(tenant=TENANT, subject="reader", groups=[], labels=[], roles=["reader"])
NOT_FOUND = "nothing to be seen"
_TRIES = 5
_STANDING = ("ready", "live", "retained")

Answers = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Opened:
    """Both paths over one prefix, and the environment in which another process opens the same."""

    offline: Offline
    online: Online
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a step must leave, whatever happened on the way. Nothing in it knows prefix, number or time."""

    answers: Answers
    documents: dict[str, Any]
    live: str | None
    generations: list[tuple[str, str, int, Any, str]]


def set_up(opened: Opened, folder: Path) -> None:
    """The first version, live."""
    write(folder, BEFORE)
    _ingest(opened.offline, folder)
    opened.offline.publish(CORPUS, opened.offline.build(CORPUS, quiet).generation)
    write(folder, AFTER)


def write(folder: Path, files: Mapping[str, str]) -> None:
    for path in folder.iterdir():
        path.unlink()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")


def perform(step: Step, offline: Offline, folder: Path) -> None:
    """One command, as an operator gives it."""
    if step == "ingest":
        _ingest(offline, folder)
    elif step == "build":
        offline.build(CORPUS, quiet)
    elif step == "publish":
        offline.publish(CORPUS, None)
    elif step == "rollback":
        offline.rollback(CORPUS)
    elif step == "revoke":
        nobody = Access(TENANT, frozenset({"public"}), frozenset({"group:hr"}))
        change_rights(
            offline.engine,
            CORPUS,
            ALARM,
            lambda entry: replace(entry, access=nobody),
            action="revoke",
            who=offline.who,
            now=now(),
        )
    else:
        offline.prune(CORPUS, keep=0, dry_run=False)


def _ingest(offline: Offline, folder: Path) -> None:
    profile = CorpusProfile(name=CORPUS, tenant=TENANT)
    report = offline.ingest(CORPUS, [folder], profile, {"allow": ["*"]}, quiet, most_deletions=1.0)
    if report.refused:
        raise RuntimeError(f"documents of the experiment were refused: {report.refused}")


def answers(online: Online) -> Answers:
    """What a reader is told to every question. Raises Unavailable like the online path."""
    return {text: _answer(online, text) for text in QUESTIONS}


def _answer(online: Online, text: str) -> Any:
    for _ in range(_TRIES):
        try:
            answer = online.answer(Question("kill-matrix", text, CORPUS), READER)
        except NotFound:
            return NOT_FOUND
        # On a busy machine a reranker may be late; that is told, and none of the builder's doing.
        if set(answer.degraded) <= {"cache"}:
            break
    cited = [
        (c.document_id, c.document_version, c.span, c.quote)
        for claim in answer.claims
        for c in claim.citations
    ]
    return (
        answer.status,
        answer.reason,
        answer.answer,
        cited,
        answer.retrieval.corpus_version,
        answer.degraded,
    )


def snapshot(opened: Opened) -> Snapshot:
    engine = opened.offline.engine
    manifests = [m for m in engine.builds.scan(CORPUS) if m.state in _STANDING]
    live = engine.generations.aliases(CORPUS).get(live_alias(engine.prefix, CORPUS), ())
    return Snapshot(
        answers=answers(opened.online),
        documents={
            entry.document_id: (entry.current_version, to_json(entry.access), entry.deleted)
            for entry in engine.registry.scan(CORPUS)
        },
        live=next((m.corpus_version for m in manifests if (m.generation,) == live), None),
        generations=[
            (m.corpus_version, m.state, m.chunks, m.chunks_per_document, _digest(opened, m))
            for m in manifests
        ],
    )


def _digest(opened: Opened, manifest: Manifest) -> str:
    """sha256 of all chunks, in order: text, place, terms, rights, vector."""
    digest = hashlib.sha256()
    for indexed in _chunks(opened, manifest):
        rights = to_json(indexed.access)
        rest = replace(indexed, generation="", access=Access("", frozenset(), frozenset()))
        digest.update(repr((rest, rights)).encode())
    return digest.hexdigest()


def _chunks(opened: Opened, manifest: Manifest) -> Iterator[IndexedChunk]:
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    return opened.offline.engine.generations.scan(generation, vectors=True)


def faults(opened: Opened) -> list[str]:
    """Orphans and leftovers once the command has been run again: none may be there."""
    return [*_orphans(opened), *_lost(opened), *_unfinished(opened)]


def _orphans(opened: Opened) -> Iterator[str]:
    engine = opened.offline.engine
    manifests = {m.generation: m for m in engine.builds.scan(CORPUS)}
    standing = {name for name, m in manifests.items() if m.state in _STANDING}
    there = set(engine.generations.names(CORPUS))
    yield from (f"index without a manifest that stands: {name}" for name in sorted(there - standing))
    yield from (f"manifest without its index: {name}" for name in sorted(standing - there))
    for name, m in manifests.items():
        if m.state in ("building", "validating", "failed"):
            yield f"manifest left {m.state}: {name}"
    for alias, behind in engine.generations.aliases(CORPUS).items():
        states = [manifests[name].state if name in manifests else "without manifest" for name in behind]
        is_live = alias == live_alias(engine.prefix, CORPUS)
        if len(behind) != 1 or states[0] not in (("live",) if is_live else ("live", "retained")):
            yield f"alias {alias} on {behind}, {states}"
        elif not is_live:
            owner = manifests[behind[0]]
            if alias != version_alias(engine.prefix, CORPUS, owner.corpus_version):
                yield f"alias {alias} on a generation of {owner.corpus_version}"


def _lost(opened: Opened) -> Iterator[str]:
    engine = opened.offline.engine
    entries = [entry for entry in engine.registry.scan(CORPUS) if not entry.deleted]
    keys = [(entry.document_id, entry.current_version) for entry in entries]
    yield from (f"not in the archive: {key[0]}" for key in set(keys) - set(engine.archive.get_many(keys)))
    withdrawn = {entry.document_id for entry in engine.registry.scan(CORPUS) if entry.deleted}
    for manifest in engine.builds.scan(CORPUS):
        if manifest.state not in _STANDING:
            continue
        seen = Counter(indexed.chunk.chunk_id for indexed in _chunks(opened, manifest))
        wanted = sum(n for name, n in manifest.chunks_per_document.items() if name not in withdrawn)
        if len(seen) != wanted or seen.total() != wanted:
            yield f"{manifest.generation}: {seen.total()} chunks, {len(seen)} different, {wanted} expected"


def _unfinished(opened: Opened) -> Iterator[str]:
    engine = opened.offline.engine
    yield from (
        f"spread not finished: {e.document_id}" for e in engine.registry.scan(CORPUS) if e.spread_pending
    )
    yield from (f"job left {job.state}: {job.kind}" for job in engine.jobs.scan(CORPUS) if not job.is_over)
    for slot in ("build", "switch"):
        lease = engine.jobs.lease(CORPUS, slot)
        holder = engine.jobs.get(lease.job_id) if lease is not None else None
        if holder is not None and not holder.is_over:
            yield f"lease still held: {slot}"
