"""Whatever comes in: only the project's errors come out, and every offset means what it says."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.documents import Block, Chunk
from service.domain.sources import ParsedDocument, SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse
from tests.unit.offline.material import HTML, MARKDOWN, PLAIN, check_blocks, check_chunks, ordered

PIECES = {
    MARKDOWN: [
        "# A", "## B ##", "####### no", "x\n===", "y\n---", "- item", "  - inner", "1. one", "10) ten", "> quote",
        "> [!NOTE]", "> **注意**", "::: tip", ":::", "```", "~~~py", "    code", "\tcode", "| a | b |", "|---|---|",
        "|:-:|", "| 1 | 2 |", "a | b", "-|-", "[^1]: note", "<div>", "</div>", "<!--", "-->", "<?x?>", "---", "***",
        "[x]: /u", "text:", "\\", "`a", "$$", "title: x", "...", "- [ ] task", "+", "*", "#", ">", "-",
    ],
    HTML: [
        "<h1>", "</h1>", "<h2>B</h2>", "<p>", "</p>", "<li>", "<ul>", "</ul>", "<table>", "</table>", "<tr>", "<td>",
        "<td colspan=3>", "<th>", "<caption>c", "</caption>", "<pre>", "</pre>", "<blockquote>", "<br>", "<script>",
        "</script>", "<style>", "<!--", "-->", "<main>", "</main>", "<title>t</title>", "<template>", "<svg>",
        "<math>", "<select>", "<option>", "&amp;", "&#xD800;", "&#0;", "&", "<", ">", "<!doctype html>", "<![CDATA[",
        "<body>", "<frameset>", "<plaintext>", "<textarea>", "</p", "<b", "<div", '<p a="', "<details>", "<summary>",
        "<a href=x.html#y>", "<a name=n>", "<a href='javascript:x'>", "</a>", "<b id=i>",
    ],
    PLAIN: ["\f", "\n\f\n", "。", ". ", "\u2028", "\x85"],
}  # fmt: skip
# Text in which breaks of every kind meet: the parser's, Python's, Unicode's.
WORDS = st.sampled_from(
    [
        "甲乙。",
        "word ",
        "x",
        " ",
        "  ",
        "\t",
        "\x0b",
        "\u3000",
        "\u00a0",
        "\u200b",
        "\u2028",
        "\x85",
        "\x1c",
        "🙂",
        "e\u0301",
        "\x00",
    ]
)
LINE_END = st.sampled_from(["", "\n", "\n\n", "\n\n\n", "\r\n", " \n"])


def sources(media_type: str) -> st.SearchStrategy[str]:
    piece = st.one_of(
        st.sampled_from(PIECES[media_type]),
        WORDS,
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    )
    return st.lists(st.tuples(piece, LINE_END), max_size=25).map(
        lambda pairs: "".join(a + b for a, b in pairs)
    )


def read(source: str | bytes, media_type: str) -> ParsedDocument | None:
    raw = source if isinstance(source, bytes) else source.encode()
    try:
        return parse(SourceItem("d", raw, media_type, "d"))
    except SourceUnreadable:
        return None


def check(document: ParsedDocument | None, chunker: Chunker) -> None:
    if document is None:
        return
    text = document.canonical_text
    text.encode("utf-8")
    document.title.encode("utf-8")
    check_blocks(text, document.blocks)
    chunks = chunker.cut("d", "0123456789abcdef", text, document.blocks, document.title)
    check_chunks(text, chunks)
    if not chunker.overlap:
        ordered(chunk.span for chunk in chunks)
    no_chunk_holds_a_heading(document.blocks, chunks)


def no_chunk_holds_a_heading(blocks: tuple[Block, ...], chunks: list[Chunk]) -> None:
    headings = [block.span for block in blocks if block.kind == "heading"]
    for chunk in chunks:
        inside = [h for h in headings if chunk.span.start < h.end and h.start < chunk.span.end]
        assert inside == ([chunk.span] if chunk.kind == "heading" else [])


chunkers = st.builds(
    Chunker,
    limit=st.sampled_from([1.0, 3.0, 20.0, 190.0]),
    stretch=st.sampled_from([1.0, 2.0]),
    overlap=st.sampled_from([0, 0, 1]),
)


@settings(max_examples=400, deadline=None)
@given(sources(MARKDOWN), chunkers)
def test_markdown(source: str, chunker: Chunker) -> None:
    document = read(source, MARKDOWN)
    check(document, chunker)
    if document is not None:
        assert document.canonical_text == source.removeprefix("\ufeff").replace("\r\n", "\n").replace(
            "\r", "\n"
        )


@settings(max_examples=200, deadline=None)
@given(
    sources(MARKDOWN),
    st.sampled_from(["---\n{}\n---\n", "---\n{}\n...\n", "---\ntitle: {}\n---\n"]),
    sources(MARKDOWN),
)
def test_markdown_with_front_matter(front: str, frame: str, body: str) -> None:
    check(read(frame.replace("{}", front) + body, MARKDOWN), Chunker())


@settings(max_examples=400, deadline=None)
@given(sources(HTML), chunkers)
def test_html(source: str, chunker: Chunker) -> None:
    check(read(source, HTML), chunker)


@settings(max_examples=200, deadline=None)
@given(sources(PLAIN), chunkers)
def test_plain_text_loses_nothing_but_white_space(source: str, chunker: Chunker) -> None:
    document = read(source, PLAIN)
    check(document, chunker)
    if document is not None:
        text = document.canonical_text
        chunks = chunker.cut("d", "v" * 16, text, document.blocks, "")
        covered = {at for chunk in chunks for at in range(chunk.span.start, chunk.span.end)}
        assert all(char.isspace() for at, char in enumerate(text) if at not in covered)


@pytest.mark.parametrize("media_type", [MARKDOWN, HTML, PLAIN])
@settings(max_examples=100, deadline=None)
@given(raw=st.binary(max_size=120))
def test_any_bytes(media_type: str, raw: bytes) -> None:
    check(read(raw, media_type), Chunker())
