"""A table's row is found by the heads of its row and column, and quoted as the raw row, on both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

from service.access.policy import principal_of, scope_of
from service.bootstrap import Services
from service.domain.answers import Question
from service.domain.generations import Generation
from service.domain.retrieval import Bm25Leg
from service.profiles.corpus import CorpusProfile
from service.text.analysis import query_terms

NAMES = "海棠 木槿 紫藤 石榴 银杏 梧桐 玉兰 桂花 腊梅 丁香 合欢 樱花 杜鹃 牡丹 芍药 茉莉 栀子 蔷薇".split()
ROWS = [f"| {name}泵 | {n + 3} | 由{name}班组每周检查一次密封与轴承 |" for n, name in enumerate(NAMES)]
TABLE = "\n".join(("| 泵名 | 扬程 | 检查办法 |", "|---|---|---|", *ROWS))
PAGE = f"# 泵房\n\n各泵由当班人员照管。\n\n单位：米\n\n{TABLE}\n\n## 其他\n\n泵房钥匙统一登记。\n"
WHO = principal_of(tenant="demo", subject="reader", groups=[], labels=[], roles=["reader"])
PROFILE = CorpusProfile(name="tables", tenant="demo", default_access={"allow": ["*"]})


@pytest.mark.parametrize("column", ["扬程", "检查办法"])
def test_a_cell_is_found_by_its_heads(services: Services, tmp_path: Path, column: str) -> None:
    (tmp_path / "page.md").write_text(PAGE, "utf-8")
    offline = services.offline
    offline.ingest("tables", [tmp_path / "page.md"], PROFILE, None, lambda *_: None)
    manifest = offline.build("tables", lambda *_: None)
    offline.publish("tables", manifest.generation)
    generation = Generation.parse(manifest.generation)
    assert generation is not None
    tables = [c.chunk for c in offline.engine.generations.scan(generation) if c.chunk.kind == "table"]
    assert len(tables) > 2
    assert [row for chunk in tables for row in chunk.text.split("\n")] == ROWS
    assert {chunk.search_prefix for chunk in tables} == {"单位：米\n| 泵名 | 扬程 | 检查办法 |"}
    for name, row in zip(NAMES, ROWS, strict=True):
        question = f"{name}泵 {column}"
        leg = Bm25Leg(tuple(query_terms(question)), 0.6, 10)
        [result] = services.engine.retrieval.search(generation, [leg], scope_of(WHO), 30.0)
        assert row in result.hits[0].chunk.text.split("\n"), question
        answer = services.online.answer(Question("q", question, "tables"), WHO)
        assert row in [c.quote for claim in answer.claims for c in claim.citations], question
