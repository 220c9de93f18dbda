"""Markdown: the canonical text is the source; blocks are spans of it."""

from __future__ import annotations

import pytest

from service.domain.sources import SourceItem
from service.errors import SourceUnreadable
from service.offline.ingest.parsing import READERS, document_version, parse
from tests.unit.offline.material import check_blocks, only, parsed, shown


def test_the_canonical_text_is_the_source_to_the_character() -> None:
    source = "---\ntitle: T\n---\n# A\n\ntext  \n\n\n* x\n"
    assert parsed(source).canonical_text == source


def test_headings_of_both_kinds_make_the_path() -> None:
    document = parsed(
        "# One #\n\na\n\n## Two {#anchor}\n\nb\n\n### 三 `code`\n\nc\n\nOther\n=====\n\nd\n\nLow\n---\n\ne\n"
    )
    paths = {
        text: b.heading_path
        for b in document.blocks
        if b.kind == "paragraph"
        for text in [b.span.of(document.canonical_text)]
    }
    assert paths == {
        "a": ("One",),
        "b": ("One", "Two"),
        "c": ("One", "Two", "三 `code`"),
        "d": ("Other",),
        "e": ("Other", "Low"),
    }
    assert [b.level for b in document.blocks if b.kind == "heading"] == [1, 2, 3, 1, 2]
    assert document.title == "One"


def test_a_heading_does_not_stand_above_itself() -> None:
    document = parsed("# One\n\n## Two\n\n## Three\n")
    assert [b.heading_path for b in document.blocks] == [(), ("One",), ("One",)]


def test_a_skipped_level_closes_with_its_parent() -> None:
    document = parsed("# A\n\n### B\n\nb\n\n## C\n\nc\n")
    assert [b.heading_path for b in document.blocks if b.kind == "paragraph"] == [("A", "B"), ("A", "C")]


def test_the_title_is_the_front_matter_s_then_the_first_heading_of_level_one() -> None:
    assert parsed("---\ntitle: 手册\n---\n# Other\n\nx\n").title == "手册"
    assert parsed("## Low\n\n# High\n\n# Higher\n").title == "High"
    assert parsed("## Low\n\nx\n").title == ""


def test_a_table_has_head_rows_and_a_caption() -> None:
    document = parsed(
        "# P\n\nPrices in CNY:\n\n| model | price |\n|:---|---:|\n| A\\|1 | 10 |\n| B2 | 20 |\n\nafter\n"
    )
    table, text = only(document, "table"), document.canonical_text
    assert table.head is not None and table.caption is not None
    assert table.head.of(text) == "| model | price |"
    assert [row.of(text) for row in table.parts] == ["| A\\|1 | 10 |", "| B2 | 20 |"]
    assert table.caption.of(text) == "Prices in CNY:"
    assert table.heading_path == ("P",)


def test_a_paragraph_before_a_table_is_its_caption_only_with_a_colon() -> None:
    table = "| a |\n|---|\n| 1 |\n"
    assert only(parsed(f"Some text.\n\n{table}"), "table").caption is None
    assert only(parsed(f"单位：元：\n\n{table}"), "table").caption is not None
    assert only(parsed(f"# Heading:\n\n{table}"), "table").caption is None


def test_pipes_in_code_are_no_table() -> None:
    assert shown(parsed("```\n| a |\n|---|\n| 1 |\n```\n")) == [("code", "```\n| a |\n|---|\n| 1 |\n```")]


def test_code_keeps_its_fences_its_language_and_what_looks_like_a_heading() -> None:
    source = "# T\n\n```python\n# not a heading\n\nx = 1\n```\n\n    indented\n"
    document = parsed(source)
    assert shown(document)[1:] == [("code", "```python\n# not a heading\n\nx = 1\n```"), ("code", "indented")]
    assert [b.language for b in document.blocks if b.kind == "code"] == ["python", None]


def test_an_open_fence_runs_to_the_end() -> None:
    assert shown(parsed("a\n\n```sh\nls\n\n# x\n")) == [("paragraph", "a"), ("code", "```sh\nls\n\n# x")]


def test_list_items_are_blocks_with_their_depth_and_marker() -> None:
    document = parsed("- one\n  more\n- two\n  - inner\n\n    second\n\n1. first\n2. second\n")
    assert [(b.level, b.span.of(document.canonical_text)) for b in document.blocks] == [
        (1, "- one\n  more"),
        (1, "- two"),
        (2, "- inner"),
        (2, "second"),
        (1, "1. first"),
        (1, "2. second"),
    ]
    assert {b.kind for b in document.blocks} == {"list_item"}


def test_code_and_tables_inside_a_list_keep_their_kind() -> None:
    document = parsed("- step\n\n  ```sh\n  run\n  ```\n\n  | a |\n  |---|\n  | 1 |\n")
    assert [kind for kind, _ in shown(document)] == ["list_item", "code", "table"]
    table = only(document, "table")
    assert table.head is not None and table.head.of(document.canonical_text) == "| a |"


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("> [!NOTE]\n> careful", "note"),
        ("> [!Warning]\n> careful", "warning"),
        ("> **注意**\n> 小心", "注意"),
        ("> **警告：**\n> 小心", "警告"),
        ("> Tip:\n> try", "tip"),
        ("::: danger\nhot\n:::", "danger"),
        ('!!! warning "Mind"\n    hot', "warning"),
        ('!!! warning "Mind"\n\n    hot\n\n    and cold', "warning"),
        ("??? Tip\n    try", "tip"),
        ("???+ note\n\n    try\n      again", "note"),
    ],
)
def test_admonitions(source: str, name: str) -> None:
    document = parsed(f"before\n\n{source}\n\nafter\n")
    found = only(document, "admonition")
    assert found.span.of(document.canonical_text) == source
    assert found.language == name


def test_what_is_not_indented_is_no_part_of_a_note() -> None:
    document = parsed("!!! note\n    careful\n\n```sh\nrun\n```\n\n!!!\n")
    assert [kind for kind, _ in shown(document)] == ["admonition", "code", "paragraph"]


def test_a_quote_is_no_admonition() -> None:
    assert shown(parsed("> Note that this is said.\n> And this.\n")) == [
        ("quote", "> Note that this is said.\n> And this.")
    ]


def test_html_inside_is_kept_where_it_says_something() -> None:
    document = parsed(
        '<div align="center">\n\n<p>Text <b>bold</b></p>\n\n<!-- a comment -->\n\n<br/>\n\nend <kbd>x</kbd>\n'
    )
    assert shown(document) == [("paragraph", "<p>Text <b>bold</b></p>"), ("paragraph", "end <kbd>x</kbd>")]


def test_footnotes() -> None:
    document = parsed("Text[^1].\n\n[^1]: The note.\n")
    assert shown(document) == [("paragraph", "Text[^1]."), ("footnote", "[^1]: The note.")]


# ── front matter ────────────────────────────────────────────────────────────────────────────────────────


def test_front_matter_is_metadata_and_not_text() -> None:
    source = '---\nid: handbook/pay\ntitle: "Pay: 2026"\nlocale: en\naccess:\n  allow: ["group:hr"]\n# comment\n---\n# Pay\n\nx\n'
    document = parsed(source)
    assert document.front_matter["access"] == {"allow": ["group:hr"]}
    assert (document.document_id, document.title, document.locale) == ("handbook/pay", "Pay: 2026", "en")
    assert [kind for kind, _ in shown(document)] == ["metadata", "heading", "paragraph"]
    check_blocks(document.canonical_text, document.blocks)


@pytest.mark.parametrize(("text", "warned"), [("---\ntitle: A\n---\n", 1), ("<!-- a -->\n", 1), ("# A\n", 0)])
def test_a_page_of_which_nothing_is_searched_is_told_of(text: str, warned: int) -> None:
    item = SourceItem("a.md", text.encode(), "text/markdown", "a.md")
    assert ["nothing of it is searched" in warning for warning in parse(item).warnings] == [True] * warned


def test_a_rule_later_in_the_text_is_no_front_matter() -> None:
    document = parsed("a\n\n---\naccess: 1\n---\n\nb\n")
    assert document.front_matter == {}
    assert "metadata" not in [kind for kind, _ in shown(document)]


@pytest.mark.parametrize(
    "yaml",
    [
        "a: [",
        "a: b: c",
        "\tx: 1",
        "date: 2024-13-45",
        "a: !!int ''",
        "a: !!float x",
        "a: !!bool x",
        "a: !!timestamp x",
        "a: !!python/object:os.system x",
        "n: " + "9" * 5000,
        "? [a]\n: b",
        "a: " + "[" * 5000,
        "- just\n- a list",
        "text",
        "a: *unknown",
    ],
    ids=lambda value: value[:24],
)
def test_front_matter_that_cannot_be_read_is_left_aside(yaml: str) -> None:
    document = parsed(f"---\n{yaml}\n---\nhello\n")
    assert document.front_matter == {}
    assert shown(document)[-1] == ("paragraph", "hello")


@pytest.mark.parametrize("value", ["[1, 2]", "{a: b}", "null", '""', "2024-01-01", "7", '"x\\ud800"'])
def test_a_title_of_any_yaml_type_gives_a_storable_string(value: str) -> None:
    document = parsed(f"---\ntitle: {value}\n---\n# Heading\n")
    document.title.encode("utf-8")
    assert not document.title.startswith(("[", "{"))


def test_a_bomb_of_aliases_does_not_become_a_title() -> None:
    levels = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 9))
    document = parsed(f"---\nl0: &l0 [x]\n{levels}\ntitle: *l8\n---\n# Heading\n")
    assert document.title == "Heading"


# ── the limits ──────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "attack",
    [">" * 5000 + " x", "- " * 5000 + "x", "\n".join("  " * n + "- x" for n in range(300)), "[" * 20_000, "*" * 20_000,
     "#" * 5000 + " x", "`" * 9999 + "x", "|" * 5000 + "\n" + "|-" * 5000, "<div>" * 5000 + "x"],
    ids=lambda value: value[:8],
)  # fmt: skip
def test_attacks_on_the_parser_are_read_quickly_with_nothing_lost(attack: str) -> None:
    document = parsed(f"# Before\n\n{attack}\n\nafter\n")
    check_blocks(document.canonical_text, document.blocks)
    assert any("after" in text for _, text in shown(document))


@pytest.mark.parametrize("source", ["", " \n\t\n", "\ufeff"])
def test_a_document_without_text_is_refused(source: str) -> None:
    with pytest.raises(SourceUnreadable, match="no text"):
        parsed(source)


def test_the_version_is_of_the_bytes_not_of_the_name() -> None:
    one = parse(SourceItem("a", b"x", "text/markdown", "a"))
    two = parse(SourceItem("b", b"x", "text/markdown", "b"))
    other = parse(SourceItem("a", b"x\r\n", "text/markdown", "a"))
    assert one.version == two.version == document_version(b"x", READERS["text/markdown"].form)
    assert other.version != one.version
    assert one.version.startswith(one.raw_sha256)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(SourceUnreadable, match="video/mp4"):
        parse(SourceItem("a", b"x", "video/mp4", "a"))
