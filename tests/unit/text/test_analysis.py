"""Index and query terms, their weights, and the language of a text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.text.analysis import LONGEST_TERM, analyse, coverage, query_terms, stem, term_weight
from service.text.language import language, language_of

TEXTS = st.text(
    st.one_of(st.sampled_from("重试三次PR-9087 v.10MBthe后臺\n，\ud800"), st.characters()), max_size=60
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("自动重试", {"自动", "动重", "重试"}),
        ("後臺資料庫", {"后台", "资料"}),
        ("PPR-9087", {"ppr9087"}),
        ("1,200.50 元", {"1200.5"}),
        ("Retries", {"retry"}),
        ("user's policies", {"user", "policy"}),
    ],
)
def test_terms(text: str, terms: set[str]) -> None:
    assert terms <= set(analyse(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＰＰＲ－９０８７ 的額定功率", "PPR-9087 的额定功率"),
        ("THE RETRY LIMIT", "the retry limits"),
        ("10 MB", "１０　ＭＢ"),
    ],
)
def test_spellings_of_one_text_give_the_same_terms(one: str, other: str) -> None:
    assert analyse(one) == analyse(other)


@settings(max_examples=300)
@given(TEXTS)
def test_a_term_has_no_white_space_and_bounded_length(text: str) -> None:
    for term in (*analyse(text), *query_terms(text)):
        assert 0 < len(term) <= LONGEST_TERM
        assert term.split() == [term]
        assert term_weight(term) > 0
        term.encode()  # a lone surrogate would stop the request to the engine
    assert len(query_terms(text)) == len(set(query_terms(text)))


@settings(max_examples=200)
@given(TEXTS)
def test_a_question_is_covered_by_itself(text: str) -> None:
    terms = query_terms(text)
    assert coverage(terms, terms) == (pytest.approx(1.0) if terms else 0.0)
    assert coverage(terms, []) == 0.0


def test_a_name_weighs_more_than_a_word() -> None:
    assert term_weight("ppr9087") > term_weight("30") > 0
    assert term_weight("ppr9087") > term_weight("重试")
    assert coverage(["ppr9087", "power"], ["ppr9087"]) > coverage(["ppr9087", "power"], ["power"])


def test_an_exact_name_of_a_question_gives_itself_and_not_its_parts() -> None:
    assert "ppr" not in query_terms("PPR-9087 的功率")
    assert "ppr9087" in query_terms("PPR-9087 的功率")


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("`IF()` 描述", {"if"}),
        ("if() 怎么用", {"if"}),
        ("ＩＮ（） 的功能", {"in"}),
        ("`NOT BETWEEN ... AND ...` 描述", {"not", "between", "and"}),
        ("how do I use `select from where`", {"select", "from", "where"}),
        ("支持 SELECT FOR UPDATE 吗", {"select", "for", "update"}),
        ("大多数IT组织", {"it"}),
    ],
)
def test_a_function_word_written_as_a_name_is_looked_for(question: str, names: set[str]) -> None:
    assert names <= set(query_terms(question))


@pytest.mark.parametrize(
    "question",
    ["WHAT IS THE RETRY LIMIT", "what is the retry limit", "What if (and when) the retry limit is"],
)
def test_a_function_word_of_a_sentence_is_not(question: str) -> None:
    assert query_terms(question) == ["retry", "limit"]


@pytest.mark.parametrize(
    ("word", "stemmed"),
    [
        ("policies", "policy"),
        ("limits", "limit"),
        ("class", "class"),
        ("status", "status"),
        ("gas", "gas"),
        ("causes", "cause"),
        ("shoes", "shoe"),
    ],
)
def test_plurals(word: str, stemmed: str) -> None:
    assert stem(word) == stemmed


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("同一任务最多自动重试三次", "zh"),
        ("TiDB 的 GC 如何配置", "zh"),
        ("How do I configure GC in TiDB?", "en"),
        ("これは日本語の文章です", "other"),
        ("한국어 문장입니다", "other"),
        ("Это русский текст", "other"),
        ("12345 …", "other"),
        ("", "other"),
    ],
)
def test_language(text: str, name: str) -> None:
    assert language(text) == name


@settings(max_examples=200)
@given(st.lists(st.text(st.sampled_from("ab 后台ひ한я1."), max_size=20), max_size=6))
def test_lines_together_are_in_the_language_of_their_text(lines: list[str]) -> None:
    assert language_of(lines) == language("\n".join(lines))


def test_a_word_however_long_is_one_word() -> None:
    assert language("后" + 200_000 * "x") == "zh"
    assert language("后" + 200_000 * "x ") == "en"
