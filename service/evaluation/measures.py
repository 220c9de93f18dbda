"""Measures of a ranked list. Textbook definitions; an empty result counts as zero, never as absent."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def recall_at_k(relevant: Collection[str], ranked: Sequence[str], k: int) -> float:
    """|relevant ∩ first k| ÷ |relevant|. Raises ValueError without relevant items: recall is undefined then."""
    if not relevant:
        raise ValueError("recall is undefined without relevant items")
    return len(set(ranked[:k]) & set(relevant)) / len(set(relevant))


def reciprocal_rank(relevant: Collection[str], ranked: Sequence[str], k: int | None = None) -> float:
    """1 ÷ rank of the first relevant item within the first k, else 0."""
    for rank, item in enumerate(ranked[:k], 1):
        if item in relevant:
            return 1 / rank
    return 0.0


def mean(values: Sequence[float]) -> float:
    """Mean over all queries, those that found nothing included; 0 for no queries."""
    return sum(values) / len(values) if values else 0.0


def ndcg_at_k(relevant: Collection[str], ranked: Sequence[str], k: int) -> float:
    """Binary nDCG@k (Järvelin and Kekäläinen, 2002). The ideal list holds all relevant items, found or not."""
    if not relevant:
        raise ValueError("nDCG is undefined without relevant items")
    gain = sum(1 / math.log2(rank + 1) for rank, item in enumerate(ranked[:k], 1) if item in relevant)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(relevant))) + 1))
    return gain / ideal
