"""The three legs over visible places. Each returns (place, score), best first; equal scores by place, which
is the order of chunk ids."""

from __future__ import annotations

import numpy as np
import tantivy
from numpy.typing import NDArray

from service.adapters.acceptance import askable_names, askable_terms
from service.adapters.embedded.snapshot import Places, Snapshot
from service.domain.retrieval import AnchorLeg, Bm25Leg, KnnLeg, Vector

Ranked = list[tuple[int, float]]

_MUST, _SHOULD, _MUST_NOT = tantivy.Occur.Must, tantivy.Occur.Should, tantivy.Occur.MustNot
# Read beyond the size, to see at once whether a tie runs over the end.
_TIE_MARGIN = 8
# float32 products of unit vectors differ by some 1e-7 with the order of summation.
_COSINE_SLACK = 1e-5
# Scores are kept to 7 decimals, so that equal vectors are equal however the sum was rounded.
_COSINE_DECIMALS = 7


def bm25(snapshot: Snapshot, leg: Bm25Leg, visible: Places) -> Ranked:
    """BM25 (k1 1.2, b 0.75, tantivy's own) of body plus `heading_boost` times that of heading."""
    clauses = []
    for term in askable_terms(leg.terms):
        clauses.append((_SHOULD, _term(snapshot, "body", term)))
        clauses.append(
            (_SHOULD, tantivy.Query.boost_query(_term(snapshot, "heading", term), leg.heading_boost))
        )
    return _best(snapshot, clauses, visible, leg.size)


def anchors(snapshot: Snapshot, leg: AnchorLeg, visible: Places) -> Ranked:
    """One point for each of the question's anchors that the chunk holds."""
    clauses = [
        (
            _SHOULD,
            tantivy.Query.const_score_query(
                tantivy.Query.term_query(snapshot.schema, "anchors", anchor, index_option="basic"), 1.0
            ),
        )
        for anchor in askable_names(leg.anchors)
    ]
    return _best(snapshot, clauses, visible, leg.size)


def knn(snapshot: Snapshot, leg: KnnLeg, visible: Places) -> Ranked:
    """The k nearest by exact cosine, scored (1 + cos) / 2."""
    if leg.k < 1:
        return []
    places = visible[snapshot.has_vector[visible]]
    rough = _rough_cosines(snapshot, leg.vector, places)
    if places.size > leg.k:
        # Everything that may belong to the first k once it is computed precisely.
        least = np.partition(rough, places.size - leg.k)[places.size - leg.k]
        places = places[rough >= least - _COSINE_SLACK]
    exact = cosines(snapshot, leg.vector, places)
    order = np.lexsort((places, -exact))[: leg.k]
    return [(int(places[i]), (1 + float(exact[i])) / 2) for i in order]


def cosines(snapshot: Snapshot, vector: Vector, places: Places) -> NDArray[np.float64]:
    """Cosine with each named place, in double precision and row by row: a BLAS product rounds differently
    from row to row, and equal vectors would tie only by luck."""
    rows = snapshot.vectors[places].astype(np.float64)
    direction = vector.astype(np.float64)
    products = (rows * direction).sum(axis=1)
    lengths = np.sqrt((rows * rows).sum(axis=1)) * np.sqrt((direction * direction).sum())
    return np.asarray(np.round(products / lengths, _COSINE_DECIMALS), dtype=np.float64)


def _rough_cosines(snapshot: Snapshot, vector: Vector, places: Places) -> NDArray[np.float32]:
    direction = (vector / np.linalg.norm(vector)).astype(np.float32)
    if places.size * 2 > snapshot.size:
        # Cheaper than copying most of the matrix; what is not visible is left out before anything is chosen.
        rough = (snapshot.vectors[: snapshot.size] @ direction)[places] / snapshot.lengths[places]
    else:
        rough = (snapshot.vectors[places] @ direction) / snapshot.lengths[places]
    return np.asarray(rough, dtype=np.float32)


def _term(snapshot: Snapshot, field: str, term: str) -> tantivy.Query:
    return tantivy.Query.term_query(snapshot.schema, field, term, index_option="freq")


def _best(
    snapshot: Snapshot, clauses: list[tuple[tantivy.Occur, tantivy.Query]], visible: Places, size: int
) -> Ranked:
    if not clauses or size < 1 or not visible.size:
        return []
    query = tantivy.Query.boolean_query(
        [(_MUST, tantivy.Query.boolean_query(clauses)), _scope_clause(snapshot, visible)]
    )
    limit = size + _TIE_MARGIN
    while True:
        hits = snapshot.searcher.search(query, limit=limit, count=False).hits
        # tantivy breaks ties by internal number: go on until the last score read is below the last one kept.
        if len(hits) < limit or hits[-1][0] < hits[size - 1][0]:
            break
        limit *= 4
    places = snapshot.searcher.fast_field_values("place", [address for _, address in hits])
    found = zip(hits, places, strict=True)
    ranked = sorted((-float(score), int(place)) for (score, _), place in found if place is not None)
    return [(place, -negative) for negative, place in ranked[:size]]


def _scope_clause(snapshot: Snapshot, visible: Places) -> tuple[tantivy.Occur, tantivy.Query]:
    """The scope inside the query, without a share in the score; spelt as whichever list is the shorter."""
    if visible.size * 2 <= snapshot.size:
        allowed = tantivy.Query.term_set_query(snapshot.schema, "place", visible.tolist())
        return _MUST, tantivy.Query.const_score_query(allowed, 0.0)
    hidden = np.ones(snapshot.size, dtype=np.bool_)
    hidden[visible] = False
    places = np.flatnonzero(hidden).tolist()
    return _MUST_NOT, tantivy.Query.term_set_query(snapshot.schema, "place", places)
