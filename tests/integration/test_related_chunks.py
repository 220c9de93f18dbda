"""A build tells where its chunks point and what repeats them, on both engines; a check tells of lost text."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.access.policy import scope_of
from service.bootstrap import Services
from service.cli import cli
from service.domain.generations import Generation
from service.offline.chunks import document_chunks
from service.offline.generations.checks import run_checks
from service.profiles.corpus import CorpusProfile
from tests.integration.world import who

LONG = "备份任务自动开始，期间读写照常进行；备份文件先写入本地磁盘，然后同步到远端的对象存储，完成之后通知值班人员核对并且签字。"
FILES = {
    "guide/start.md": f"# 开始\n\n{LONG}\n\n见[备份](backup.md#周期)、[旧页](backup.md#gone)、[无](none.md)、[外](https://x.org)。\n",
    "guide/backup.md": f"# 备份\n\n{LONG.replace('签字', '签名')}\n\n## 周期\n\n每天一次。\n",
    "guide/seconds.md": f"# 时限\n\n{LONG}超时 30 秒。\n",
    "guide/minutes.md": f"# 时限\n\n{LONG}超时 30 分钟。\n",
}
PROFILE = CorpusProfile(name="related", tenant="demo", default_access={"allow": ["*"]})


def test_links_and_clusters_of_a_build(services: Services, tmp_path: Path) -> None:
    for name, text in FILES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    offline = services.offline
    offline.ingest("related", [tmp_path / "docs"], PROFILE, None, lambda *_: None)
    manifest = offline.build("related", lambda *_: None)
    assert {k: v for k, v in manifest.timings.items() if k.startswith(("links", "cluster", "chunksIn"))} == {
        "linksResolved": 1, "linksStale": 1, "linksBroken": 1, "linksOutside": 1, "clusters": 0, "chunksInClusters": 0,
    }  # fmt: skip
    assert [check["passed"] for check in manifest.checks if check["name"] == "coverage"] == [True]
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    chunks = list(offline.engine.generations.scan(generation, vectors=True))
    [start] = [c.chunk for c in chunks if c.chunk.document_id == "guide/start.md"]
    assert [(link.target, link.anchor, link.state) for link in start.links] == [
        ("guide/backup.md", "周期", "resolved"),
        ("guide/backup.md", "gone", "stale"),
        ("none.md", "", "broken"),
        ("https://x.org", "", "outside"),
    ]
    assert start.links[0].version == manifest.documents["guide/backup.md"]
    assert offline.is_current(manifest.generation)

    # Half of a document left out is found, whatever else is in order.
    registry = {entry.document_id: entry for entry in offline.engine.registry.scan("related")}
    kept = [c for c in chunks if "每天一次" not in c.chunk.text]
    counts = manifest.chunks_per_document | {"guide/backup.md": 1}
    less = replace(manifest, chunks=len(kept), chunks_per_document=counts)
    results = run_checks(less, kept, (), offline.engine.archive.get_many, registry)
    assert [(r.name, r.offenders[0].partition(":")[0]) for r in results if not r.passed] == [
        ("coverage", "guide/backup.md")
    ]


def test_near_duplicates_of_a_build(services: Services, tmp_path: Path) -> None:
    """Almost the same words are one cluster; another unit is not."""
    for name, text in FILES.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.partition("\n\n见")[0], "utf-8")
    offline = services.offline
    offline.ingest("related", [tmp_path / "docs"], PROFILE, None, lambda *_: None)
    manifest = offline.build("related", lambda *_: None)
    assert (manifest.timings["clusters"], manifest.timings["chunksInClusters"]) == (1, 2)
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    shared = {c.chunk.document_id for c in offline.engine.generations.scan(generation) if c.chunk.cluster}
    assert shared == {"guide/start.md", "guide/backup.md"}


def test_a_document_s_chunks_show_links_and_what_repeats_them(
    services: Services, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = FILES | {
        "hr/pay.md": f'---\naccess:\n  allow: ["group:hr"]\n---\n# 薪资\n\n{LONG}\n',
        "guide/pay.md": f"# 发薪\n\n{LONG.replace('签字', '盖章')}\n\n见[薪资](../hr/pay.md)、[无](none.md)。\n",
    }
    for name, text in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    offline = services.offline
    offline.ingest("related", [tmp_path / "docs"], PROFILE, None, lambda *_: None)
    manifest = offline.build("related", lambda *_: None)
    offline.publish("related", manifest.generation)
    monkeypatch.setattr("service.cli.chunks.services", lambda: services)
    monkeypatch.delenv("ATTEST_TOKEN", raising=False)

    def told(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, ["chunks", "related", *arguments])
        return done.exit_code, done.output

    code, shown = told("guide/start.md")
    assert code == 0 and manifest.generation in shown
    for line in (
        "link resolved  guide/backup.md#周期",
        "link stale     guide/backup.md#gone",
        "link broken    none.md",
        "link outside   https://x.org",
    ):
        assert line in shown
    [first] = json.loads(told("guide/pay.md", "--json")[1])["chunks"]
    assert [(link["target"], link["state"]) for link in first["links"]] == [
        ("hr/pay.md", "resolved"),
        ("none.md", "broken"),
    ]
    # What may not be seen is not there: neither as a document, nor as a near duplicate, nor behind a link.
    assert told("hr/pay.md")[0] == told("hr/none.md")[0] == 1
    assert told("hr/pay.md", "--group", "hr")[0] == 0
    everything = scope_of(who("hilda", "hr"))
    reader = scope_of(who("ann"))
    _, views = document_chunks(services.engine, reader, "related", "live", "guide/pay.md", every_target=False)
    assert [(link.target, link.version, link.state) for link in views[0].links] == [("", None, "broken")] * 2
    near = [
        [
            found
            for view in document_chunks(
                services.engine, scope, "related", "live", "guide/backup.md", every_target=False
            )[1]
            for found in view.near
        ]
        for scope in (reader, everything)
    ]
    assert (len(near[0]), len(near[1])) == (0, 1)
