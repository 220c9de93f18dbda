"""Folding keeps every character in its place, so an offset into folded text is an offset into the source."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.folding import fold, fold_width

# Characters that other foldings change in length, next to everything hypothesis finds.
AWKWARD = "İıßﬁ½…㎏ﾊﾟﷺΣςＡ１　－−‐繁體臺灣後薴⽤😀𠮷\u0301\ud800\n"
TEXTS = st.text(st.one_of(st.sampled_from(AWKWARD), st.characters()), max_size=60)


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("ＡＢＣ　１２３", "abc 123"),
        ("ＥＲＲ－８００５（ＨＹ０００）", "err-8005(hy000)"),
        ("後臺資料庫", "后台资料库"),
        ("⽤⼾", "用户"),
        ("PPR‐9087 −5", "ppr-9087 -5"),
        ("1–3 天", "1–3 天"),
        ("10\u00a0GB", "10 gb"),
        ("½…㎏ﬁ", "½…㎏ﬁ"),
        ("İ", "İ"),
        ("ﾊﾟｿｺﾝ", "ハ\uff9fソコン"),
    ],
)
def test_table(text: str, folded: str) -> None:
    assert fold(text) == folded


def test_width_alone_keeps_case_and_script() -> None:
    assert fold_width("ＡｂＣ　後臺") == "AbC 後臺"


@settings(max_examples=500)
@given(TEXTS)
def test_one_character_stays_one_character(text: str) -> None:
    assert len(fold(text)) == len(text)
    assert len(fold_width(text)) == len(text)
    assert fold(fold(text)) == fold(text)


@settings(max_examples=300)
@given(TEXTS, st.sampled_from(["３次", "ＰＰＲ－9087", "Err 8005", "10 GB", "⽤⼾"]), TEXTS)
def test_a_match_in_folded_text_is_the_same_span_of_the_source(before: str, needle: str, after: str) -> None:
    text = before + needle + after
    starts = [match.start() for match in re.finditer(f"(?={re.escape(fold(needle))})", fold(text))]
    assert len(before) in starts
    for start in starts:
        assert fold(text[start : start + len(needle)]) == fold(needle)


@settings(max_examples=200)
@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_ascii_is_lower_cased_and_nothing_else(text: str) -> None:
    assert fold(text) == text.lower()
