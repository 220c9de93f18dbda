"""Chunks follow structure, and every one is a span of the canonical text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest

from service.domain.documents import Chunk
from service.domain.sources import ParsedDocument
from service.offline.ingest.chunking import Chunker
from tests.unit.offline.material import HTML, PLAIN, check_chunks, parsed


def cut(document: ParsedDocument, **parameters: float) -> list[Chunk]:
    chunks = Chunker(**parameters).cut(  # type: ignore[arg-type]
        "d", "0123456789abcdef", document.canonical_text, document.blocks, document.title
    )
    check_chunks(document.canonical_text, chunks)
    return chunks


def texts(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


def test_blocks_of_one_section_are_one_chunk_while_there_is_room() -> None:
    [chunk] = cut(parsed("# A\n\none.\n\ntwo.\n\n- three\n"))
    assert (chunk.text, chunk.kind, chunk.heading_path) == ("one.\n\ntwo.\n\n- three", "paragraph", ("A",))


@pytest.mark.parametrize("second", ["# B", "## B", "### B"])
def test_a_chunk_never_runs_over_a_heading(second: str) -> None:
    chunks = cut(parsed(f"## A\n\none\n\n{second}\n\ntwo\n"))
    assert texts(chunks) == ["one", "two"]
    assert chunks[0].heading_path == ("A",)
    assert chunks[1].heading_path[-1] == "B"


def test_two_sections_of_the_same_name_stay_apart() -> None:
    """Their heading paths are equal; a heading stands between them all the same."""
    assert texts(cut(parsed("## A\n\none\n\n## A\n\ntwo\n"))) == ["one", "two"]


def test_a_heading_is_a_chunk_only_where_its_section_is_empty() -> None:
    chunks = cut(parsed("# A\n\n## B\n\n## C\n\nc\n\n# D\n"))
    assert [(c.kind, c.text) for c in chunks] == [("heading", "## B"), ("paragraph", "c"), ("heading", "# D")]


def test_a_front_matter_is_never_cut_into_chunks() -> None:
    assert texts(cut(parsed("---\nsecret: x\n---\nbody\n"))) == ["body"]


def test_a_table_is_rows_with_caption_and_head_in_the_search_prefix_only() -> None:
    document = parsed("# P\n\nPrices in CNY:\n\n| model | price |\n|---|---|\n| A1 | 10 |\n| B2 | 20 |\n")
    [caption, table] = cut(document)
    assert caption.text == "Prices in CNY:"
    assert (table.kind, table.text) == ("table", "| A1 | 10 |\n| B2 | 20 |")
    assert table.search_prefix == "Prices in CNY:\n| model | price |"


def test_a_long_table_is_cut_between_rows_each_part_with_the_head() -> None:
    rows = [f"| model-{n} | {n * 10} |" for n in range(40)]
    document = parsed("| model | price |\n|---|---|\n" + "\n".join(rows) + "\n")
    chunks = cut(document, limit=40)
    assert len(chunks) > 5
    assert [row for chunk in chunks for row in chunk.text.split("\n")] == rows
    assert {chunk.search_prefix for chunk in chunks} == {"| model | price |"}


def test_a_table_of_head_alone_is_kept() -> None:
    assert [c.text for c in cut(parsed("| only | head |\n|---|---|\n"))] == ["| only | head |\n|---|---|"]


def test_a_table_without_a_head_is_all_rows() -> None:
    [chunk] = cut(parsed("<table><tr><td>a</td><td>1</td></tr><tr><td>b</td></tr></table>", HTML))
    assert (chunk.text, chunk.search_prefix) == ("a | 1\nb", "")


def test_code_keeps_its_borders_and_its_company_out() -> None:
    chunks = cut(parsed("before\n\n```sh\nls\n\npwd\n```\n\nafter\n"))
    assert [(c.kind, c.text) for c in chunks] == [
        ("paragraph", "before"),
        ("code", "```sh\nls\n\npwd\n```"),
        ("paragraph", "after"),
    ]


def test_code_is_whole_up_to_the_stretch_and_cut_between_lines_beyond() -> None:
    lines = [f"run --option-{n} value" for n in range(20)]
    code = "```\n" + "\n".join(lines) + "\n```"
    size = Chunker().size(code)
    [whole] = cut(parsed(code), limit=size / 2, stretch=2.0)
    assert whole.text == code
    parts = cut(parsed(code), limit=size / 4, stretch=2.0)
    assert len(parts) > 2
    assert [line for part in parts for line in part.text.split("\n")] == code.split("\n")


def test_an_admonition_keeps_its_borders() -> None:
    chunks = cut(parsed("before\n\n> [!WARNING]\n> hot\n\nafter\n"))
    assert [(c.kind, c.text) for c in chunks][1] == ("admonition", "> [!WARNING]\n> hot")


@pytest.mark.parametrize("end", ["。", ". "])
def test_prose_too_long_is_cut_between_sentences(end: str) -> None:
    sentence = ("设备保修两年" if end == "。" else "The warranty of the device lasts two years") + end
    source = (sentence * 30).strip()
    chunks = cut(parsed(source, PLAIN), limit=60)
    assert len(chunks) > 3
    assert {chunk.text[-1] for chunk in chunks} == {end.strip()}
    assert {text.removesuffix(end.strip()) for c in chunks for text in c.text.split(end)} <= {
        sentence[: -len(end)],
        "",
    }
    assert max(Chunker().size(chunk.text) for chunk in chunks) <= 60
    assert "".join(texts(chunks)).replace(" ", "") == source.replace(" ", "")


def test_a_sentence_without_end_is_cut_hard_with_nothing_lost() -> None:
    source = "字" * 1000
    chunks = cut(parsed(source, PLAIN), limit=50)
    assert "".join(texts(chunks)) == source
    assert max(map(len, texts(chunks))) <= 100


def test_a_hard_cut_prefers_white_space() -> None:
    words = [f"word{n}" for n in range(300)]
    chunks = cut(parsed(" ".join(words), PLAIN), limit=40)
    assert [word for chunk in chunks for word in chunk.text.split()] == words


def test_overlap_repeats_the_last_parts() -> None:
    rows = [f"| row {n:02d} |" for n in range(12)]
    source = "| h |\n|---|\n" + "\n".join(rows)
    document = parsed(source)
    chunks = Chunker(limit=16, overlap=1).cut("d", "v" * 12, document.canonical_text, document.blocks, "")
    listed = [chunk.text.split("\n") for chunk in chunks]
    assert all(after[0] == before[-1] for before, after in pairwise(listed))
    assert {row for part in listed for row in part} == set(rows)


def test_pages_are_never_joined() -> None:
    assert [(c.page, c.text) for c in cut(parsed("a\fb\n\nc", PLAIN))] == [(1, "a"), (2, "b\n\nc")]


def test_a_han_character_counts_one_and_others_their_share() -> None:
    assert Chunker(latin=0.5).size("汉字ab") == 3.0
    assert Chunker(latin=0.5).size("") == 0


def test_the_version_names_every_parameter() -> None:
    base = Chunker()
    others = [Chunker(limit=191), Chunker(latin=0.4), Chunker(stretch=3), Chunker(overlap=1)]
    assert len({base.version, *(other.version for other in others)}) == 5
    assert Chunker().version == base.version


RULE = "同一任务最多自动重试三次。"
CONSEQUENCE = "第三次仍失败，消息进入隔离队列，等待修复后受控重放。"


@pytest.mark.parametrize("between", ["", "\n\n", "\n\n- "])
@pytest.mark.parametrize("before", range(12))
def test_a_condition_and_its_consequence_stay_together_wherever_the_limit_falls(
    before: int, between: str
) -> None:
    filler = "设备保修两年。" * before
    chunks = cut(parsed(f"{filler}{RULE}{between}{CONSEQUENCE}" + "此页由值班组维护。" * 9), limit=50)
    assert [RULE in text and CONSEQUENCE in text for text in texts(chunks)].count(True) == 1


def test_what_is_bound_is_parted_only_where_it_does_not_fit() -> None:
    chunks = cut(parsed(f"{RULE}{CONSEQUENCE}"), limit=20)
    assert texts(chunks) == [RULE, CONSEQUENCE]


def test_a_line_that_introduces_a_list_goes_with_its_first_item() -> None:
    source = "检查前先备份，并通知值班组。\n\n满足以下任一条件时重试：\n\n- 网络超时\n- 连接被重置\n"
    assert [text.split("\n")[0] for text in texts(cut(parsed(source), limit=26))] == [
        "检查前先备份，并通知值班组。",
        "满足以下任一条件时重试：",
    ]


def test_a_long_admonition_is_cut_between_sentences_that_do_not_lean() -> None:
    source = "> [!NOTE]\n> " + "设备保修两年。" * 4 + RULE + CONSEQUENCE
    chunks = cut(parsed(source), limit=50, stretch=1.0)
    assert {c.kind for c in chunks} == {"admonition"}
    assert sum(RULE in text and CONSEQUENCE in text for text in texts(chunks)) == 1


@pytest.mark.parametrize("above", ["单位：万元", "表 3 各型号售价", "**表 1** 售价（单位：元）", "Table 2. Prices", "(Unit: CNY)"])  # fmt: skip
def test_title_and_unit_of_a_table_are_searched_with_its_rows(above: str) -> None:
    source = f"正文不属于表格。\n\n{above}\n\n| 型号 | 售价 |\n|---|---|\n| A1 | 10 |\n"
    *_, table = cut(parsed(source))
    assert (table.text, table.search_prefix) == ("| A1 | 10 |", f"{above}\n| 型号 | 售价 |")


def test_title_and_unit_line_are_both_taken_and_prose_is_not() -> None:
    head = "| 型号 | 售价 |\n|---|---|\n| A1 | 10 |\n"
    *_, table = cut(parsed(f"表 1 售价\n\n单位：元\n\n{head}"))
    assert table.search_prefix == "表 1 售价\n单位：元\n| 型号 | 售价 |"
    *_, table = cut(parsed(f"下文按型号列出售价。\n\n{head}"))
    assert table.search_prefix == "| 型号 | 售价 |"


def test_what_overlaps_always_brings_something_new() -> None:
    """A last part that leaves no room for the next one would be repeated alone."""
    source = "短句在此。这一句几乎占满了全部的余地而且很长很长。后一句同样几乎占满了全部的余地也是很长很长。"
    document = parsed(source, PLAIN)
    chunks = Chunker(limit=26, overlap=1).cut("d", "v" * 12, document.canonical_text, document.blocks, "")
    assert not any(a.text in b.text for a in chunks for b in chunks if a is not b)


def test_a_new_paragraph_changes_its_own_section_only() -> None:
    def sections(extra: str) -> str:
        return "\n\n".join(
            f"## S{n}\n\n" + "\n\n".join(f"第 {n}.{k} 段说明设备的保修期限。" for k in range(9)) + (extra if n == 4 else "")
            for n in range(9)
        )  # fmt: skip

    before, after = (texts(cut(parsed(sections(extra)), limit=40)) for extra in ("", "\n\n新增的一段。"))
    changed = {*before} ^ {*after}
    assert changed
    assert all("第 4." in text or "新增" in text for text in changed)
