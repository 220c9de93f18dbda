"""Offsets are into the text as it was read, whatever a normal form would make of its characters (report 8), and
whatever text stands there twice (langchain#21475)."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.bootstrap import Services
from service.offline.ingest.chunking import Chunker
from service.text.anchors import find_anchors
from service.text.folding import fold
from service.text.sentences import sentences
from service.text.spans import sha256_text
from tests.reports.conftest import READER, Ask
from tests.unit.offline.material import HTML, MARKDOWN, PLAIN, check_chunks, ordered, parsed
from tests.unit.offline.office import docx_of, p, read

TEXT = "价格？……请看Ⅲ号表：①合计㎏为１２３。"


def _changes(char: str) -> bool:
    forms = [unicodedata.normalize(form, char) for form in ("NFC", "NFKC")]
    return any(len(form) != 1 for form in (*forms, char.lower(), char.upper(), char.casefold()))


# Every character that a normal form or another case makes longer, and sequences that they make shorter.
LONGER = [
    char for char in map(chr, range(sys.maxunicode + 1)) if not "\ud800" <= char <= "\udfff" and _changes(char)
]  # fmt: skip
SHORTER = [
    "e\u0301",
    "\u1112\u1161\u11ab",
    "か\u3099",
    "ﾊﾟ",
    "A\u030a\u0323",
    "❤\ufe0f",
    "👩\u200d👧",
    "🇨🇳",
    "\u0958",
]


def test_the_kind_is_there() -> None:
    assert {"…", "Ⅲ", "㎏", "ﬁ", "½", "ß", "İ", "㍿", "ﷺ"} <= set(LONGER)
    assert len(unicodedata.normalize("NFKC", TEXT)) == 27 and len(TEXT) == 20


@pytest.mark.parametrize("media_type", [MARKDOWN, HTML, PLAIN])
def test_no_character_moves_what_stands_behind_it(media_type: str) -> None:
    """A numbered sentence behind each: its chunk, its place in the chunk and its anchor are those of the raw text."""
    said = [f"{char}项编号 QX-{number + 1000} 记下。" for number, char in enumerate(LONGER + SHORTER)]
    source = "\n\n".join(said) if media_type != HTML else "".join(f"<p>{one}</p>" for one in said)
    document = parsed(source, media_type)
    text = document.canonical_text
    assert text == "\n\n".join(said)
    chunks = Chunker().cut("d", "0123456789abcdef", text, document.blocks, "")
    check_chunks(text, chunks)
    numbered = iter(range(1000, 1000 + len(said)))
    for chunk in chunks:
        found = [(anchor.start, anchor.end) for anchor in find_anchors(chunk.text)]
        ends = [end for _, end in sentences(chunk.text)]
        for end in (end for end in ends if chunk.text[:end].rstrip().endswith("记下。")):
            name = f"QX-{next(numbered)}"
            at = chunk.text.rindex(name, 0, end)
            assert chunk.text[:end].rstrip().endswith(f"{name} 记下。")
            assert (at, at + len(name)) in found
            assert fold(chunk.text)[at : at + len(name)] == name.lower()
    assert next(numbered, None) is None


def test_in_an_office_file_too() -> None:
    said = [f"{char}项" for char in LONGER + SHORTER]
    assert read(docx_of("".join(map(p, said)))).canonical_text == "\n\n".join(said)


def test_the_quote_is_raw_and_in_its_place(
    services: Services, asking: Callable[[dict[str, str | bytes]], Ask]
) -> None:
    answer = asking({"d1.txt": TEXT})("合计多少")
    citations = [citation for claim in answer.claims for citation in claim.citations]
    assert citations, answer.reason
    for citation in citations:
        assert citation.quote == citation.span.of(TEXT)
        assert citation.quote_sha256 == sha256_text(citation.quote)
        assert citation.span.start <= 11 and citation.span.end >= 19
    version = citations[0].document_version
    view = services.online.read_source(READER, "d1.txt", version, 11, 19)
    assert view.text == "①合计㎏为１２３" and view.text_sha256.startswith("d5f56300287d")


def test_whatever_stands_before_it(asking: Callable[[dict[str, str | bytes]], Ask]) -> None:
    said = {
        "……！" * 3: "水泵的保修期为 37 个月。",
        "㍿㌀㍻": "年度预算为 1,200 万元。",
        "ﬁﬄ ½ ㎏ ": "消防通道的宽度不少于 4 米。",
        "İẞŉ": "The travel allowance is 85 euros per day.",
        "👩\u200d👧❤\ufe0f": "仓库的巡检周期为 14 天。",
    }
    text = "\n\n".join(lead + fact for lead, fact in said.items())
    ask = asking({"facts.txt": text})
    for question, told in {
        "水泵的保修期是多少个月": "37 个月",
        "年度预算是多少": "1,200 万元",
        "消防通道的宽度是多少": "4 米",
        "What is the travel allowance per day?": "85 euros",
        "仓库的巡检周期是多少天": "14 天",
    }.items():
        answer = ask(question)
        assert told in str(answer.answer), (question, answer.reason, answer.gap)
        for citation in (c for claim in answer.claims for c in claim.citations):
            assert citation.quote == citation.span.of(text)


# Text that stands there twice


def test_the_second_of_two_equal_sentences_has_its_own_place() -> None:
    raw = "付款期为 30 日。xxxxx付款期为 30 日。"
    document = parsed(raw, PLAIN)
    chunks = Chunker(limit=6).cut("d", "0123456789abcdef", raw, document.blocks, "")
    check_chunks(raw, chunks)
    starts = [c.span.start + c.text.index("付款期") for c in chunks if "付款期" in c.text]
    assert starts == [0, 15]


@pytest.mark.parametrize("media_type", [MARKDOWN, HTML, PLAIN])
def test_each_repetition_has_its_own_place(media_type: str) -> None:
    said = st.sampled_from(
        ["付款期为 30 日。", "付款期", "30 日。", "Pay in 30 days. ", "a", "付款期为 30 日。付款期为 30 日。"]
    )

    @settings(max_examples=200, deadline=None)
    @given(st.lists(said, min_size=1, max_size=30), st.sampled_from([3.0, 10.0, 190.0]))
    def holds(parts: list[str], limit: float) -> None:
        source = "\n\n".join(parts) if media_type != HTML else "".join(f"<p>{one}</p>" for one in parts)
        document = parsed(source, media_type)
        text = document.canonical_text
        chunks = Chunker(limit=limit).cut("d", "0123456789abcdef", text, document.blocks, "")
        check_chunks(text, chunks)
        ordered(chunk.span for chunk in chunks)
        shown = {at for chunk in chunks for at in range(chunk.span.start, chunk.span.end)}
        assert all(char.isspace() for at, char in enumerate(text) if at not in shown)

    holds()
