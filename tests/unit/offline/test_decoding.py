"""Bytes to text: every encoding that is read, and none that is guessed wrongly."""

from __future__ import annotations

import codecs
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import SourceUnreadable
from service.offline.ingest.parsing import decoding


def decode(raw: bytes) -> str:
    return decoding.decode(raw).text


SIMPLIFIED = "设备的保修期为两年。如需维修，请联系售后部门，电话：400-123。\n"
TRADITIONAL = "設備的保固期為兩年。如需維修，請聯絡客服部門，電話：0800-123。\n"

plain_text = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=60)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
        (codecs.BOM_UTF32_BE, "utf-32-be"),
        (b"", "utf-8"),
    ],
)
def test_unicode_with_its_mark_is_read_without_the_mark(mark: bytes, encoding: str) -> None:
    text = SIMPLIFIED + TRADITIONAL + "naïve 𠮷 🙂\n"
    assert decode(mark + text.encode(encoding)) == text


def test_gb18030_is_read() -> None:
    assert decode(SIMPLIFIED.encode("gb18030")) == SIMPLIFIED
    four_bytes = SIMPLIFIED + "𠮷㐂"
    assert decode(four_bytes.encode("gb18030")) == four_bytes
    assert decode(SIMPLIFIED.encode("gbk")) == SIMPLIFIED


@pytest.mark.parametrize("encoding", ["big5", "cp950", "big5hkscs"])
def test_big5_is_read_and_never_taken_for_gb18030(encoding: str) -> None:
    """Read as GB18030 these bytes decode without an error, to nonsense."""
    raw = TRADITIONAL.encode(encoding)
    assert raw.decode("gb18030") != TRADITIONAL
    assert decode(raw) == TRADITIONAL


def test_one_private_character_does_not_make_gb18030_another_encoding() -> None:
    text = SIMPLIFIED * 3 + "\ue000"
    assert decode(text.encode("gb18030")) == text


@pytest.mark.parametrize("end", ["\r\n", "\r", "\n"])
def test_line_ends_become_one(end: str) -> None:
    assert decode(f"a{end}b{end}{end}c".encode()) == "a\nb\n\nc"
    assert decode(codecs.BOM_UTF16_LE + f"a{end}b".encode("utf-16-le")) == "a\nb"


def test_form_feeds_tabs_and_spaces_stay() -> None:
    assert decode(b"a\tb\x0c  c \n") == "a\tb\x0c  c \n"


@pytest.mark.parametrize(
    "raw",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(32)) * 4,
        "no mark".encode("utf-16-le") + b"\0",  # half a character
        bytes(range(256)) * 4,
        ("L'été dernier, déjà très élevé, la société a créé à Genève. " * 3).encode("latin-1"),
        ("Für Größen über fünf müssen Käufer schöne Grüße äußern. " * 3).encode("cp1252"),
        ("Гарантийный срок оборудования два года. " * 3).encode("cp1251"),
        ("設備の保証期間は二年です。" * 3).encode("shift_jis"),
        codecs.BOM_UTF16_LE + b"\x00\xd8",  # half a surrogate pair
        codecs.BOM_UTF8 + b"\xff",
        codecs.BOM_UTF32_LE + b"\xff\xff\xff\xff",
        b"\xff\xff\xff text",
        "Élan vital, déjà vu".encode("latin-1") + b"\xff\x20",
    ],
)
def test_what_is_not_text_is_refused_with_a_sentence(raw: bytes) -> None:
    with pytest.raises(SourceUnreadable, match=r"binary|encoding|begins like"):
        decode(raw)


def test_nothing_is_no_text_and_no_error() -> None:
    assert decode(b"") == decode(codecs.BOM_UTF8) == ""


@given(plain_text, st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_any_text_comes_back_from_any_unicode_encoding(text: str, encoding: str) -> None:
    if text.startswith("\ufeff"):
        return  # a mark of its own: told apart from text by nobody
    assert decode(text.encode(encoding)) == text


@given(st.binary(max_size=200))
def test_any_bytes_give_text_or_the_project_s_error(raw: bytes) -> None:
    try:
        text = decode(raw)
    except SourceUnreadable:
        return
    assert "\r" not in text
    text.encode("utf-8")  # storable: no half of a surrogate pair


# ── what is told of it ──────────────────────────────────────────────────────────────────────────────────


def level_one(encoding: str, leads: range, trails: list[int]) -> list[str]:
    codes = (bytes((lead, trail)).decode(encoding, "ignore") for lead in leads for trail in trails)
    return [char for char in codes if char]


COMMON = {
    "simplified": level_one("gb2312", range(0xB0, 0xD8), list(range(0xA1, 0xFF))),
    "traditional": level_one("big5", range(0xA4, 0xC6), [*range(0x40, 0x7F), *range(0xA1, 0xFF)]),
}
PUNCTUATION = "，。、；：？！（）「」 \n\f12aZ"
ENCODINGS = [
    ("simplified", "gb18030"),
    ("simplified", "utf-16-le"),
    ("simplified", "utf-16-be"),
    ("simplified", "utf-8"),
    ("traditional", "big5"),
    ("traditional", "utf-16-le"),
    ("traditional", "utf-16-be"),
    ("traditional", "utf-8"),
]


@given(st.integers(min_value=0), st.integers(20, 200), st.sampled_from(ENCODINGS))
def test_any_chinese_of_twenty_characters_is_recognised(
    seed: int, length: int, kind: tuple[str, str]
) -> None:
    """Drawn by chance, not by search: with patience twenty characters can be found that are Chinese either way."""
    script, encoding = kind
    chance = random.Random(seed)
    letters = chance.choices(COMMON[script], k=length) + chance.choices(PUNCTUATION, k=length // 5)
    chance.shuffle(letters)
    text = "".join(letters)
    found = decoding.decode(text.encode(encoding))
    assert (found.text, found.encoding) == (text, encoding)
    assert found.confidence > 0.5


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["gb18030", "utf-16-le", "utf-16-be"])
def test_a_few_chinese_words_in_much_english_are_enough(encoding: str, end: str) -> None:
    text = f"ls lists files (列出文件).{end}Option -a shows all (全部),{end}\f-l the long format (长格式)."
    found = decoding.decode(text.encode(encoding))
    assert (found.text, found.encoding) == (text.replace("\r", ""), encoding)


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"plain", "utf-8"),
        (codecs.BOM_UTF8 + b"marked", "utf-8"),
        (codecs.BOM_UTF16_LE + "marked".encode("utf-16-le"), "utf-16"),
        ("English only".encode("utf-16-le"), "utf-16-le"),
        ("English only".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_where_the_bytes_say_it_themselves_it_is_certain(raw: bytes, encoding: str) -> None:
    found = decoding.decode(raw)
    assert found.encoding == encoding
    assert found.confidence == pytest.approx(1.0, abs=0.01)


def test_few_characters_make_less_sure_than_many() -> None:
    short, long = (decoding.decode(text.encode("gb18030")) for text in (SIMPLIFIED[:2], SIMPLIFIED))
    assert 0.5 < short.confidence < 0.9 < long.confidence


def test_fifty_megabytes_are_decoded_in_seconds() -> None:
    raw = (SIMPLIFIED * 1000).encode("gb18030") * 850
    began = time.perf_counter()
    assert decoding.decode(raw).encoding == "gb18030"
    assert time.perf_counter() - began < 20
