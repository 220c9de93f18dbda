"""Links are looked up among the documents of the build, and told as what they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.domain.documents import ArchivedDocument, Chunk, Link, LinkState
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.links import linked, tally
from tests.unit.offline.material import HTML, MARKDOWN, PLAIN, parsed

TARGET = '# 备份 与 恢复\n\n正文。\n\n## BR v7.5: Full backup\n\n表 3 周期\n\n| a |\n|---|\n| b |\n\n## BR v7.5: Full backup\n\n<a id="Own"></a> 另有 {#custom}\n\n### `set \\<option> [a | b]` **粗**\n'


def linked_from(
    source: str,
    others: Mapping[str, str] | None = None,
    media_type: str = MARKDOWN,
    name: str = "guide/start.md",
) -> list[Link]:
    """Links of all chunks of one document, in order."""
    others = {"guide/backup.md": TARGET, "index.md": "首页", "plain-id": "# P"} if others is None else others
    texts = {name: source} | others
    documents = []
    for document_id, text in texts.items():
        own_type = HTML if document_id.endswith(".html") else MARKDOWN
        own_type = media_type if document_id == name else own_type
        read = parsed(text, own_type)
        url = "https://docs.example.org/zh/backup/" if document_id == "guide/backup.md" else ""
        archived = ArchivedDocument(
            document_id, f"v-{document_id}", "", read.canonical_text, "",
            own_type, "", "", "zh", url, read.blocks, "",
        )  # fmt: skip
        chunks: list[Chunk] = Chunker().cut(document_id, "v", read.canonical_text, read.blocks, "")
        documents.append((archived, chunks))
    return [link for chunk in linked(documents)[0] for link in chunk.links]


@pytest.mark.parametrize(
    "written",
    [
        "[备份](backup.md)", "[备份](./backup.md)", "[备份](/guide/backup.md)", "[备份](../guide/backup)", "[b](backup.html)",
        "[b](<backup.md>)", '[b](backup.md "标题")', "[b][ref]\n\n[ref]: backup.md", "[Ref]\n\n[ref]: <backup.md> 'x'",
        '<a class="x" href="backup.md">b</a>', "[![图](x.png)](backup.md)", "https://docs.example.org/zh/backup。",
        "[b](https://DOCS.example.org/zh/backup/)", "<https://docs.example.org/zh/backup>", "[b](guide%2Fbackup.md)",
    ],
)  # fmt: skip
def test_every_way_to_name_a_document(written: str) -> None:
    assert linked_from(f"见 {written}") == [Link("guide/backup.md", "v-guide/backup.md", "", "resolved")]


@pytest.mark.parametrize("written", ["[p](plain-id.md)", "[p](../plain-id.md)", "[p](deep/er/plain-id.md)"])
def test_a_document_with_an_id_of_its_own_is_found_by_its_file_name(written: str) -> None:
    assert linked_from(written) == [Link("plain-id", "v-plain-id", "", "resolved")]


@pytest.mark.parametrize(
    ("anchor", "state"),
    [
        ("备份-与-恢复", "resolved"), ("br-v75-full-backup", "resolved"), ("br-v75-full-backup-1", "resolved"),
        ("%E5%A4%87%E4%BB%BD-%E4%B8%8E-%E6%81%A2%E5%A4%8D", "resolved"), ("own", "resolved"), ("custom", "resolved"), ("set-option-a--b-粗", "resolved"),
        ("br-v75-full-backup-2", "stale"), ("gone", "stale"),
    ],
)  # fmt: skip
def test_anchors_are_headings_or_given(anchor: str, state: str) -> None:
    [link] = linked_from(f"[b](backup.md#{anchor})")
    assert (link.target, link.state) == ("guide/backup.md", state)


def test_what_leads_nowhere_or_out_is_told() -> None:
    source = "[a](missing.md) [b](https://other.org/x#y) [c](mailto:x@y.z) [d](script.sh) [e](other/backup.md) [f](#nothing)"
    assert [(link.target, link.state) for link in linked_from(source)] == [
        ("missing.md", "broken"),
        ("https://other.org/x#y", "outside"),
        ("mailto:x@y.z", "outside"),
        ("script.sh", "outside"),
        ("other/backup.md", "broken"),
        ("guide/start.md", "stale"),
    ]


def test_images_and_code_are_no_links() -> None:
    assert linked_from("![图](backup.md) `[x](backup.md)`\n\n```\n[x](backup.md)\n```\n") == []


def test_footnotes_and_tables_are_references_within_the_document() -> None:
    source = "正文[^1]，另见[^2]，如表 2 所示，参见表 9。\n\n表 2 周期\n\n| a |\n|---|\n| b |\n\n[^1]: 注。\n"
    own = ("guide/start.md", "v-guide/start.md")
    assert linked_from(source) == [
        Link(*own, "[^1]", "resolved"),
        Link(*own, "[^2]", "broken"),
        Link(*own, "table 2", "resolved"),
        Link(*own, "table 9", "broken"),
    ]
    assert linked_from("Table 1. Limits\n\nAs listed in Table 1 and see table 4.", {}, PLAIN) == [
        Link(*own, "table 1", "resolved"),
        Link(*own, "table 4", "broken"),
    ]


def test_the_same_link_is_told_once_and_states_are_counted() -> None:
    documents = linked_from("[a](backup.md) [b](backup.md) [c](missing.md)")
    assert len(documents) == 2
    chunk = Chunker().cut("d", "v", "x", parsed("x").blocks, "")[0]
    assert tally([[replace(chunk, links=tuple(documents))]]) == {
        "linksResolved": 1.0,
        "linksStale": 0.0,
        "linksBroken": 1.0,
        "linksOutside": 0.0,
    }


# A guide in three pages as site generators write them, with the frame they put around each.
FRAME = "<html><body><nav><a href='index.html'>Home</a></nav><div class='chapter'>{}</div></body></html>"
CHAPTER = FRAME.format(
    "<h1><a id='_start'></a>1. Start</h1><p>See <a class='link' href='ch02.html#_backup' title='2'>“Backup”</a>, "
    "<a href='ch02.html'>chapter 2</a>, <a href='./index.html'>the contents</a> and <a href='#_start'>above</a>.</p>"
    "<table><tr><th>topic</th><th>more</th></tr><tr><td>restore</td><td><a href='ch02.html#_restore'>there</a></td></tr>"
    "<tr><td>sales</td><td><a href='ch09.html'>gone</a>, <a href='ch02.html#_sales'>old</a></td></tr></table>"
    "<ul><li><a href='https://docs.example.org/x/'>elsewhere</a></li><li><a href='mailto:a@b.example'>mail</a></li>"
    "<li><a href='#top'>up</a></li></ul>"
)
PAGES = {
    "ch02.html": FRAME.format("<h1>2.</h1><h2 id='_backup'>Backup</h2><p>x</p><dl><dt><a name='_Restore'></a>Restore</dt></dl>"),
    "index.html": FRAME.format("<p><a href='ch01.html'>1</a></p>"),
}  # fmt: skip


def test_links_of_html_are_resolved_like_others() -> None:
    def at(target: str, anchor: str = "", state: LinkState = "resolved") -> Link:
        return Link(target, None if state in ("broken", "outside") else f"v-{target}", anchor, state)

    assert linked_from(CHAPTER, PAGES, HTML, "ch01.html") == [
        at("ch02.html", "_backup"),
        at("ch02.html"),
        at("index.html"),
        at("ch01.html", "_start"),
        at("ch02.html", "_restore"),
        at("ch09.html", state="broken"),
        at("ch02.html", "_sales", "stale"),
        at("https://docs.example.org/x/", state="outside"),
        at("mailto:a@b.example", state="outside"),
        at("ch01.html", "top"),
    ]


@pytest.mark.parametrize("limit", [1.0, 5.0, 190.0])
def test_each_link_of_html_is_of_the_chunk_that_has_its_first_word(limit: float) -> None:
    body = "".join(f"<p>See <a href='p{n}.html'>page {n}</a>. More of it.</p>" for n in range(30))
    document = parsed(body, HTML)
    archived = ArchivedDocument("d", "v", "", document.canonical_text, "", HTML, "", "", "en", "", document.blocks, "")  # fmt: skip
    chunks = Chunker(limit=limit).cut("d", "v", document.canonical_text, document.blocks, "")
    found = [(link.target, chunk.span) for chunk in linked([(archived, chunks)])[0] for link in chunk.links]
    words = [link.span for block in document.blocks for link in block.links]
    assert [target for target, _ in found] == [f"p{n}.html" for n in range(30)]
    assert all(own.start <= word.start < own.end for word, (_, own) in zip(words, found, strict=True))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(["[", "]", "(", ")", "](", "!", "a", "/", "..", "#", "%", "%FF", "`", "<a href='", "'", ">", "[^1]", "]:", "https://", "//", ":", "表 1", "见", "\n", " ", "backup.md", "?"]), max_size=30).map("".join))  # fmt: skip
def test_no_text_breaks_it(source: str) -> None:
    if source.strip():
        for link in linked_from("x " + source):
            assert link.state in ("resolved", "stale", "broken", "outside")
            assert (link.version is None) == (
                link.state == "outside" or (link.state == "broken" and link.target != "guide/start.md")
            )


@pytest.mark.parametrize(
    ("source", "media_type"),
    [
        ("说明 [见表 9](backup.md)。", MARKDOWN),
        ("as told [in **table 9** of that](backup.md)", MARKDOWN),
        ('<p>see <a href="backup.md">table 9</a></p>', HTML),
    ],
)
def test_a_table_named_by_a_link_is_where_the_link_leads(source: str, media_type: str) -> None:
    assert linked_from(source, media_type=media_type) == [
        Link("guide/backup.md", "v-guide/backup.md", "", "resolved")
    ]
    assert [link.state for link in linked_from(source + "，见表 9", media_type=media_type)] == [
        "resolved", "broken",
    ]  # fmt: skip


def test_of_code_only_what_the_file_links() -> None:
    page = '<pre>see table 9, https://x.example/ and <a href="backup.md">that</a></pre>'
    assert [link.target for link in linked_from(page, media_type=HTML)] == ["guide/backup.md"]
