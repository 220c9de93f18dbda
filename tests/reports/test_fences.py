"""A "#" in a code fence is no heading, and nothing around the fence is lost (haystack#11920)."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.offline.generations.coverage import coverage
from service.offline.ingest.chunking import Chunker
from tests.unit.offline.material import HTML, MARKDOWN, check_chunks, parsed
from tests.unit.offline.test_coverage import archived

# What looks like structure and is code.
CODE = ["# note", "## Usage", "#!/bin/sh", "#", "Title\n=====", "Title\n-----", "---", "- item", "> quote", "| a | b |\n|---|---|\n| 1 | 2 |",
        "[^1]: note", "<h1>x</h1>", "::: tip", "x = 1  # set x", "", "\n# after an empty line"]  # fmt: skip


def fenced(how: str, code: str) -> str:
    match how:
        case "indented":
            return "\n".join(f"    {line}" if line else "" for line in code.split("\n"))
        case "list":
            return "- item:\n\n" + "\n".join(f"  {line}" for line in f"```\n{code}\n```".split("\n"))
        case "quote":
            return "\n".join(f"> {line}" for line in f"```\n{code}\n```".split("\n"))
        case "open":  # never closed; the document ends in it
            return f"```sh\n{code}"
    return f"{how}\n{code}\n{how.removesuffix('sh')}"


@pytest.mark.parametrize("how", ["```", "```sh", "~~~", "````", "indented", "list", "quote"])
@pytest.mark.parametrize("limit", [5.0, 190.0])
def test_every_character_is_in_a_chunk_and_the_section_goes_on(how: str, limit: float) -> None:
    @settings(max_examples=60, deadline=None)
    @given(st.lists(st.sampled_from(CODE), min_size=1, max_size=5).map("\n".join))
    def holds(code: str) -> None:
        inside = fenced(how, f"run\n{code}\nend")
        source = f"# Guide\n\nThe paragraph before.\n\n{inside}\n\nThe paragraph after.\n"
        document = parsed(source, MARKDOWN)
        assert [b.span.of(source) for b in document.blocks if b.kind == "heading"] == ["# Guide"]
        assert {b.heading_path for b in document.blocks if b.kind != "heading"} == {("Guide",)}
        chunks = Chunker(limit=limit).cut("d", "0123456789abcdef", source, document.blocks, "")
        check_chunks(source, chunks)
        assert coverage(archived(document), chunks).whole
        shown = {at for chunk in chunks for at in range(chunk.span.start, chunk.span.end)}
        # Outside is the heading alone, which is searched with each chunk.
        outside = "".join(char for at, char in enumerate(source) if at not in shown and char.isalnum())
        assert outside == "Guide"

    holds()


def test_a_fence_that_is_never_closed_keeps_what_is_before_and_within() -> None:
    source = f"# Guide\n\nThe paragraph before.\n\n{fenced('open', '# note')}\nand more\n"
    document = parsed(source, MARKDOWN)
    chunks = Chunker().cut("d", "0123456789abcdef", source, document.blocks, "")
    assert [chunk.text.split("\n")[-1] for chunk in chunks] == ["The paragraph before.", "and more"]


@pytest.mark.parametrize("code", CODE)
def test_the_same_in_html(code: str) -> None:
    escaped = f"run\n{code}\nend".replace("&", "&amp;").replace("<", "&lt;")
    document = parsed(f"<h1>Guide</h1><p>before</p><pre><code>{escaped}</code></pre><p>after</p>", HTML)
    text = document.canonical_text
    chunks = Chunker().cut("d", "0123456789abcdef", text, document.blocks, "")
    assert [(chunk.kind, chunk.text) for chunk in chunks] == [
        ("paragraph", "before"),
        ("code", f"run\n{code}\nend"),
        ("paragraph", "after"),
    ]
    assert {chunk.heading_path for chunk in chunks} == {("Guide",)}
