"""The extractive answerer: the few verbatim pieces of the evidence that say what was asked.

Deterministic, and honest about what it is: it quotes, it does not write.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from service.domain.answers import Citation, Claim, ClaimFault, Evidence, Mode
from service.domain.documents import Span
from service.domain.reading import Reading
from service.domain.retrieval import Vector
from service.domain.reviews import Undecided
from service.online.answering.units import Unit, table_head, windows_of
from service.profiles.ranking import Answering
from service.text.analysis import analyse, content_terms, coverage, term_weight
from service.text.anchors import Anchor, find_anchors
from service.text.circumstances import another_case
from service.text.clauses import clauses
from service.text.numbers import Quantity, entails, find_quantities
from service.text.polarity import modality
from service.text.questions import Condition, Kind
from service.text.spans import sha256_text

_SIDE_HELD = 0.6  # share of a side's words that a piece must hold to be about it
_MAX_UNITS = 40  # units compared by meaning; one costs about ten milliseconds to embed

Embed = Callable[[Sequence[str]], Vector]


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """Everything the answerer may use. `vector` is the question's embedding, or None when there is none; `readings` are
    of the leading main evidence, in its order, and none where there is no reader."""

    question: str
    terms: tuple[str, ...]
    hard: tuple[Anchor, ...]
    asks_value: bool
    vector: Vector | None
    evidence: tuple[Evidence, ...]
    settings: Answering
    embed: Embed
    kind: Kind = "other"
    sides: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()
    readings: tuple[Reading, ...] = ()


@dataclass(frozen=True, slots=True)
class Proposal:
    """An answer not yet verified. `units` are the quoted pieces with their scores, best first. `fault` is why a model's
    text is not taken; there are no claims then. `undecided` are claims of the model that are no part of the answer."""

    answer: str
    claims: tuple[Claim, ...]
    units: tuple[tuple[Unit, float], ...] = ()
    mode: Mode = "extractive"
    fault: ClaimFault | None = None
    undecided: tuple[Undecided, ...] = ()


def propose(request: AnswerRequest) -> Proposal:
    """The best piece, and a second one where it adds a question term the first lacks; of a comparison the best piece
    for each side; of a procedure the steps around the best piece, in order.

    A proposal without claims means that nothing quotable answers the question.
    """
    settings = request.settings
    main = [place for place, item in enumerate(request.evidence) if item.role == "main"]
    examined = main if request.sides else main[: settings.examined_evidence]
    windows = [
        window
        for place in examined
        for window in windows_of(place, request.evidence[place], steps=request.kind == "how_to")
    ]
    units = _restrict_to_anchors(_of_sides(windows, request), request.hard)[:_MAX_UNITS]
    if not units:
        return Proposal("", ())
    scored = sorted(
        zip(units, _scores(request, units), strict=True),
        key=lambda pair: (-pair[1], pair[0].source, pair[0].span.start),
    )
    if request.asks_value and not any(_has_value(unit, request) for unit, _ in scored):
        return Proposal("", ())
    picked = _best_of_each_side(request, scored) if request.kind == "comparison" else []
    return _proposal(request, picked or _best(request, scored))


def beside(proposal: Proposal, request: AnswerRequest, unit: Unit) -> Proposal:
    """The answer with one more piece quoted, unless it quotes that already."""
    quoted = [citation for claim in proposal.claims for citation in claim.citations]
    source = request.evidence[unit.source].source_id
    if any(c.source_id == source and _overlap(c.span, unit.span) for c in quoted):
        return proposal
    added = _proposal(request, [(unit, 0.0)])
    return replace(
        proposal, answer=f"{proposal.answer}\n{added.answer}", claims=(*proposal.claims, *added.claims)
    )


def _best(request: AnswerRequest, scored: Sequence[tuple[Unit, float]]) -> list[tuple[Unit, float]]:
    settings = request.settings
    best_unit, best_score = scored[0]
    picked = [(best_unit, best_score)]
    known = set(analyse(_read(best_unit)))
    for unit, score in scored[1:]:
        if len(picked) >= settings.max_claims or best_score - score > settings.second_margin:
            break
        if _another_case(unit, request):
            continue
        new = [t for t in request.terms if t not in known and t in set(analyse(unit.text))]
        if sum(map(term_weight, new)) > 0:
            picked.append((unit, score))
            known |= set(analyse(unit.text))
    return picked


def _of_sides(windows: list[Unit], request: AnswerRequest) -> list[Unit]:
    """For a comparison, only what speaks of a side: so that pieces of lower rank are looked at too."""
    if request.kind != "comparison":
        return windows
    return [unit for unit in windows if any(_speaks_of(side, unit) for side in request.sides)] or windows


def _best_of_each_side(
    request: AnswerRequest, scored: Sequence[tuple[Unit, float]]
) -> list[tuple[Unit, float]]:
    """A piece that speaks of both sides in its own words and as well as those of one, or the best of each in the order
    asked."""
    found: list[tuple[Unit, float]] = []
    for side in request.sides:
        own = [pair for pair in scored if _names_side(side, pair[0])] or [
            pair for pair in scored if _speaks_of(side, pair[0])
        ]
        found += [pair for pair in own[:1] if pair not in found]
    both = [pair for pair in scored if all(_names_side(side, pair[0]) for side in request.sides)]
    return both[:1] if both and both[0][1] >= min(score for _, score in found) else found


def _speaks_of(side: str, unit: Unit) -> bool:
    return coverage(content_terms(side) or analyse(side), analyse(_read(unit))) >= _SIDE_HELD


def _names_side(side: str, unit: Unit) -> bool:
    return coverage(content_terms(side) or analyse(side), analyse(unit.text)) >= _SIDE_HELD


def _another_case(unit: Unit, request: AnswerRequest) -> float:
    return another_case(request.question, f"{unit.context}\n{unit.text}")


def _read(unit: Unit) -> str:
    return f"{unit.context} {unit.text}"


def _restrict_to_anchors(units: list[Unit], hard: Sequence[Anchor]) -> list[Unit]:
    """Where a unit itself names an identifier of the question, the others are about something else."""
    wanted = {anchor.canonical for anchor in hard}
    if not wanted:
        return units
    own = [len(wanted & {anchor.canonical for anchor in find_anchors(unit.text)}) for unit in units]
    most = max(own, default=0)
    return [unit for unit, held in zip(units, own, strict=True) if held == most]


def _has_value(unit: Unit, request: AnswerRequest) -> bool:
    return has_value(unit.text, request)


def has_value(text: str, request: AnswerRequest) -> bool:
    """A quantity that the question did not bring along itself, or that there is no limit."""
    return bool(_new_quantities(text, request)) or "unlimited" in modality(text)


def _new_quantities(text: str, request: AnswerRequest) -> list[Quantity]:
    asked = find_quantities(request.question)
    return [q for q in find_quantities(text) if not any(entails(a, q) for a in asked)]


def value_of(text: str, request: AnswerRequest) -> str | None:
    """The value as written: of the clause, or cell, that shares most with the question, the first quantity."""
    if request.kind != "value":
        return None
    spans = [*clauses(text)]
    ranked = [
        (-coverage(request.terms, analyse(_clause(text, spans, q.start))), q.start, q.text)
        for q in _new_quantities(text, request)
    ]
    return min(ranked)[2] if ranked else None


def _clause(text: str, spans: Sequence[tuple[int, int]], at: int) -> str:
    return next((text[start:end] for start, end in spans if start <= at < end), text)


def _scores(request: AnswerRequest, units: Sequence[Unit]) -> list[float]:
    settings = request.settings
    cosines = np.zeros(len(units), dtype=np.float32)
    if request.vector is not None:
        cosines = request.embed([unit.text for unit in units]) @ request.vector
    return [
        settings.cosine * float(cosine)
        + settings.coverage * coverage(list(request.terms), analyse(_read(unit)))
        + (settings.value if request.asks_value and _has_value(unit, request) else 0.0)
        - settings.evidence_rank * unit.source
        - settings.another_case * _another_case(unit, request)
        + settings.reader * logit
        for unit, cosine, logit in zip(units, cosines, _read_logits(request, units), strict=True)
    ]


def _read_logits(request: AnswerRequest, units: Sequence[Unit]) -> list[float]:
    """How much a reader believes that each unit holds the answer; nothing where not every unit's evidence was read."""
    main = [place for place, item in enumerate(request.evidence) if item.role == "main"]
    read = dict(zip(main, request.readings, strict=False))
    if any(unit.source not in read for unit in units):
        return [0.0] * len(units)
    starts = [request.evidence[unit.source].span.start for unit in units]
    return [
        read[unit.source].within(Span(unit.span.start - start, unit.span.end - start))
        for unit, start in zip(units, starts, strict=True)
    ]


def _proposal(request: AnswerRequest, picked: Sequence[tuple[Unit, float]]) -> Proposal:
    claims: list[Claim] = []
    lines: list[str] = []
    quoted: list[Unit] = []
    for unit, _ in picked:
        if any(unit.source == other.source and _overlap(unit.span, other.span) for other in quoted):
            continue
        quoted.append(unit)
        evidence = request.evidence[unit.source]
        claim = _claim(evidence, unit.span, request)
        claims.append(claim)
        head = table_head(evidence) if unit.row else ""
        said = f"{claim.text} [{evidence.source_id}]"
        lines.append(f"{head}\n{said}" if head else said)
    return Proposal("\n".join(lines), tuple(claims), tuple(picked))


def _overlap(one: Span, two: Span) -> bool:
    return one.start < two.end and two.start < one.end


def _claim(evidence: Evidence, span: Span, request: AnswerRequest) -> Claim:
    quote = Span(span.start - evidence.span.start, span.end - evidence.span.start).of(evidence.text)
    citation = Citation(
        source_id=evidence.source_id,
        document_id=evidence.document_id,
        document_version=evidence.document_version,
        chunk_id=evidence.chunk_id,
        span=span,
        quote=quote,
        quote_sha256=sha256_text(quote),
        heading_path=evidence.heading_path,
        page=evidence.page,
    )
    return Claim(text=quote, kind="extracted", citations=(citation,), value=value_of(quote, request))
