"""HTML: the canonical text is the layout of what a reader sees; blocks are spans of it."""

from __future__ import annotations

import pytest

from service.domain.sources import ParsedDocument
from service.errors import SourceUnreadable
from tests.unit.offline.material import HTML, check_blocks, only, parsed, shown


def page(body: str, head: str = "") -> ParsedDocument:
    document = parsed(f"<!doctype html><html><head>{head}</head><body>{body}</body></html>", HTML)
    check_blocks(document.canonical_text, document.blocks)
    return document


def test_the_layout_is_one_block_after_another() -> None:
    document = page("<h1>T</h1><p>one\n  two</p><div>three<p>four</p>five</div>")
    assert document.canonical_text == "T\n\none two\n\nthree\n\nfour\n\nfive"
    assert [kind for kind, _ in shown(document)] == ["heading"] + ["paragraph"] * 4


def test_entities_are_decoded_once() -> None:
    document = page("<p>a &lt;b&gt; &amp;amp; &#x4e2d;&#25991; &eacute;&nbsp;&hellip; 5&nbsp;mm AT&T</p>")
    assert document.canonical_text == "a <b> &amp; 中文 é … 5 mm AT&T"


def test_half_a_surrogate_pair_as_an_entity_is_storable() -> None:
    page("<p>x &#xD800; &#0; y</p>").canonical_text.encode("utf-8")


@pytest.mark.parametrize(
    "hidden",
    ["script", "style", "noscript", "template", "nav", "iframe", "object", "form", "button"],
)
def test_what_is_not_read_is_dropped(hidden: str) -> None:
    document = page(f"<p>before</p><{hidden}>HIDDEN<p>HIDDEN</p></{hidden}><p>after</p>")
    assert document.canonical_text == "before\n\nafter"


def test_pictures_are_dropped_with_the_words_in_them() -> None:
    assert (
        page("<p>a</p><svg><title>HIDDEN</title><text>HIDDEN</text></svg><p>b</p>").canonical_text == "a\n\nb"
    )


def test_a_script_inside_a_sentence_leaves_no_trace() -> None:
    assert page("<p>a<script>if (1 < 2) alert('<p>x</p>')</script>b<!-- c --></p>").canonical_text == "ab"


def test_frames_of_the_page_are_dropped_outside_the_main_content_only() -> None:
    bare = page("<header>site</header><p>x</p><aside>ad</aside><footer>legal</footer>")
    assert bare.canonical_text == "x"
    main = page(
        "<header>site</header><main><header>Chapter</header><p>x</p><footer>Sources</footer></main><p>out</p>"
    )
    assert main.canonical_text == "Chapter\n\nx\n\nSources"


def test_headings_make_the_path_and_the_title() -> None:
    document = page(
        "<h2>Low</h2><p>a</p><h1>One <em>two</em>\n</h1><p>b</p><h3>Deep</h3><p>c</p><h2>Mid</h2><p>d</p>",
        "<title>Site</title>",
    )
    paths = [b.heading_path for b in document.blocks if b.kind == "paragraph"]
    assert paths == [("Low",), ("One two",), ("One two", "Deep"), ("One two", "Mid")]
    assert [b.level for b in document.blocks if b.kind == "heading"] == [2, 1, 3, 2]
    assert document.title == "One two"


def test_without_a_heading_of_level_one_the_title_is_the_page_s() -> None:
    assert page("<p>x</p>", "<title> The\n &amp; title </title>").title == "The & title"


def test_a_table_has_rows_head_and_caption() -> None:
    document = page(
        "<table><caption>Prices in <b>CNY</b></caption><thead><tr><th>model</th><th>price</th></tr></thead>"
        "<tbody><tr><td>A1</td><td>10</td></tr><tr><th>B2</th><td>20\n30</td></tr></tbody></table>"
    )
    table, text = only(document, "table"), document.canonical_text
    assert table.span.of(text) == "model | price\nA1 | 10\nB2 | 20 30"
    assert table.head is not None and table.head.of(text) == "model | price"
    assert [row.of(text) for row in table.parts] == ["A1 | 10", "B2 | 20 30"]
    assert table.caption is not None and table.caption.of(text) == "Prices in CNY"


def test_a_table_without_head_cells_has_no_head() -> None:
    table = only(page("<table><tr><td>a</td></tr><tr><td>b</td></tr></table>"), "table")
    assert table.head is None and len(table.parts) == 2


def test_merged_cells_count_for_each_column() -> None:
    document = page(
        "<table><tr><th>a</th><th>b</th></tr><tr><td colspan=2>x</td></tr><tr><td colspan='-1'>y</td><td>z</td></tr></table>"
    )
    assert document.canonical_text == "a | b\nx | x\ny | z"
    assert len(page(f"<table><tr><td colspan={'9' * 5000}>x</td></tr></table>").canonical_text) < 500


def test_a_table_in_a_cell_stays_in_its_cell() -> None:
    document = page("<table><tr><td>a<table><tr><td>b</td></tr></table></td><td>c</td></tr></table>")
    assert only(document, "table").span.of(document.canonical_text) == "ab | c"


def test_an_empty_table_is_nothing() -> None:
    assert page("<table><tr><td> </td></tr></table><p>x</p>").canonical_text == "x"
    assert page("<table><tr><td colspan=3></td></tr></table><p>x</p>").canonical_text == "x"


def test_pre_keeps_its_lines_and_spaces() -> None:
    document = page("<p>x</p><pre><code class='sh'>\n  a &lt; b\n\n    c\n</code></pre><p>y</p>")
    assert shown(document) == [("paragraph", "x"), ("code", "  a < b\n\n    c"), ("paragraph", "y")]


def test_lists_and_quotes() -> None:
    document = page(
        "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><dl><dt>d</dt><dd>e</dd></dl><blockquote>f</blockquote>"
    )
    assert shown(document) == [*[("list_item", x) for x in "abcde"], ("quote", "f")]


def test_a_paragraph_in_an_item_or_a_quote_is_of_its_kind() -> None:
    document = page("<ul><li><p>a</p><p>b</p></li></ul><blockquote><p>c</p></blockquote><p>d</p>")
    assert shown(document) == [("list_item", "a"), ("list_item", "b"), ("quote", "c"), ("paragraph", "d")]


def test_broken_markup_is_read_like_a_browser_does() -> None:
    assert page("<p>a<p>b<b>c</p>d<li>e<td>f").canonical_text.split() == ["a", "bc", "d", "ef"]
    assert parsed("just text", HTML).canonical_text == "just text"


def test_a_page_without_text_is_refused() -> None:
    with pytest.raises(SourceUnreadable, match="no text"):
        page("<script>x</script><!-- y --><img src=x>")


@pytest.mark.parametrize("tag", ["div", "b", "table><tr><td", "ul><li", "blockquote"])
def test_deep_nesting_is_read_with_nothing_lost(tag: str) -> None:
    document = page(f"<p>before</p>{f'<{tag}>' * 2000}deep")
    assert document.canonical_text.startswith("before")
    assert "deep" in document.canonical_text


def linked(document: ParsedDocument) -> list[tuple[str, str]]:
    """(words, where they lead) of every link."""
    text = document.canonical_text
    return [(link.span.of(text), link.href) for block in document.blocks for link in block.links]


def test_links_are_kept_with_the_words_that_carry_them() -> None:
    document = page(
        "<h2>See <a href='a.html'>chapter <em>one</em></a></h2><p>x\n <a href=' b.html#s '>\n the <b>next</b>  page </a>, y"
        "<ul><li><a href='c.html'><p>one</p><p>two</p></a></li></ul>"
        "<table><caption><a href='d.html'>Prices</a></caption><tr><th colspan=2>h <a href='e.html'>e</a></th></tr>"
        "<tr><td>1</td><td>f <a href='f.html'>g <i>h</i></a></td></tr></table>"
    )
    assert linked(document) == [
        ("chapter one", "a.html"),
        ("the next page", "b.html#s"),
        ("one", "c.html"),
        ("two", "c.html"),
        ("Prices", "d.html"),
        ("e", "e.html"),
        ("g h", "f.html"),
    ]


def test_two_links_side_by_side_stay_two() -> None:
    assert linked(page("<p><a href=a>x</a><a href=b>y</a> <a href=c> z</a></p>")) == [
        ("x", "a"), ("y", "b"), ("z", "c"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "written",
    [
        "<a href=''>x</a>", "<a>x</a>", "<a name='b.html'>x</a>", "<a href=b.html></a>x", "<a href=b.html><img alt=y></a>x",
        "<a href=' JavaScript:go()'>x</a>", "<a href='data:text/plain,x'>x</a>", f"<a href='{'b' * 3000}'>x</a>",
        "x<nav><a href=b.html>y</a></nav>", "<link href=b.html>x",
    ],
)  # fmt: skip
def test_what_leads_nowhere_or_is_not_shown_is_no_link(written: str) -> None:
    document = page(f"<div>{written}</div>")
    assert (document.canonical_text, linked(document)) == ("x", [])


def test_ids_name_the_block_they_stand_in_or_that_follows() -> None:
    document = page(
        "<div id=top1><a id=one name=uno></a></div><h1 id=two>T<a name=three></a></h1><p>a <b id=four>b</b></p>"
        "<table id=five><tr id=six><td id=seven>c</td></tr></table><pre id=eight>d</pre><a id=end></a>"
    )
    assert [block.ids for block in document.blocks] == [
        ("top1", "one", "uno", "two", "three"), ("four",), ("five", "six", "seven"), ("eight", "end"),
    ]  # fmt: skip


def test_links_in_preformatted_text_keep_their_place() -> None:
    document = parsed(
        '<pre>\n\nrun <a href="a.html">first\nsecond </a>x\n<a href="b.html"> </a></pre><p>end</p>', HTML
    )
    assert document.canonical_text.startswith("run first\nsecond x\n ")
    assert linked(document) == [("first\nsecond", "a.html")]


@pytest.mark.parametrize(
    ("base", "href", "leads"),
    [
        ("https://a.example/zh/", "x.html", "https://a.example/zh/x.html"),
        ("https://a.example/zh/page", "/x.html#y", "https://a.example/x.html#y"),
        ("../guide/", "x.html", "../guide/x.html"),
        ("../guide/", "#here", "#here"),
        ("", "x.html", "x.html"),
        ("javascript:1", "x.html", "x.html"),
        ("https://a.example/", "mailto:a@b.example", "mailto:a@b.example"),
        ("https://[half", "x.html", "x.html"),
    ],
)
def test_links_start_from_where_the_page_says(base: str, href: str, leads: str) -> None:
    page = f'<head><base target="_blank"><base href="{base}"></head><p><a href="{href}">w</a><table><tr><td><a href="{href}">v</a></table>'
    assert linked(parsed(page, HTML)) == [("w", leads), ("v", leads)]
