"""Anchors and dates: what is found, under which index term, and which of them an answer must hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.text.anchors import anchor_terms, find_anchors, is_hard
from service.text.dates import find_dates


def terms(text: str) -> set[str]:
    return {anchor.canonical for anchor in find_anchors(text)}


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("2026年4月8日", "2026-04-08"),
        ("２０２６年４月８日", "2026-04-08"),
        ("二〇二六年四月八日", "2026-04-08"),
        ("2026-04-08", "2026-04-08"),
        ("2026/4/8", "2026-04-08"),
        ("April 8, 2026", "2026-04-08"),
        ("8 April 2026", "2026-04-08"),
        ("8th of April, 2026", "2026-04-08"),
        ("2026 年 4 月", "2026-04"),
        ("2026年", "2026"),
        ("4月8日", "--04-08"),
        ("十二月三十一日", "--12-31"),
    ],
)
def test_dates_have_one_form(text: str, date: str) -> None:
    assert [found.canonical for found in find_dates(text)] == [date]


@pytest.mark.parametrize(
    "text", ["2026-02-30", "2026年13月8日", "2026", "you may 8 times", "4 个月", "10.2.3"]
)
def test_what_is_no_date(text: str) -> None:
    assert not [found for found in find_dates(text) if found.month is not None]


@pytest.mark.parametrize(
    ("text", "kind", "term"),
    [
        ("请问 PPR-9087 的额定功率", "model", "ppr9087"),
        ("ＰＰＲ－９０８７ 的额定功率", "model", "ppr9087"),
        ("ERROR 8005 出现时怎么办", "error", "8005"),
        ("从 v7.5.1 升级", "version", "7.5.1"),
        ("设置 tidb_gc_life_time", "identifier", "tidb_gc_life_time"),
        ("使用 --max-retries 参数", "option", "maxretries"),
        ("修改 /etc/hosts 文件", "path", "/etc/hosts"),
        ("依据 GB/T 22239-2019", "regulation", "gbt222392019"),
        ("第四十七条", "regulation", "第47条"),
    ],
)
def test_names_are_hard_anchors(text: str, kind: str, term: str) -> None:
    [anchor] = [found for found in find_anchors(text) if is_hard(found)]
    assert anchor.kind == kind
    assert term in anchor_terms(anchor)
    assert text[anchor.start : anchor.end] == anchor.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PPR-9087", "PPR-9078"),
        ("v7.5.1", "v7.5.10"),
        ("v7.5", "v7.5.1"),
        ("ERROR 8005", "ERROR 8006"),
        ("10 MB", "10 GB"),
        ("GB/T 22239-2019", "GB/T 22239-2008"),
        ("-P", "-p"),
    ],
)
def test_siblings_are_different(one: str, other: str) -> None:
    assert not terms(f"参数 {one} 说明") & terms(f"参数 {other} 说明")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PPR-9087", "ppr 9087"),
        ("PPR-9087", "ＰＰＲ９０８７"),
        ("10 MB", "１０ＭＢ"),
        ("60 分钟", "1 小时"),
        ("2026年4月8日", "April 8, 2026"),
        ("一千二百万元", "1200 万元"),
    ],
)
def test_spellings_of_one_thing_share_a_term(one: str, other: str) -> None:
    assert terms(one) & terms(other)


def test_quantities_dates_and_labels_are_not_hard() -> None:
    assert not any(map(is_hard, find_anchors("10 GB，2026年4月8日，GPT-4，UTF-8，30%")))


@given(st.text(alphabet="ABPR-_./v0123456789 错误码第条年月日，。GB", max_size=50))
def test_anchors_are_cut_from_the_text_and_never_overlap(text: str) -> None:
    last = 0
    for anchor in find_anchors(text):
        assert last <= anchor.start < anchor.end
        assert text[anchor.start : anchor.end] == anchor.text
        assert anchor.canonical
        last = anchor.end
