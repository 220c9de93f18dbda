"""Whether a written claim says no more than its quotes, and leaves out nothing that they hang on.

Strict on purpose: what cannot be shown from the words is not proven. A clause of the claim needs one quote that has
all of it: its quantities, its names, its words in their order, and those that turn a sentence round (not, only, may).
And what a clause of the quote says under a condition or a negation may not be said without it. Width, case,
simplified and traditional characters, the format of numbers and the order of a list make no difference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import rjieba

from service.text.analysis import stem
from service.text.anchors import find_anchors, is_hard
from service.text.clauses import clauses
from service.text.folding import fold
from service.text.language import HAN
from service.text.numbers import entails, find_quantities, normalise, unsupported_quantities
from service.text.polarity import negations
from service.text.polarity_tables import EN_NEGATORS, ZH_NEGATORS
from service.text.stopwords import EN_FUNCTION, ZH_FUNCTION
from service.text.support_tables import (
    ADDING,
    CONDITION,
    ENGLISH_JOINT,
    EXCEPTION,
    RESERVATION,
    TELLING_EN,
    TELLING_ZH,
    TURNS,
)

Fault = Literal["quantity", "identifier", "nothing", "words", "order", "turned", "condition"]
Verdict = Literal["supported", "unsupported", "undecided"]

# Words that the quotes do not have may be synonyms, and another order another voice: neither shows a claim to be wrong.
_UNDECIDED: frozenset[Fault] = frozenset(("words", "order"))

# A clause of the quote counts as repeated by the claim from this share of its words on, a condition as kept.
_REPEATED, _KEPT = 0.6, 0.8

_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(rf"(?:(?![{HAN}])[^\W_])+")
_CITATION = re.compile(
    r"(?<![A-Za-z0-9_])\[\s?S?\d{1,3}(?:\s?[,，]\s?S?\d{1,3})*\s?\]|【S?\d{1,3}】|［S?\d{1,3}］"
)
_SENTENCE_END = re.compile(r"[。！？!?；;\n]|\.\s")
_JOINT = re.compile(r"\s*(?:[,，、/&]|和|与|及|以及|或者?|and|or)\s*(?:(?:the|an?)\s+)?")
_NOTHING = "\x00"  # negated where no word follows: "is not `x`"
_GLUE_EN = EN_FUNCTION - TELLING_EN
_GLUE_ZH = (ZH_FUNCTION - TELLING_ZH) | {"为", "系"}


@dataclass(frozen=True, slots=True)
class _Clause:
    """One clause: its words, the turns in it, what it negates, the number of its sentence, and whether that sentence
    stands under it."""

    words: frozenset[str]
    turns: frozenset[str]
    negated: tuple[str, ...]
    sentence: int
    is_condition: bool


def verdict_of(fault: Fault | None) -> Verdict:
    """What a fault says of its claim: shown, shown to be otherwise, or not to be told from the words."""
    if fault is None:
        return "supported"
    return "undecided" if fault in _UNDECIDED else "unsupported"


def fault_of(claim: str, quotes: Sequence[str]) -> Fault | None:
    """What of the claim the quotes do not show; None when they show all of it. What they show to be wrong comes before
    what cannot be told."""
    said = _CITATION.sub("", claim).strip()
    if any(_plain(said) == _plain(quote) for quote in quotes):
        return None
    if unsupported_quantities(claim, quotes) or _used_twice(said, quotes):
        return "quantity"
    if not _words(said) and not find_quantities(said):
        return "nothing"  # "It is the one."
    shown: dict[int, list[str]] = {}
    faults: list[Fault] = []
    for start, end in clauses(said):
        part = said[start:end]
        found = [_clause_fault(part, quote) for quote in quotes]
        if None in found:
            shown.setdefault(found.index(None), []).append(part)
        else:
            faults.append(_telling(part, quotes, [fault for fault in found if fault]))
    if faults:
        return next((fault for fault in faults if fault not in _UNDECIDED), faults[0])
    return next(filter(None, (_turned("，".join(own), quotes[at]) for at, own in shown.items())), None)


@lru_cache(maxsize=2048)
def _clause_fault(part: str, quote: str) -> Fault | None:
    """Why this one quote does not show all of one clause."""
    if _plain(part) in {_plain(quote[start:end]) for start, end in clauses(quote)}:
        return None
    if unsupported_quantities(part, [quote]) or _borrowed(part, quote):
        return "quantity"
    held = {anchor.canonical for anchor in find_anchors(quote)}
    if any(is_hard(anchor) and anchor.canonical not in held for anchor in find_anchors(part)):
        return "identifier"
    if _held(_words(part), quote) < 1:
        return "words"
    return None if _in_order(part, quote) else "order"


def _telling(part: str, quotes: Sequence[str], faults: Sequence[Fault]) -> Fault:
    """Of one clause's faults, quote by quote: a quote with all of its words and another number or name shows it to be
    wrong; else one with its numbers and names leaves it open; else no quote speaks of it."""
    words = _words(part)
    both = tuple(zip(faults, quotes, strict=True))
    wrong = [fault for fault, quote in both if fault not in _UNDECIDED and words and _held(words, quote) == 1]
    if wrong:
        return wrong[0]
    return next((fault for fault in ("order", "words") if fault in faults), faults[0])


def _used_twice(claim: str, quotes: Sequence[str]) -> bool:
    """Whether one quantity of the quotes would have to prove two of the claim."""
    left = [quantity for quote in quotes for quantity in find_quantities(quote)]
    known = list(left)
    for claimed in find_quantities(claim):
        fitting = [quantity for quantity in left if entails(quantity, claimed)]
        if fitting:
            left.remove(fitting[0])
        elif any(entails(quantity, claimed) for quantity in known):
            return True
    return False


def _borrowed(part: str, quote: str) -> bool:
    """Whether a number is told of what the quote names only later, beside a number of its own: of "A 272 km, B 276 km"
    that B is 272 km. What stands before a number may be its subject still."""
    pieces = [quote[start:end] for start, end in clauses(quote)]
    found = [find_quantities(piece) for piece in pieces]
    for claimed in find_quantities(part):
        last = max(
            (at for at, own in enumerate(found) if any(entails(q, claimed) for q in own)), default=None
        )
        if claimed.indefinite or last is None:
            continue
        rivals = [normalise(claimed)[1] in {normalise(q)[1] for q in own} for own in found]
        for word in _words(part) if any(rivals[last + 1 :]) else ():
            first = next((at for at, piece in enumerate(pieces) if _held(frozenset((word,)), piece)), -1)
            if first > last and rivals[first]:
                return True
    return False


def _turned(claim: str, quote: str) -> Fault | None:
    """What the claim adds to the clauses it repeats, or leaves out of them: a negation, a limit, a condition."""
    own, source = _clauses(claim), _clauses(quote)
    repeated = [c for c in source if c.words and _held(c.words, claim) >= _REPEATED]
    said_turns, turns = _union(c.turns for c in own), _union(c.turns for c in repeated or source)
    if repeated and _count_only(own) < _count_only(repeated):
        return "turned"
    said_negated = [target for clause in own for target in clause.negated]
    negated = [target for clause in repeated or source for target in clause.negated]
    if said_turns - turns or len(said_negated) > len(negated) or not _all_alike(said_negated, negated):
        return "turned"
    if repeated and (turns - said_turns or len(said_negated) < len(negated)):
        return "turned"
    sentences = {clause.sentence for clause in repeated}
    conditions = (c for c in source if c.is_condition and c.sentence in sentences and c.words)
    return "condition" if any(_held(c.words, claim) < _KEPT for c in conditions) else None


def _count_only(some: Sequence[_Clause]) -> int:
    """ "Only" may be said of two things, and be left out of one."""
    return sum("only" in clause.turns for clause in some)


def _all_alike(some: Sequence[str], others: Sequence[str]) -> bool:
    """Whether each of the negated things is among the others; one may be told shorter."""
    return all(any(a.startswith(b) or b.startswith(a) for b in others) for a in some)


@lru_cache(maxsize=512)
def _clauses(text: str) -> tuple[_Clause, ...]:
    return tuple(_cut(text))


def _cut(text: str) -> Iterator[_Clause]:
    pieces = list(_pieces(text))
    reserved = False
    for at, (sentence, piece) in enumerate(pieces):
        folded, words = fold(piece), _words(piece)
        following = fold(pieces[at + 1][1]) if at + 1 < len(pieces) else ""
        reserves = RESERVATION.search(folded) is not None
        yield _Clause(
            words=words,
            turns=frozenset(name for name, pattern in TURNS if pattern.search(folded)),
            negated=tuple(n.target or _NOTHING for n in negations(piece)),
            sentence=sentence,
            is_condition=reserved
            or reserves
            or CONDITION.search(folded) is not None
            or (EXCEPTION.search(folded) is not None and not ADDING.search(folded + following)),
        )
        # "But in 1960, …": what it reserves is said in the next clause.
        reserved = reserves and not words


def _pieces(text: str) -> Iterator[tuple[int, str]]:
    """Each clause with the number of its sentence."""
    sentence = at = 0
    for start, end in clauses(text):
        sentence += _SENTENCE_END.search(text[at:start]) is not None
        at = end
        for piece in ENGLISH_JOINT.split(text[start:end]):
            yield sentence, piece


@lru_cache(maxsize=2048)
def _words(text: str) -> frozenset[str]:
    """Words that say something: no quantities, no turns and negators (told apart), none that only hold a sentence
    together. Of Chinese as the segmenter cuts them, of others their stems."""
    return frozenset(word for group in _groups(text) for word in group)


@lru_cache(maxsize=512)
def _groups(text: str) -> tuple[tuple[str, ...], ...]:
    """The words in order; those that only "and", "or" or a comma parts are one group, whose order says nothing."""
    masked = _masked(text)
    groups: list[list[str]] = []
    last = 0
    for word, start, end in sorted(_cut_words(masked), key=lambda found: found[1]):
        if groups and _JOINT.fullmatch(masked, last, start):
            groups[-1].append(word)
        else:
            groups.append([word])
        last = end
    return tuple(map(tuple, groups))


def _masked(text: str) -> str:
    """Folded, with blanks where quantities, turns and negators stand."""
    folded = fold(text)
    for quantity in find_quantities(text):
        if not quantity.indefinite:
            folded = folded[: quantity.start] + " " * (quantity.end - quantity.start) + folded[quantity.end :]
    for pattern in (*(pattern for _, pattern in TURNS), ZH_NEGATORS, EN_NEGATORS):
        folded = pattern.sub(lambda match: " " * len(match.group()), folded)
    return folded


def _cut_words(masked: str) -> Iterator[tuple[str, int, int]]:
    for run in _HAN_RUN.finditer(masked):
        at = run.start()
        for word in rjieba.cut(run.group()):
            if word not in _GLUE_ZH:
                yield word, at, at + len(word)
            at += len(word)
    for found in _WORD.finditer(masked):
        word = stem(found.group())
        if word not in _GLUE_EN:
            yield word, found.start(), found.end()


def _in_order(part: str, quote: str) -> bool:
    """Whether the quote has the words in the order of the claim: who replaces whom is told by nothing else."""
    floor = 0
    for group in _groups(part):
        places = [next((at for at in _places(word, quote) if at >= floor), None) for word in group]
        known = [at for at in places if at is not None]
        if len(known) < len(places):
            return False
        floor = min(known)
    return True


def _places(word: str, quote: str) -> Sequence[int]:
    """Where the quote, without its blanks, has the word."""
    if not _HAN_RUN.match(word):
        return _stem_places(quote).get(word, ())
    plain = _plain(quote)
    keeps = word in plain or word in TELLING_ZH
    bare = word if keeps else "".join(char for char in word if char not in _GLUE_ZH)
    return [found.start() for found in re.finditer(re.escape(bare), plain)]


@lru_cache(maxsize=512)
def _stem_places(text: str) -> dict[str, list[int]]:
    folded, places = fold(text), dict[str, list[int]]()
    for found in _WORD.finditer(folded):
        at = len("".join(folded[: found.start()].split()))
        places.setdefault(stem(found.group()), []).append(at)
    return places


def _held(words: frozenset[str], text: str) -> float:
    """Share of the words that the text has: Chinese ones anywhere in it, others as words."""
    if not words:
        return 1.0
    plain, known = _plain(text), _stems(text)
    return sum(_in(word, plain) if _HAN_RUN.match(word) else word in known for word in words) / len(words)


def _in(word: str, plain: str) -> bool:
    """The segmenter may cut a word together with a particle beside it: 液时 out of 漏液时."""
    bare = "" if word in TELLING_ZH else "".join(char for char in word if char not in _GLUE_ZH)
    return word in plain or (bare != word and bool(bare) and bare in plain)


@lru_cache(maxsize=512)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem(word) for word in _WORD.findall(fold(text)))


@lru_cache(maxsize=512)
def _plain(text: str) -> str:
    return "".join(fold(text).split())


def _union(parts: Iterator[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*parts)
