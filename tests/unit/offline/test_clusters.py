"""Near-duplicates are told where every number, unit, name and negation is the same, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.domain.documents import Chunk
from service.offline.ingest import clusters
from service.offline.ingest.chunking import Chunker
from service.offline.ingest.clusters import clustered, identity, tally
from tests.unit.offline.material import PLAIN, parsed

LONG = "备份任务在每天凌晨自动开始，期间读写照常进行；备份文件先写入本地磁盘，然后同步到远端的对象存储，完成之后通知值班人员核对。"


def chunks_of(*texts: str) -> list[list[Chunk]]:
    """One document for each text."""
    return [
        Chunker(limit=1000).cut(f"d{n}", "v" * 12, (read := parsed(text, PLAIN)).canonical_text, read.blocks, "")
        for n, text in enumerate(texts)
    ]  # fmt: skip


def clusters_of(*texts: str) -> list[str]:
    return [own[0].cluster for own in clustered(chunks_of(*texts))]


def test_almost_the_same_words_are_one_cluster_whatever_the_document() -> None:
    one, two, other = clusters_of(LONG, LONG.replace("核对", "复核"), "另一页说的是别的事情，与备份无关。")
    assert one == two != ""
    assert other == ""


def test_form_does_not_matter() -> None:
    traditional = "備份任務在每天凌晨自動開始，期間讀寫照常進行；備份文件先寫入本地磁盤，然後同步到遠端的對象存儲，完成之後通知值班人員核對。"
    a, b, c = clusters_of(LONG, LONG.replace("，", "，\n"), traditional)
    assert a == b == c != ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("超时为 30 秒", "超时为 30 毫秒"), ("超时为 30 秒", "超时为 60 秒"), ("超时为 30 秒", "超时不为 30 秒"),
        ("功率 5 mW", "功率 5 MW"), ("上限三次", "上限四次"), ("增长 3%", "增长 3‰"), ("共 3 万元", "共 3 元"), ("数万元", "数千元"),
        ("单位：万元", "单位：元"), ("电流(A)", "电流(mA)"), ("每天两次", "每周两次"), ("once a day", "once a week"), ("hourly", "daily"), ("允许重试", "禁止重试"), ("允许重试", "不允许重试"),
        ("可以删除", "不可以删除"), ("必须开启", "必须关闭"), ("至少保留", "最多保留"), ("retry is allowed", "retry is not allowed"),
        ("set tidb_mem_quota_query", "set tidb_mem_quota_apply"), ("since v7.5.1", "since v7.5.2"), ("twice a day", "once a day"),
        ("twenty users", "thirty users"), ("It can start", "It can't start"), ("温度 -5 ℃", "温度 5 ℃"), ("大于 3", "小于 3"), (">3", "<3"),
        ("甲不可读，乙可读", "甲可读，乙不可读"), ("甲 3 乙 5", "甲 5 乙 3"), ("1.5 倍", "15 倍"), ("2026-01-02", "2026-01-03"),
        ("第一步", "第二步"), ("错误码 8028", "错误码 8029"), ("未完成", "完成"), ("无锁", "有锁"),
        ("默认值：`ON`", "默认值：`OFF`"), ("默认值为 ON", "默认值为 OFF"),
    ],
)  # fmt: skip
def test_what_says_something_else_is_another_cluster(one: str, other: str) -> None:
    assert identity(f"{LONG}{one}。") != identity(f"{LONG}{other}。")
    assert clusters_of(f"{LONG}{one}。", f"{LONG}{other}。") == ["", ""]


UNITS = st.sampled_from("秒 毫秒 分钟 小时 天 次 个 元 万元 GB MB KiB ms s % ℃ kg mW MW 米 千米 V".split())
WORDS = st.lists(
    st.sampled_from(["任务", "备份", "磁盘", "the task", "，", "。", " ", "| ", "row", "在线"]), max_size=8
).map("".join)


@settings(max_examples=400, deadline=None)
@given(WORDS, WORDS, st.integers(0, 99999), st.integers(0, 99999), UNITS, UNITS)
@example("", "", 1, 11, "秒", "秒")
def test_another_number_or_unit_is_another_identity(
    before: str, after: str, one: int, other: int, unit: str, second: str
) -> None:
    first = identity(f"{before}上限 {one} {unit}。{after}")
    assert (first == identity(f"{before}上限 {other} {unit}。{after}")) == (one == other)
    assert (first == identity(f"{before}上限 {one} {second}。{after}")) == (unit == second)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.sampled_from("甲乙丙丁任务备份磁盘 a b3，。的是可能会有"), min_size=2, max_size=30).map(
        "".join
    ),
    st.data(),
)
def test_a_negation_more_is_another_identity(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text)))
    negation = data.draw(
        st.sampled_from(["不", "没", "未", "无", "非", " not ", " no ", " never ", " without "])
    )
    assert identity(text) != identity(text[:at] + negation + text[at:])


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), st.data())
def test_any_digit_changed_is_another_identity(text: str, data: st.DataObject) -> None:
    digits = [at for at, char in enumerate(text) if char in "0123456789"]
    at = data.draw(st.sampled_from(digits)) if digits else None
    if at is None:
        text, at = text + "7", len(text)
    changed = data.draw(st.sampled_from("0123456789"))
    assert (identity(text) == identity(text[:at] + changed + text[at + 1 :])) == (changed == text[at])


def test_code_is_one_cluster_only_where_it_is_the_same() -> None:
    def code(last: str) -> list[Chunk]:
        read = parsed("```sql\n" + "SELECT a, b, c FROM t WHERE d IS NULL;\n" * 9 + last + "\n```")
        return Chunker(limit=1000).cut(last, "v" * 12, read.canonical_text, read.blocks, "")

    [[one], [two], [other]] = clustered([code("select x;"), code("select  x;"), code("select y;")])
    assert one.cluster == two.cluster != other.cluster == ""


def test_the_order_of_documents_decides_nothing() -> None:
    texts = [
        LONG,
        LONG.replace("核对", "复核"),
        LONG.replace("核对", "校对"),
        LONG + "超时 3 秒。",
        "别的事情。",
        LONG + "超时 3 秒 。",
    ]
    expected = dict(zip(texts, clusters_of(*texts), strict=True))
    for seed in range(5):
        shuffled: Sequence[str] = random.Random(seed).sample(texts, len(texts))
        assert dict(zip(shuffled, clusters_of(*shuffled), strict=True)) == expected
    assert tally(clustered(chunks_of(*texts))) == {"clusters": 2.0, "chunksInClusters": 5.0}


def test_a_cluster_keeps_its_name_in_another_build() -> None:
    assert clusters_of(LONG, LONG)[0] == clusters_of("别的事情。", LONG, LONG)[1]


def test_nothing_that_is_repeated_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is looked at closely gives the same clusters as looking at everything."""
    pieces = st.sampled_from(["不", "3", "12", " ", "\n", "无", "無", "３", "每天", "not ", "A", "x", "，"])
    edits = st.lists(st.tuples(st.integers(0, len(LONG)), pieces), max_size=4)

    @settings(max_examples=200, deadline=None)
    @given(st.lists(edits, min_size=2, max_size=6))
    def holds(many: list[list[tuple[int, str]]]) -> None:
        texts = []
        for changes in many:
            text = LONG
            for at, piece in changes:
                text = text[:at] + piece + text[at:]
            texts.append(text)
        documents = chunks_of(*texts)
        quick = clustered(documents)
        with monkeypatch.context() as patched:
            patched.setattr(clusters, "_perhaps_repeated", lambda chunks: chunks)
            assert clustered(documents) == quick

    holds()
