"""Negation and modality: whether a passage says the opposite of a question or a claim.

Rules over surface forms, as tables. A conflict is reported only where the two speak of the same thing: the
clause of the passage nearest to the claim, by shared terms. Silence is no conflict.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from service.text.clauses import clauses
from service.text.folding import fold
from service.text.language import HAN
from service.text.polarity_tables import (
    ANTONYMS,
    EN_NEGATORS,
    MODALITY,
    NEGATION_LOOKALIKES,
    OPPOSITE_MODALITY,
    YES_NO_QUESTION,
    ZH_NEGATORS,
    ZH_SKIPPED,
    Modality,
)
from service.text.stopwords import EN_FUNCTION, EN_QUESTION

# Clauses that share less than this part of the claim's terms speak of something else.
_SAME_SUBJECT = 0.4

_HAN_RUN = re.compile(f"[{HAN}]+")
_LATIN_WORD = re.compile(r"[a-z][a-z0-9_.\-]*[a-z0-9]|[a-z]")
_NOT_CONTENT = EN_FUNCTION | EN_QUESTION | frozenset("not no never cannot without".split())


@dataclass(frozen=True, slots=True)
class Negation:
    """A negator at [start, end) and what it negates: the first content characters or word after it."""

    start: int
    end: int
    text: str
    target: str


def negations(text: str) -> list[Negation]:
    """All negations of `text` in order. 不同, 不仅, 是不是, "not only" and their like are none."""
    folded = fold(text)
    hidden = NEGATION_LOOKALIKES.sub(lambda match: "\x00" * len(match.group()), folded)
    found = [
        Negation(match.start(), match.end(), text[match.start() : match.end()], _target(hidden, match.end()))
        for negator in (ZH_NEGATORS, EN_NEGATORS)
        for match in negator.finditer(hidden)
    ]
    return sorted(found, key=lambda negation: negation.start)


def modality(text: str) -> set[Modality]:
    """Limits, permissions and duties that `text` states."""
    folded = fold(text)
    # 不设上限 and "no upper limit" name a limit and state none.
    limited = MODALITY["unlimited"].sub(" ", folded)
    return {
        name
        for name, pattern in MODALITY.items()
        if pattern.search(folded if name == "unlimited" else limited)
    }


def polarity_conflict(question_or_claim: str, passage: str) -> bool:
    """Whether the passage denies what is said or presupposed: negated, its antonym, or the opposite limit.

    A yes-or-no question presupposes neither answer and never conflicts.
    """
    if YES_NO_QUESTION.search(fold(question_or_claim)):
        return False
    nearest = _nearest_clauses(question_or_claim, passage)
    return bool(nearest) and all(_opposed(question_or_claim, clause) for clause in nearest)


def _nearest_clauses(claim: str, passage: str) -> list[str]:
    """The passage's clauses that share the most terms with the claim, if they share enough."""
    wanted = _content(claim)
    if not wanted:
        return []
    shares = [
        (len(wanted & _content(passage[start:end])) / len(wanted), passage[start:end])
        for start, end in clauses(passage)
    ]
    best = max((share for share, _ in shares), default=0.0)
    if best < _SAME_SUBJECT:
        return []
    return [clause for share, clause in shares if share == best]


def _content(text: str) -> frozenset[str]:
    """Bigrams of Chinese and content words of English, negators and modal words left out."""
    folded = fold(text)
    for table in (NEGATION_LOOKALIKES, ZH_NEGATORS, ZH_SKIPPED):
        folded = table.sub(" ", folded)
    bigrams = (run[i : i + 2] for run in _HAN_RUN.findall(folded) for i in range(max(1, len(run) - 1)))
    words = (_root(word) for word in _LATIN_WORD.findall(folded) if word not in _NOT_CONTENT)
    return frozenset((*bigrams, *words))


def _opposed(claim: str, clause: str) -> bool:
    return (
        _denied(claim, clause)
        or _denied(clause, claim)
        or _antonym(claim, clause)
        or _limits_differ(claim, clause)
    )


def _denied(affirming: str, denying: str) -> bool:
    """Whether `denying` negates something that `affirming` states without negation."""
    stated = fold(affirming)
    already = {negation.target for negation in negations(affirming)}
    for negation in negations(denying):
        target = negation.target
        if not target or any(
            target.startswith(other) or other.startswith(target) for other in already if other
        ):
            continue
        if _occurs(target, stated):
            return True
    return False


def _target(folded: str, position: int) -> str:
    """Two Han characters, or one Latin word without its ending, after auxiliaries and particles."""
    while True:
        skipped = ZH_SKIPPED.match(folded, position)
        if skipped is None or skipped.end() == position:
            break
        position = skipped.end()
    for match in re.finditer(rf"[{HAN}]{{2}}|[{HAN}]|[a-z][a-z0-9_\-]*", folded[position : position + 60]):
        word = match.group()
        if word[0].isascii() and word in _NOT_CONTENT:
            continue
        return _root(word)
    return ""


def _root(word: str) -> str:
    """An English word without the commonest endings: supported, supports and supporting meet in support."""
    if not word.isascii():
        return word
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word[: -len(ending)]
    return word


def _occurs(target: str, folded: str) -> bool:
    if not target.isascii():
        return target in folded
    return any(_root(word) == target for word in _LATIN_WORD.findall(folded))


def _antonym(claim: str, clause: str) -> bool:
    left, right = fold(claim), fold(clause)
    return any(
        (one.search(left) and other.search(right) and not one.search(right) and not other.search(left))
        or (other.search(left) and one.search(right) and not other.search(right) and not one.search(left))
        for one, other in ANTONYMS
    ) and not (bool(negations(claim)) ^ bool(negations(clause)))


def _limits_differ(claim: str, clause: str) -> bool:
    claimed, stated = modality(claim), modality(clause)
    return any(
        (one in claimed and other in stated and one not in stated and other not in claimed)
        or (other in claimed and one in stated and other not in stated and one not in claimed)
        for one, other in OPPOSITE_MODALITY
    )
