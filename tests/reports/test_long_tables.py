"""Every chunk of a long table is searched with its head, and cited without it (report 9)."""

from __future__ import annotations

import io
from collections.abc import Callable

import openpyxl
import pytest

from service.domain.documents import Chunk
from service.domain.sources import SourceItem
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.parsing import parse
from tests.fakes.pdf_writer import PdfPage, pdf
from tests.reports.conftest import Ask
from tests.unit.offline.material import HTML, MARKDOWN
from tests.unit.offline.office import EXCEL, WORD, docx_of, p, table

HEAD = ("型号", "电压(V)", "电流(A)")
ROWS = [(f"X-{n}", "24" if n == 77 else "12", "7" if n == 77 else "3") for n in range(1, 81)]


def line(cells: tuple[str, ...]) -> str:
    return " | ".join(cells)


def markdown(rows: list[tuple[str, ...]]) -> str:
    return "".join(f"| {line(row)} |\n" for row in [HEAD, ("---",) * 3, *rows])


def html() -> bytes:
    rows = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in ROWS)
    heads = "".join(f"<th>{cell}</th>" for cell in HEAD)
    return f"<h1>规格</h1><table><thead><tr>{heads}</tr></thead>{rows}</table>".encode()


def sheet() -> bytes:
    made, buffer = openpyxl.Workbook(), io.BytesIO()
    for row in (HEAD, *ROWS):
        made.active.append([int(cell) if cell.isdigit() else cell for cell in row])
    made.save(buffer)
    return buffer.getvalue()


def pages(*, repeated: bool) -> bytes:
    """A ruled table over three pages; its head stands on the first only, or on each."""
    xs, made = [72, 200, 330, 460], []
    for start in range(0, 80, 30):
        rows = [*([HEAD] if repeated or not start else []), *ROWS[start : start + 30]]
        page = PdfPage().grid(xs, [760 - 22 * n for n in range(len(rows) + 1)])
        for n, row in enumerate(rows):
            for x, cell in zip(xs, row, strict=False):
                page.text(x + 4, 745 - 22 * n, cell)
        made.append(page.text(280, 30, f"# {start // 30 + 1}"))
    return pdf(made)


def cut(content: bytes, media_type: str) -> tuple[str, list[Chunk]]:
    document = parse(SourceItem("d", content, media_type, "d"))
    text = document.canonical_text
    chunks = Chunker().cut("d", "0123456789abcdef", text, document.blocks, "")
    return text, [chunk for chunk in chunks if chunk.kind == "table"]


FORMATS = {
    "markdown": (f"# 规格\n\n{markdown(list(ROWS))}".encode(), MARKDOWN),
    "html": (html(), HTML),
    "docx": (docx_of(p("规格") + table(list(HEAD), *(list(row) for row in ROWS))), WORD),
    "xlsx": (sheet(), EXCEL),
    "pdf": (pages(repeated=False), "application/pdf"),
    "pdf, head on each page": (pages(repeated=True), "application/pdf"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_each_chunk_is_searched_with_the_head_and_is_raw_rows(name: str) -> None:
    text, chunks = cut(*FORMATS[name])
    assert len(chunks) > 2
    for chunk in chunks:
        assert [cell in chunk.search_prefix for cell in HEAD] == [True] * 3, chunk
        assert chunk.text == chunk.span.of(text) and HEAD[0] not in chunk.text
    rows = [row.strip("| ") for chunk in chunks for row in chunk.text.split("\n")]
    assert rows == [line(row) for row in ROWS]
    [own] = [chunk for chunk in chunks if "X-77 " in chunk.text]
    at = text.index("X-77 ")
    assert own.span.start <= at < own.span.end


BREAKERS = {
    "a fence with # above": "```sh\n# 型号 | 电压\n| a | b |\n```\n\n{}",
    "a fence with # below": "{}\n```sh\n# 型号\n```\n",
    "# in a cell": "{}",
    "a fence in a list": "- 步骤\n\n  ```\n  # note\n  ```\n\n{}",
}


@pytest.mark.parametrize("name", BREAKERS)
def test_a_number_sign_breaks_no_table_apart(name: str) -> None:
    rows: list[tuple[str, ...]] = [
        (f"# {one}" if name == "# in a cell" else one, *others) for one, *others in ROWS
    ]
    _, chunks = cut(f"# 规格\n\n{BREAKERS[name].format(markdown(rows))}".encode(), MARKDOWN)
    assert [row.strip("| ") for c in chunks for row in c.text.split("\n")] == [line(row) for row in rows]
    assert {(c.heading_path, c.search_prefix) for c in chunks} == {(("规格",), f"| {line(HEAD)} |")}


def test_the_value_is_that_of_the_row_and_column(asking: Callable[[dict[str, str | bytes]], Ask]) -> None:
    source = f"# 规格\n\n{markdown(list(ROWS))}"
    answer = asking({"spec.md": source})("X-77 的电流是多少")
    citations = [citation for claim in answer.claims for citation in claim.citations]
    assert citations, (answer.reason, answer.gap)
    for citation in citations:
        assert citation.quote == citation.span.of(source)
        assert citation.quote.strip("| ") == "X-77 | 24 | 7"
    assert source.index("| X-77 ") in {citation.span.start for citation in citations}
