"""Citation marks and atomic claims of a written answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.online.answering.marks import read_marks
from service.online.answering.splitting import written_claims


@pytest.mark.parametrize(
    ("mark", "numbers"),
    [
        ("[S1]", (1,)),
        ("[1]", (1,)),
        ("[[1]]", (1,)),
        ("[[S1]]", (1,)),
        ("【1】", (1,)),
        ("［2］", (2,)),
        ("[1, 2]", (1, 2)),
        ("[1，2]", (1, 2)),
        ("[S1; S3]", (1, 3)),
        ("[S1][S3]", (1, 3)),
        ("[S1] [S3]", (1, 3)),
        ("【1】【2】", (1, 2)),
    ],
)
def test_forms_of_a_mark(mark: str, numbers: tuple[int, ...]) -> None:
    for text in (f"三次 {mark}。", f"三次。{mark}", f"{mark} 三次。"):
        marked = read_marks(text)
        assert marked.text.strip() == "三次。"
        assert tuple(n for one in marked.marks for n in one.numbers) == numbers
        assert [claim.numbers for claim in written_claims(marked)] == [numbers]


@pytest.mark.parametrize(
    "text",
    [
        "v[1.2]", "[S1.2]", "[S1", "S1]", "[1", "params[0]", "m[0][1]", "f(x)[1]", "`a[1] [S1]`", "```\n[S1]\n```",
        "[1](http://x)", "[^1]", "[]", "[S]", "[1-3]", "(1)", "[S1234]", "[一]",
    ],
)  # fmt: skip
def test_what_only_looks_like_a_mark_stays_text(text: str) -> None:
    marked = read_marks(text)
    assert (marked.text, marked.marks) == (text, ())


@pytest.mark.parametrize(
    ("text", "claims"),
    [
        ("One is 3 [S1]. Two is 4 [S2].", [("One is 3.", (1,)), ("Two is 4.", (2,))]),
        ("第一是三次[1]。第二是四次[2]。", [("第一是三次。", (1,)), ("第二是四次。", (2,))]),
        ("1. one is 3 [S1]\n2. two is 4 [S2]", [("one is 3", (1,)), ("two is 4", (2,))]),
        ("- 甲三次【1】\n- 乙四次【2】", [("甲三次", (1,)), ("乙四次", (2,))]),
        # A clause with its own number is a claim; without marks of its own it has those of the sentence.
        ("预算为 1200 万元[S1]，增长 12%[S2]。", [("预算为 1200 万元", (1,)), ("增长 12%。", (2,))]),
        ("The budget is 12, the term is 3 years [S1].", [("The budget is 12", (1,)), ("the term is 3 years.", (1,))]),
        # What hangs on a condition is one claim with it.
        ("如果超过 3 次，等待 30 秒[S1]。", [("如果超过 3 次，等待 30 秒。", (1,))]),
        ("3 retries are made, unless 2 fail [S1].", [("3 retries are made, unless 2 fail.", (1,))]),
        # A sentence without a mark has none from its neighbours.
        ("One is 3. Two is 4 [S2].", [("One is 3.", ()), ("Two is 4.", (2,))]),
        # The number of an item says nothing.
        ("77. one is 3 [S1]", [("one is 3", (1,))]),
        ("# Head\n\n```\na = 1 [S2]\n```[S1]", [("Head", ()), ("```\na = 1 [S2]\n```", (1,))]),
        ("…… [S1] !!", []),
    ],
)  # fmt: skip
def test_atomic_claims(text: str, claims: list[tuple[str, tuple[int, ...]]]) -> None:
    assert [(claim.text, claim.numbers) for claim in written_claims(read_marks(text))] == claims


@given(st.text(alphabet="三次 12ab。.，[]【】［］S`\n-(", max_size=60))
def test_no_word_is_lost_or_made_up(text: str) -> None:
    """Claims are pieces of the text in order; what lies between holds no letter that is not in a mark."""
    marked = read_marks(text)
    at = 0
    for claim in written_claims(marked):
        at = marked.text.index(claim.text, at) + len(claim.text)
    assert all(0 <= mark.at <= len(marked.text) for mark in marked.marks)
