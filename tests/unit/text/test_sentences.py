"""Sentences and spans: what may be quoted whole, and the arithmetic behind a citation."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.sentences import LONGEST_SENTENCE, sentences
from service.text.spans import from_utf16, sha256_text, slice_matches, to_utf16

TEXTS = st.text(
    st.one_of(st.sampled_from("。！？.!? \n；，|-1.ab重试“”\u3000😀"), st.characters()), max_size=120
)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("第一次重试失败。第二次仍失败！怎么办？", ["第一次重试失败。", "第二次仍失败！", "怎么办？"]),
        ("It retries three times. Then it stops.", ["It retries three times.", "Then it stops."]),
        ("The limit is 3.5 MB. See v7.5.1 for more.", ["The limit is 3.5 MB.", "See v7.5.1 for more."]),
        ("他说：“不行。再试。”然后走了。", ["他说：“不行。再试。”", "然后走了。"]),
        ("- 第一项\n- 第二项", ["- 第一项", "- 第二项"]),
        ("1. 打开阀门。\n2. 等待 30 秒。", ["1. 打开阀门。", "2. 等待 30 秒。"]),
        ("标题\n\n正文一。", ["标题", "正文一。"]),
        ("Dr. Smith signed it. It is valid.", ["Dr. Smith signed it.", "It is valid."]),
        ("", []),
        (" \n\u3000", []),
    ],
)
def test_table(text: str, parts: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == parts


def test_a_wrapped_line_goes_on() -> None:
    first = "the task is retried at most three times by the scheduler before it is handed"
    assert len(sentences(f"{first}\nover to an operator.")) == 1


@settings(max_examples=400)
@given(TEXTS)
def test_every_solid_character_is_in_exactly_one_sentence(text: str) -> None:
    spans = sentences(text)
    places = [place for start, end in spans for place in range(start, end)]
    assert len(places) == len(set(places))
    assert set(range(len(text))) - set(places) <= {i for i, char in enumerate(text) if char.isspace()}
    assert spans == sorted(spans)
    for start, end in spans:
        assert text[start:end].strip() == text[start:end] != ""


@given(st.integers(401, 3000), st.sampled_from(["字", "x", "字，", "word "]))
def test_none_is_longer_than_the_bound(length: int, piece: str) -> None:
    text = (piece * length)[:length]
    assert max(end - start for start, end in sentences(text)) <= LONGEST_SENTENCE


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40), st.data())
def test_a_span_matches_its_own_hash_only(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    digest = sha256_text(text[start:end])
    assert slice_matches(text, start, end, digest)
    assert slice_matches(text, start, end, digest.upper())
    for a, b in ((start - 1, end), (start + 1, end), (start, end + 1), (start, end - 1)):
        # Another length is another text.
        assert not slice_matches(text, a, b, digest)
    assert not slice_matches(text, start, end, sha256_text(text[start:end] + "x"))


@pytest.mark.parametrize(("start", "end"), [(-3, -1), (-3, 3), (2, 1), (1, 1), (0, 4), (4, 5)])
def test_offsets_outside_the_text_never_match(start: int, end: int) -> None:
    assert not slice_matches("abc", start, end, sha256_text("abc"[start:end]))


def test_the_hash_is_that_of_utf8() -> None:
    # printf 中文 | sha256sum
    assert sha256_text("中文") == "72726d8818f693066ceb69afa364218b692e62ea92b385782363780f47529c21"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_utf16_offsets_are_those_of_javascript(text: str) -> None:
    for offset in range(len(text) + 1):
        units = len(text[:offset].encode("utf-16-le")) // 2
        assert to_utf16(text, offset) == units
        assert from_utf16(text, units) == offset


@pytest.mark.parametrize("offset", [1, 4, -1])
def test_no_character_there(offset: int) -> None:
    with pytest.raises(ValueError, match="offset"):
        from_utf16("😀a", offset)


def test_a_very_long_block_is_taken_in_pieces_and_comes_out_the_same() -> None:
    zh, en = "第一句话说到这里。第二句话也是！", "The first one ends here. The second one does too! "
    for unit in (zh, en):
        few, many = unit * 3, unit * 4000
        own = [many[start:end] for start, end in sentences(many)]
        assert set(own) == {few[start:end] for start, end in sentences(few)}
        assert len(own) == 2 * 4000
    endless = "字" * 100_000
    assert "".join(endless[start:end] for start, end in sentences(endless)) == endless
