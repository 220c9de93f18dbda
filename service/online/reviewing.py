"""The queue of claims that could not be decided: kept beside the answer, read and marked by those who may see all that
the claim was written from, now."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from datetime import UTC, datetime

from service.access.policy import scope_of, visible
from service.domain.ports import Engine, Reviews
from service.domain.reviews import Mark, Review, ReviewState, Undecided
from service.domain.rights import Principal
from service.errors import AttestError, Conflict, NotFound

LONGEST_LIST = 200  # reviews listed at once, the oldest first: what is behind them follows as they are marked
_MOST_WAITING = 100  # requests whose claims wait to be kept


class ReviewKeeper:
    """Keeps claims in a thread of its own, so that no answer waits for the store. What the store does not take, or what
    too many wait before, is lost, and told as a metric: like a trace."""

    def __init__(self, on_event: Callable[[str, str, float], None]) -> None:
        self._on_event = on_event
        self._room = threading.BoundedSemaphore(_MOST_WAITING)
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="reviews")

    def keep(
        self, reviews: Reviews, trace_id: str, header: Mapping[str, str], undecided: Sequence[Undecided]
    ) -> None:
        """What a request left undecided, under the header of its trace; a claim of the same words and sources is in
        the queue once."""
        if not undecided:
            return
        if not self._room.acquire(blocking=False):
            self._on_event("review", "lost", 1)
            return
        self._executor.submit(self._write, reviews, [_review(trace_id, header, one) for one in undecided])

    def _write(self, reviews: Reviews, found: Sequence[Review]) -> None:
        try:
            for review in found:
                try:
                    reviews.write(review)
                except Conflict:
                    continue  # It is there already.
        except AttestError:
            self._on_event("review", "lost", 1)
        finally:
            self._room.release()


def _review(trace_id: str, header: Mapping[str, str], undecided: Undecided) -> Review:
    key = json.dumps([header["tenant"], header["generation"], asdict(undecided)], sort_keys=True)
    return Review(
        review_id=hashlib.sha256(key.encode()).hexdigest()[:32],
        at=_now(),
        tenant=header["tenant"],
        corpus=header["corpus"],
        corpus_version=header["corpusVersion"],
        generation=header["generation"],
        trace_id=trace_id,
        undecided=undecided,
    )


def list_reviews(
    engine: Engine, principal: Principal, corpus: str | None, state: ReviewState | None
) -> Iterator[Review]:
    """Those that this principal may read, by corpus and oldest first."""
    for name in [corpus] if corpus else engine.registry.corpora():
        asked = [r for r in engine.reviews.scan(name) if state in (None, r.state)]
        yield from _readable(engine, principal, name, asked)


def read_review(engine: Engine, principal: Principal, review_id: str) -> Review:
    """Raises NotFound for one that is missing, or of which the principal may not see every document."""
    review = engine.reviews.get(review_id)
    if review is None or not _readable(engine, principal, review.corpus, [review]):
        raise NotFound
    return review


def mark_review(
    engine: Engine, principal: Principal, review_id: str, mark: Mark, note: str, who: str
) -> Review:
    """The first mark stands, and only who made it may change it. Raises Conflict for anybody else, NotFound as
    `read_review`."""
    review = read_review(engine, principal, review_id)
    if review.marked_by not in ("", who):
        raise Conflict(
            f"{review.marked_by} marked this {review.state} at {review.marked_at}; only they may change it."
        )
    return engine.reviews.write(replace(review, state=mark, marked_by=who, marked_at=_now(), note=note))


def quotes_of(engine: Engine, review: Review) -> list[str]:
    """What the claim names as its sources, cut anew from the archive. Raises NotFound where it is not there."""
    cited = review.undecided.citations
    archive = engine.archive.get_many([(c.document_id, c.document_version) for c in cited])
    try:
        return [c.span.of(archive[c.document_id, c.document_version].canonical_text) for c in cited]
    except KeyError:
        raise NotFound from None


def _readable(engine: Engine, principal: Principal, corpus: str, asked: Sequence[Review]) -> list[Review]:
    """Those whose every document may be seen now."""
    own = [review for review in asked if review.tenant == principal.tenant]
    documents = sorted({name for review in own for name in _documents(review)})
    entries = engine.registry.get_many(corpus, documents) if documents else {}
    scope = scope_of(principal)
    seen = {name for name, e in entries.items() if not e.deleted and visible(e.access, scope)}
    return [review for review in own if _documents(review) <= seen]


def _documents(review: Review) -> set[str]:
    said = review.undecided
    return {*said.documents, *(cited.document_id for cited in said.citations)}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class NoReviews:
    """For trials that leave nothing behind."""

    def get(self, review_id: str) -> Review | None:
        return None

    def write(self, review: Review) -> Review:
        return review

    def scan(self, corpus: str) -> Iterator[Review]:
        return iter(())
