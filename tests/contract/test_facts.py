"""What `attest doctor` is told of an engine: the same kind of findings on both, and what is wrong is among them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from elasticsearch import Elasticsearch
from hypothesis import given
from hypothesis import strategies as st

from service.adapters.disk import disk_finding, used_percent
from service.adapters.elastic import open_elastic
from service.adapters.elastic.facts import clock_finding, node_finding
from service.adapters.embedded import open_embedded
from service.domain.generations import Generation
from service.domain.ports import Engine, IndexSettings
from service.offline.work import new_job
from tests.contract.material import CORPUS, VERSION

MIB = 1024**2


def test_an_engine_in_order_is_told_so(engine: Engine) -> None:
    before = engine.facts()
    engine.jobs.write(new_job(CORPUS, "build", "ann"))
    engine.generations.create(Generation(engine.prefix, CORPUS, VERSION, 1), IndexSettings(4))
    after = engine.facts()
    assert before.keys() == after.keys(), "a first write makes no part appear"
    # A disk that is nearly full is told as degraded, and no fault of this test.
    assert all(finding.startswith(("ok: ", "degraded: disk")) for finding in after.values()), after
    assert any("GiB free" in finding for finding in after.values())


def test_asking_makes_nothing(make_elastic: object, es_url: str, prefix: str, tmp_path: Path) -> None:
    open_embedded(tmp_path / "data", prefix).facts()
    assert list(tmp_path.iterdir()) == []
    open_elastic(prefix, es_url.split(",")).facts()
    assert dict(Elasticsearch(es_url.split(",")).indices.get(index=f"{prefix}*")) == {}


@pytest.mark.elasticsearch
def test_nodes_are_told_with_their_version_and_clock(elastic: Engine, es_url: str) -> None:
    node = next(iter(Elasticsearch(es_url.split(",")).nodes.info()["nodes"].values()))
    found = elastic.facts()
    assert f"version {node['version']}" in found[f"node {node['name']}"]
    assert "heap" in found[f"node {node['name']}"]
    assert found[f"clock of {node['name']}"].startswith("ok: within")


@pytest.mark.elasticsearch
def test_a_copy_without_a_node_is_told_of_this_prefix_only(
    elastic: Engine, make_elastic: object, es_url: str
) -> None:
    generation = Generation(elastic.prefix, CORPUS, VERSION, 1)
    nodes = len(Elasticsearch(es_url.split(",")).nodes.info()["nodes"])
    settings = IndexSettings(4, replicas=nodes)  # One more copy than there are nodes to hold it.
    elastic.generations.create(generation, settings)
    assert elastic.facts()["copies"].startswith("ok")
    elastic.generations.seal(generation, settings)
    assert elastic.facts()["copies"].startswith("degraded: 1 replicas are on no node")
    other = dataclasses.replace(generation, prefix=f"{elastic.prefix}2")
    assert open_elastic(other.prefix, es_url.split(",")).facts()["copies"].startswith("ok")


@pytest.mark.elasticsearch
@pytest.mark.parametrize(
    ("version", "begins"), [(99, "{index} has version 99"), (0, "degraded: "), ("x", "{index} has version x")]
)
def test_an_index_of_another_release_is_told(
    elastic: Engine, es_url: str, version: object, begins: str
) -> None:
    elastic.jobs.write(new_job(CORPUS, "build", "ann"))
    index = f"{elastic.prefix}-jobs"
    Elasticsearch(es_url.split(",")).indices.put_mapping(index=index, meta={"version": version})
    assert elastic.facts()["mappings"].startswith(begins.format(index=index))


def test_a_cluster_that_does_not_answer_is_a_finding() -> None:
    assert "cannot be reached" in open_elastic("test-away", ["http://127.0.0.1:1"]).facts()["cluster"]


def test_a_data_folder_that_cannot_be_made_does_not_raise(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    [finding] = open_embedded(tmp_path / "file" / "data", "test-x").facts().values()
    assert "disk" in finding


@given(st.integers(1, 10**15), st.floats(0, 1))
def test_the_fuller_a_disk_the_worse_it_is_told(total: int, share: float) -> None:
    used = used_percent(total, int(total * share))
    finding = disk_finding(used, int(total * share), "there")
    kind = "ok" if used < 85 else "degraded" if used < 95 else "disk"
    assert finding.startswith(kind)
    assert ("make room on there" in finding) == (used >= 85)


@pytest.mark.parametrize(
    ("used", "heap", "begins"),
    [(50, 50, "ok: disk 50 % used"), (50, 95, "degraded: heap 95 %"), (90, 95, "degraded: disk"), (96, 1, "disk 96 %")],
)  # fmt: skip
def test_of_a_node_the_worst_is_told_first(used: int, heap: int, begins: str) -> None:
    node = {
        "fs": {"total": {"total_in_bytes": 100 * MIB, "available_in_bytes": (100 - used) * MIB}},
        "jvm": {"mem": {"heap_used_percent": heap}},
    }
    finding = node_finding(node, "9.5.3")
    assert finding.startswith(begins)
    assert f"heap {heap} %" in finding and "version 9.5.3" in finding


@given(st.floats(-1e6, 1e6), st.floats(0, 30))
def test_clocks_are_apart_only_where_the_time_of_asking_cannot_explain_it(apart: float, took: float) -> None:
    asked = 1_796_255_141.0
    finding = clock_finding(asked + apart, asked, asked + took)
    if 0 <= apart <= took:
        assert finding.startswith("ok")
    if apart < -11:
        assert finding.startswith("degraded") and "behind ours" in finding
    if apart > took + 11:
        assert finding.startswith("degraded") and "ahead of ours" in finding


def test_a_disk_without_a_size_is_no_fault() -> None:
    assert used_percent(0, 0) == 0.0
