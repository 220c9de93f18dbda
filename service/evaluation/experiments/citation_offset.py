"""A citation that points a little beside its quote: what a path that does not look shows for it, and that ours refuses.

The answerer is replaced by one that proposes the right answer with a citation moved in one way. The same proposal goes
through a story without the verifier, built here and nowhere else, and through the product's own. Then the citation is
opened as a reader would, before and after the page has a new version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace

from service.adapters.redis_cache import NoCache
from service.domain.answers import Citation, GroundedAnswer, Question
from service.domain.documents import Span
from service.errors import BuildRefused
from service.evaluation.experiments import Expectation, expect
from service.evaluation.experiments.permission_world import PUBLIC, Page, publish
from service.offline.story import Offline
from service.online.answering.extractive import AnswerRequest, Proposal, propose
from service.online.citations.verify import Verdict
from service.online.entry import Online
from service.online.story import Story
from service.text.spans import sha256_text


@dataclass(frozen=True, slots=True)
class Place:
    """One page of two versions. A sign outside the basic plane stands before the quote, so that code points, UTF-16
    units and bytes all count differently. `quote` is what answers, `neighbour` the sentence after it."""

    name: str
    document_id: str
    title: str
    text: str
    later: str
    question: str
    quote: str
    neighbour: str


PLACES = (
    Place(
        "zh", "kiln-log", "窑炉值守簿",
        "🏺 窑炉值守簿由当班窑工填写。素烧升温每小时不超过九十度。釉烧升温每小时不超过六十度。"
        "开窑之前须等炉温降到八十度。",
        "🏺 窑炉值守簿由当班窑工填写，一式两份，另一份交库房。素烧升温每小时不超过九十度。釉烧升温每小时不超过六十度。"
        "开窑之前须等炉温降到八十度。",
        "素烧升温每小时不超过多少度？", "素烧升温每小时不超过九十度。", "釉烧升温每小时不超过六十度。",
    ),
    Place(
        "en", "bell-ledger", "Ledger of the bell foundry",
        "🔔 The ledger of the bell foundry — café side — is kept by the founder. The small mould cools for nine hours. "
        "The large mould cools for four days. The clapper is hung last.",
        "🔔 The ledger of the bell foundry — café side — is kept by the founder and by his clerk, in two hands. "
        "The small mould cools for nine hours. The large mould cools for four days. The clapper is hung last.",
        "For how many hours does the small mould cool?", "The small mould cools for nine hours.",
        "The large mould cools for four days.",
    ),
)  # fmt: skip
_OTHER = Page(
    "elsewhere", "Elsewhere", "🪁 Kites are flown on the dunes. The dunes are closed at dusk in October."
)


@dataclass(frozen=True, slots=True)
class Unchecked(Story):
    """The story as it must not be: what is proposed is believed."""

    def verify(self, *_: object) -> Verdict:
        return Verdict()


def run(offline: Offline, online: Online) -> list[Expectation]:
    """Every way of moving a citation, in both languages; the caller gives an engine of its own."""
    results: list[Expectation] = []
    for place in PLACES:
        corpus = f"citation-offset-{place.name}"
        publish(offline, corpus, (Page(place.document_id, place.title, place.later), _OTHER))
        older = _cited(_ask(online, corpus, place))
        publish(offline, corpus, (Page(place.document_id, place.title, place.text), _OTHER))
        cited = _cited(_ask(online, corpus, place))
        told = [expect("untouched: quotes", place.quote, cited.quote if cited else None)]
        if cited is not None and older is not None:
            for way, moved in _ways(place, cited, older).items():
                told += _through_both(online, corpus, place, way, moved)
            told += [_next_generation(offline, corpus, place), *_opened_later(offline, online, place)]
        results += [replace(e, what=f"{place.name}, {e.what}") for e in told]
    return results


def _ways(place: Place, cited: Citation, older: Citation) -> Mapping[str, Citation]:
    """The citation moved; its quote and hash stay what they were, but in "neighbour, cut anew", which is a citation in
    order, of another sentence than is said."""
    text, span = place.text, cited.span
    start = text.index(place.neighbour)
    next_to = Span(start, start + len(place.neighbour))

    def moved(start: int, end: int) -> Citation:
        return replace(cited, span=Span(start, end))

    def counted(length: Callable[[str], int]) -> Citation:
        return moved(length(text[: span.start]), length(text[: span.end]))

    return {
        "start + 1": moved(span.start + 1, span.end),
        "end - 1": moved(span.start, span.end - 1),
        "start and end + 1": moved(span.start + 1, span.end + 1),
        "the neighbouring sentence": moved(next_to.start, next_to.end),
        "the neighbouring sentence, cut anew": replace(
            cited, span=next_to, quote=place.neighbour, quote_sha256=sha256_text(place.neighbour)
        ),
        "places of another version": replace(cited, span=older.span),
        "another version": replace(cited, document_version=older.document_version),
        "another document": replace(cited, document_id=_OTHER.document_id),
        "counted in UTF-16 units": counted(lambda part: len(part.encode("utf-16-le")) // 2),
        "counted in bytes": counted(lambda part: len(part.encode())),
    }


def _through_both(online: Online, corpus: str, place: Place, way: str, moved: Citation) -> list[Expectation]:
    def faulty(request: AnswerRequest) -> Proposal:
        proposal = propose(request)
        first = replace(proposal.claims[0], citations=(moved,))
        return replace(proposal, claims=(first, *proposal.claims[1:]))

    story = replace(online.story, answerer=faulty)
    parts = {field.name: getattr(story, field.name) for field in fields(story)}
    wrong = _ask(replace(online, story=Unchecked(**parts), cache=NoCache()), corpus, place)
    right = _ask(replace(online, story=story, cache=NoCache()), corpus, place)
    shown = _cited(wrong)
    return [
        expect(f"not looked at, {way}: status", "answered", wrong.status),
        expect(
            f"not looked at, {way}: what is said stands there",
            False,
            _at_its_place(online, shown) == place.quote,
        ),
        expect(f"{way}: status", "no_answer", right.status),
        expect(f"{way}: reason", "CITATION_VALIDATION_FAILED", right.reason),
        expect(
            f"{way}: answer, claims, sources", (None, (), ()), (right.answer, right.claims, right.sources)
        ),
    ]


def _at_its_place(online: Online, shown: Citation | None) -> str | None:
    """What a reader who opens the citation at its place finds, whatever its hash."""
    if shown is None:
        return None
    key = shown.document_id, shown.document_version
    document = online.story.engine.archive.get_many([key]).get(key)
    return shown.span.of(document.canonical_text) if document else None


def _next_generation(offline: Offline, corpus: str, place: Place) -> Expectation:
    """What the path without the verifier gave away stands in its traces: the gates ask for it again."""
    try:
        publish(offline, corpus, (Page(place.document_id, place.title, f"{place.text}\n"), _OTHER))
        refused = "published"
    except BuildRefused as error:
        refused = "not what was quoted" if "not what was quoted" in str(error) else str(error)
    return expect("not looked at: the next generation is refused for", "not what was quoted", refused)


def _opened_later(offline: Offline, online: Online, place: Place) -> list[Expectation]:
    """A citation opened at its place and one to the right, while its version is current and after it is not."""
    corpus = f"citation-offset-{place.name}-opened"
    publish(offline, corpus, (Page(place.document_id, place.title, place.text), _OTHER))
    cited = _cited(_ask(online, corpus, place))
    if cited is None:
        return [expect("to be opened: cited", True, False)]
    results = [
        expect("opened: status, text", ("current", place.quote, True), _opened(online, cited, 0)),
        expect("opened one to the right: status, text", ("damaged", "", False), _opened(online, cited, 1)),
    ]
    publish(offline, corpus, (Page(place.document_id, place.title, place.later), _OTHER))
    again = _cited(_ask(online, corpus, place))
    return [
        *results,
        expect(
            "after a new version: the answer cites it",
            True,
            again is not None and again.document_version != cited.document_version,
        ),
        expect(
            "the old one opened: status, text", ("superseded", place.quote, True), _opened(online, cited, 0)
        ),
        expect(
            "the old one, one to the right: status, text", ("damaged", "", False), _opened(online, cited, 1)
        ),
    ]


def _opened(online: Online, citation: Citation, by: int) -> tuple[str, str, bool]:
    """Status, text, and whether anything beside it is shown."""
    view = online.read_source(
        PUBLIC, citation.document_id, citation.document_version,
        citation.span.start + by, citation.span.end + by, citation.quote_sha256,
    )  # fmt: skip
    return view.status, view.text, bool(view.before + view.after)


def _ask(online: Online, corpus: str, place: Place) -> GroundedAnswer:
    return online.answer(Question("citation-offset", place.question, corpus), PUBLIC)


def _cited(answer: GroundedAnswer) -> Citation | None:
    return next((citation for claim in answer.claims for citation in claim.citations), None)
