"""What the text legs find a chunk by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.domain.documents import Chunk, Span
from service.domain.sources import SourceItem
from service.offline.generations.indexing import analysed
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse

PAGE = """# Ports

Ports of a cluster:

| Component | Port | Purpose of it |
|---|---|---|
| [`monitor_agent`](/agents/exporter.md#monitor_agent) | 9115 | probes endpoints |
| a\\|b | 20160 | serves keys |
"""
ROWS = "<table><tr><th>Component</th><th>Port</th></tr><tr><td>gateway</td><td>80</td></tr></table>"


def chunk_of(name: str, text: str, media_type: str) -> Chunk:
    document = parse(SourceItem(name, text.encode(), media_type, name))
    chunks = Chunker().cut(name, "v", document.canonical_text, document.blocks, document.title)
    [table] = [chunk for chunk in chunks if chunk.kind == "table"]
    return table


def test_heads_of_rows_and_columns_are_headings_of_a_table() -> None:
    terms = analysed("Ports", chunk_of("page.md", PAGE, "text/markdown"))
    assert {"monitor_agent", "a", "b", "component", "purpose"} <= set(terms.heading)
    assert {"monitor_agent", "component", "probe", "9115"} <= set(terms.body)
    # Neither cells, nor where a head links to, nor the line above the table.
    assert not {"probe", "9115", "serve", "exporter", "cluster"} & set(terms.heading)


def test_the_same_of_a_table_whose_rows_begin_without_a_bar() -> None:
    terms = analysed("Ports", chunk_of("page.html", ROWS, "text/html"))
    assert {"component", "port", "gateway"} <= set(terms.heading)
    assert "80" not in terms.heading


@pytest.mark.parametrize("kind", ["paragraph", "code", "list_item"])
def test_what_looks_like_a_table_and_is_none_has_no_such_headings(kind: str) -> None:
    chunk = replace(chunk_of("page.md", PAGE, "text/markdown"), kind=kind)
    assert set(analysed("Ports", chunk).heading) == {"port"}


def test_a_table_without_head_has_its_rows() -> None:
    chunk = Chunk("d#1", "d", "v", 1, "table", (), Span(0, 19), "gateway | 80\nproxy | 81", "")
    assert analysed("", chunk).heading == ("gateway", "proxy")
