"""Fusion and collapse: the formula, the ties, and what may not be merged."""

from hypothesis import given
from hypothesis import strategies as st

from service.domain.documents import Span
from service.domain.retrieval import FoundChunk, Hit, LegResult
from service.online.fusion import collapse_identical, pooled, reciprocal_rank_fusion
from service.text.folding import fold


def chunk(chunk_id: str, text: str = "text", document: str = "d", version: str = "v") -> FoundChunk:
    return FoundChunk(
        chunk_id, document, version, 1, "paragraph", (), Span(0, len(text)), text, "", "", "", None, None, None, "",
        "zh", "", (),
    )  # fmt: skip


def leg(name: str, *ids: str) -> LegResult:
    return LegResult(name, tuple(Hit(chunk(i), rank, 1.0) for rank, i in enumerate(ids, 1)), 1.0)  # type: ignore[arg-type]


def fuse(*legs: LegResult) -> list[tuple[str, float]]:
    fused = reciprocal_rank_fusion(legs, k=60, weights={})
    return [(c.chunk_id, c.score) for c in fused]


def test_score_is_the_sum_of_reciprocal_ranks() -> None:
    assert fuse(leg("bm25", "a", "b"), leg("knn", "b")) == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]


def test_equal_scores_are_ordered_by_chunk_id_whatever_the_leg_order() -> None:
    one, two = leg("bm25", "d1"), leg("knn", "d2")
    assert fuse(one, two) == fuse(two, one) == [("d1", 1 / 61), ("d2", 1 / 61)]


def test_weights_scale_a_leg() -> None:
    fused = reciprocal_rank_fusion([leg("bm25", "a"), leg("knn", "b")], k=60, weights={"knn": 2.0})
    assert [c.chunk_id for c in fused] == ["b", "a"]


@given(st.lists(st.sampled_from("abcde"), min_size=1, max_size=30), st.integers(1, 6))
def test_the_pool_holds_as_many_texts_as_there_is_room_for(texts: list[str], pool: int) -> None:
    """Equal documents, however many, push no other text out of the pool."""
    chunks = [chunk(f"{place:02}", text, f"d{place}") for place, text in enumerate(texts)]
    known = {c.chunk_id: c for c in chunks}
    fused = reciprocal_rank_fusion([leg("bm25", *known)], k=60, weights={})
    cut = pooled(fused, known, fold, pool)
    assert cut == fused[: len(cut)]
    kept, _ = collapse_identical(cut, known, fold)
    assert [known[c.chunk_id].text for c in kept] == list(dict.fromkeys(texts))[:pool]


def collapsed(*chunks: FoundChunk) -> tuple[list[str], dict[str, str]]:
    candidates = reciprocal_rank_fusion([leg("bm25", *(c.chunk_id for c in chunks))], k=60, weights={})
    kept, dropped = collapse_identical(candidates, {c.chunk_id: c for c in chunks}, fold)
    return [c.chunk_id for c in kept], dropped


def test_identical_text_of_two_documents_is_kept_once() -> None:
    pair = (chunk("a", "重试三次。", "x"), chunk("b", "重试三次。", "y"))
    assert collapsed(*pair) == (["a"], {"b": "a"})


def test_width_and_script_make_no_difference() -> None:
    pair = (chunk("a", "重试 3 次", "x"), chunk("b", "重試　３ 次", "y"))
    assert collapsed(*pair)[1] == {"b": "a"}


def test_a_unit_a_number_or_a_negation_keeps_two_apart() -> None:
    three = (chunk("a", "上限 5 kW", "x"), chunk("b", "上限 5 W", "y"), chunk("c", "不上限 5 kW", "z"))
    assert collapsed(*three) == (["a", "b", "c"], {})


def test_two_versions_of_one_document_stay_two() -> None:
    pair = (chunk("a", "同一句", "x", "v1"), chunk("b", "同一句", "x", "v2"))
    assert collapsed(*pair) == (["a", "b"], {})
