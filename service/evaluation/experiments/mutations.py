"""The mutation suite: true claims made wrong in one place must be refused, true ones said differently accepted.

The claims are sentences of real documents, each cited verbatim, so that all of them are true. A mutant of words is
handed to the verifier as a language model's sentence with the right citation; a mutant of a citation has the right
words and cites something else.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Literal

from service.domain.answers import Citation, Claim, Evidence
from service.domain.documents import ArchivedDocument, Span
from service.domain.sources import SourceFault
from service.errors import AttestError
from service.evaluation.experiments import mutating
from service.evaluation.experiments.mutating import HARMLESS, WRONG, Mutator
from service.evaluation.experiments.mutating_names import (
    by_kind,
    chinese_swappers,
    exchanged,
    latin_names,
    latin_swapper,
)
from service.offline.ingest.parsing import parse
from service.offline.ingest.sources import read_sources
from service.offline.intake import archived
from service.online.citations.verify import verify
from service.profiles.corpus import CorpusProfile
from service.text.clauses import clauses
from service.text.language import language
from service.text.sentences import sentences
from service.text.spans import sha256_text

# What must be refused: of these 99 in 100, of the other wrong ones 95, and 97 of the harmless accepted.
STRICT = frozenset(
    (
        "number + 1",
        "number - 1",
        "Chinese number + 1",
        "word for a number",
        "digit dropped",
        "unit swapped",
        "scale x 10",
        "negation added",
        "negation removed",
        "limit turned",
        "citation to a neighbour",
        "offset + 1",
        "offset - 1",
        "stale version",
    )
)
LEAST = 20
GOAL_STRICT, GOAL_WRONG, GOAL_HARMLESS = 0.99, 0.95, 0.97
_PLAIN = CorpusProfile(name="mutations")
_MARKER = re.compile(r"(?:[-*+>#]+|\d{1,3}[.)、])\s*")  # of a list item: it says nothing
_LENGTH = (16, 240)  # characters of a claim: a whole thought, and no list


@dataclass(frozen=True, slots=True)
class True_:
    """A sentence of a document and where it stands; `following` is the one after it."""

    document: ArchivedDocument
    span: Span
    following: Span

    @property
    def text(self) -> str:
        return self.span.of(self.document.canonical_text)


@dataclass(slots=True)
class Tally:
    """By (kind, language): how many were tried and how many came out right; `missed` keeps examples."""

    tried: Counter[tuple[str, str]] = field(default_factory=Counter)
    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    missed: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def kinds(self) -> list[str]:
        return sorted({kind for kind, _ in self.tried})

    @property
    def below(self) -> list[str]:
        """Kinds under their goal; a handful of mutants says nothing of a kind."""
        tried = Counter(kind for (kind, _), count in self.tried.items() for _ in range(count))
        return [kind for kind in self.kinds if tried[kind] >= LEAST and self.share(kind) < goal(kind)]

    def share(self, kind: str) -> float:
        tried = sum(count for (name, _), count in self.tried.items() if name == kind)
        return sum(count for (name, _), count in self.right.items() if name == kind) / tried if tried else 1.0


def goal(kind: str) -> float:
    return GOAL_HARMLESS if kind in HARMLESS else GOAL_STRICT if kind in STRICT else GOAL_WRONG


def claims_of(documents: Sequence[ArchivedDocument], most: int, rng: random.Random) -> list[True_]:
    """Up to `most` sentences of prose that end in a full stop, drawn evenly from all documents."""
    found = [true for document in documents for true in _sentences(document)]
    rng.shuffle(found)
    return found[:most]


def run(claims: Sequence[True_], rng: random.Random) -> Tally:
    """Every mutator on every claim that has a place for it."""
    latin = sorted({name for true in claims for name in latin_names(true.text)})
    chinese = by_kind([true.text for true in claims])
    wrong: dict[str, Mutator] = WRONG | {"entity swapped": latin_swapper(latin), "names exchanged": exchanged}
    texts = {true.document.document_id: true.document.canonical_text for true in claims}
    near = {document: by_kind([text]) for document, text in texts.items()}
    tally = Tally()
    for place, true in enumerate(claims):
        swappers = chinese_swappers(near[true.document.document_id], chinese)
        for kind, mutator in (wrong | swappers).items():
            mutant = mutator(true.text, rng)
            if mutant is not None and mutant != true.text:
                _count(tally, kind, true, mutant, not _accepted(true, mutant))
        for kind, mutator in HARMLESS.items():
            mutant = mutator(true.text, rng)
            if mutant is not None:
                _count(tally, kind, true, mutant, _accepted(true, mutant))
        for kind, held in _citation_mutants(true, claims[place - 1]):
            _count(tally, kind, true, "", held)
    return tally


def _sentences(document: ArchivedDocument) -> Iterator[True_]:
    text = document.canonical_text
    for block in document.blocks:
        if block.kind not in ("paragraph", "list_item"):
            continue
        spans = [
            Span(block.span.start + start, block.span.start + end)
            for start, end in sentences(block.span.of(text))
        ]
        for span, following in pairwise(spans):
            said = span.of(text)
            if marker := _MARKER.match(said):
                span = Span(span.start + marker.end(), span.end)
                said = span.of(text)
            if _LENGTH[0] <= len(said) <= _LENGTH[1] and said[-1] in "。.！!" and "](" not in said:
                yield True_(document, span, following)


def _evidence(true: True_, source_id: str = "S1") -> Evidence:
    whole = Span(true.span.start, true.following.end)
    document = true.document
    return Evidence(
        source_id=source_id,
        chunk_id=f"{document.document_id}#{true.span.start}",
        document_id=document.document_id,
        document_version=document.document_version,
        kind="paragraph",
        title=document.title,
        heading_path=(),
        span=whole,
        text=whole.of(document.canonical_text),
        search_prefix="",
        canonical_url="",
        page=None,
        score=1.0,
    )


def _citation(true: True_, evidence: Evidence, span: Span | None = None) -> Citation:
    quoted = span or true.span
    quote = quoted.of(true.document.canonical_text)
    return Citation(
        source_id=evidence.source_id,
        document_id=evidence.document_id,
        document_version=evidence.document_version,
        chunk_id=evidence.chunk_id,
        span=quoted,
        quote=quote,
        quote_sha256=sha256_text(quote),
    )


def _accepted(
    true: True_,
    text: str,
    citation: Citation | None = None,
    kind: Literal["extracted", "generated"] = "generated",
) -> bool:
    evidence = _evidence(true)
    claim = Claim(text, kind, (citation or _citation(true, evidence),))
    document = true.document
    return (
        verify([claim], [evidence], {(document.document_id, document.document_version): document}).fault
        is None
    )


def _citation_mutants(true: True_, other: True_) -> Iterator[tuple[str, bool]]:
    """(kind, whether it was refused), and that the true claim itself is accepted."""
    cited = _citation(true, _evidence(true))
    yield "verbatim, unchanged", _accepted(true, true.text) and _accepted(true, true.text, kind="extracted")
    following = _citation(true, _evidence(true), true.following)
    yield "citation to a neighbour", not _accepted(true, true.text, following)
    moved = replace(cited, span=Span(true.span.start + 1, true.span.end + 1))
    yield "offset + 1", not _accepted(true, true.text, moved)
    if true.span.start:
        back = replace(cited, span=Span(true.span.start - 1, true.span.end - 1))
        yield "offset - 1", not _accepted(true, true.text, back)
    yield "stale version", not _accepted(true, true.text, replace(cited, document_version="0" * 64))
    joined = _joined(true, other)
    if joined is not None:
        yield "two sources joined", not _accepted(true, joined)
    crossed = _crossed(true, other)
    if crossed is not None:
        yield "two sources crossed", crossed


def _joined(true: True_, other: True_) -> str | None:
    """The first clause of one source and the last of another, to be cited from the first alone."""
    mine, theirs = list(clauses(true.text)), list(clauses(other.text))
    if len(mine) < 2 or len(theirs) < 2 or true.document is other.document:
        return None
    if language(true.text) != language(other.text):
        return None
    (_, end), (start, _) = mine[0], theirs[-1]
    return f"{true.text[:end]}{'，' if language(true.text) == 'zh' else ', '}{other.text[start:].lstrip()}"


def _crossed(true: True_, other: True_) -> bool | None:
    """One source's sentence with the other's number, both cited; None where they have no numbers to cross."""
    for mine in mutating.numbers(true.text):
        for theirs in mutating.numbers(other.text):
            if mine.unit == theirs.unit and mine.value != theirs.value:
                mixed = true.text[: mine.start] + theirs.text + true.text[mine.end :]
                first, second = _evidence(true), _evidence(other, "S2")
                claim = Claim(mixed, "generated", (_citation(true, first), _citation(other, second)))
                archive = {(d.document_id, d.document_version): d for d in (true.document, other.document)}
                return verify([claim], [first, second], archive).fault is not None
    return None


def _count(tally: Tally, kind: str, true: True_, mutant: str, right: bool) -> None:
    key = kind, language(true.text)
    tally.tried[key] += 1
    tally.right[key] += right
    if not right:
        tally.missed.append((kind, true.text, mutant))


def documents_of(paths: Sequence[Path]) -> Iterator[ArchivedDocument]:
    """The documents below the paths, as an ingest would archive them; what cannot be read is passed over."""
    for item in read_sources(paths):
        if isinstance(item, SourceFault):
            continue
        try:
            yield archived(parse(item), item, _PLAIN)
        except AttestError:
            continue
