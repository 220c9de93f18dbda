"""Four times the input takes about four times the time to read: tables, pages, one line, nested lists, JSONL."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from service.domain.sources import SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import look, parse
from service.offline.ingest.sources import read_sources


def markdown_table(rows: int) -> str:
    return "| a | b |\n|---|---|\n" + "".join(f"| X-{n} | 24 |\n" for n in range(rows))


def html_table(rows: int) -> str:
    return "<table>" + "".join(f"<tr><td>X-{n}</td><td>24</td></tr>" for n in range(rows)) + "</table>"


SHAPES: dict[str, tuple[str, Callable[[int], str], int]] = {
    "table.md": ("text/markdown", markdown_table, 2_000),
    "table.html": ("text/html", html_table, 2_000),
    "pages.txt": ("text/plain", lambda n: "a line of text\n\f" * n, 10_000),
    "paragraphs.txt": ("text/plain", lambda n: "设备的保修期为两年。\n\n" * n, 10_000),
    "line.txt": ("text/plain", lambda n: "设备的保修期为两年。" * n, 40_000),
    "line.md": ("text/markdown", lambda n: "设备的保修期为两年。" * n, 40_000),
    "entities.html": ("text/html", lambda n: "&amp;" * n, 20_000),
    "nested.html": ("text/html", lambda n: "<div>" * n + "deep", 5_000),
}


def seconds(name: str, times: int) -> float:
    media_type, make, size = SHAPES[name]
    item = SourceItem(name, make(size * times).encode(), media_type, name)
    gc.disable()  # A collection of whatever earlier tests left would be taken for reading.
    try:
        began = time.process_time()
        parse(item)
        return time.process_time() - began
    finally:
        gc.enable()


@pytest.mark.parametrize("name", SHAPES)
def test_reading_is_not_quadratic(name: str) -> None:
    seconds(name, 1)  # whatever is loaded once
    small = min(seconds(name, 1) for _ in range(2))
    assert seconds(name, 4) < 9 * small + 0.2


@pytest.mark.parametrize(
    ("media_type", "text"),
    [
        ("text/markdown", ">" * 100_000 + " deep"),
        ("text/markdown", "- " * 100_000 + "deep"),
        ("text/markdown", "".join("  " * n + "- deep\n" for n in range(400))),
        ("text/markdown", "[" * 100_000 + "deep"),
        ("text/markdown", "---\n" + "a: {" * 5_000 + "\n---\ndeep"),
        ("text/html", "<b><i>" * 10_000 + "deep"),
        ("text/html", "<table><tr><td>" * 500 + "deep"),
        ("text/html", "deep<!--" * 100_000),
    ],
)
def test_what_is_nested_deeply_is_read_or_refused(media_type: str, text: str) -> None:
    began = time.process_time()
    try:
        read = parse(SourceItem("d", text.encode(), media_type, "d"))
    except SourceUnreadable:
        return
    assert "deep" in read.canonical_text
    assert time.process_time() - began < 20


def test_jsonl_nested_deeply_is_a_fault_of_its_line(tmp_path: Path) -> None:
    deep = '{"documentId": "a", "text": "x", "more": ' + "[" * 100_000 + "]" * 100_000 + "}"
    good = json.dumps({"documentId": "b", "text": "good"})
    (tmp_path / "x.jsonl").write_text(f"{deep}\n{good}\n", encoding="utf-8")
    first, second = read_sources([tmp_path / "x.jsonl"])
    assert (first.origin, second.origin) == ("x.jsonl:1", "x.jsonl:2")
    assert isinstance(second, SourceItem)


def test_a_look_does_not_read_the_body() -> None:
    text = "---\nid: named\n---\n" + markdown_table(100_000)
    began = time.process_time()
    front = look(SourceItem("a.md", text.encode(), "text/markdown", "a.md"))
    assert (front.document_id, front.front_matter) == ("named", {"id": "named"})
    assert time.process_time() - began < 0.5
