"""Two sentences that are alike but for one thing: which stretch of the one stands in the place of which of the other?

"The game was played in Tampa" and "the game was played in Glendale" say the same with another name in one place.
Told by words in their order alone, so it needs no list of names and holds for Chinese and English.
"""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher

from service.text.folding import fold
from service.text.language import HAN

_WORD = re.compile(rf"[{HAN}]|\d+(?:[.,:]\d+)*|[^\W\d_{HAN}]+")
_WITHIN = (
    2  # words that two names may share in one place: Bank of China, Bank of Japan; 加里·罗斯, 詹姆斯·卡梅隆
)
_SHARED = 0.6  # of the shorter sentence's words, from which on two sentences are alike


def all_but_one(one: str, other: str) -> str | None:
    """What both sentences say, where one thing in `one` stands in the place of another in `other`: `one` without it,
    folded. None where they differ in more, or in nothing.

    The same exchange may come up again: a name that is said twice. A word more or less is no exchange.
    """
    folded = fold(one)
    places = [found.span() for found in _WORD.finditer(folded)]
    mine, theirs = [folded[a:b] for a, b in places], _WORD.findall(fold(other))
    enough = _SHARED * min(len(mine), len(theirs))
    if (Counter(mine) & Counter(theirs)).total() < enough:
        return None
    changes = _changes(mine, theirs)
    exchanged = {(tuple(mine[a:b]), tuple(theirs[c:d])) for a, b, c, d in changes}
    if len(exchanged) != 1 or not all(exchanged.pop()):
        return None
    if len(mine) - sum(b - a for a, b, _, _ in changes) < enough:
        return None
    for a, b, _, _ in reversed(changes):
        folded = f"{folded[: places[a][0]]} {folded[places[b - 1][1] :]}"
    return folded


def exchanges(one: str, other: str) -> bool:
    """Whether anywhere words of `one` stand in the place of other words of `other`; words more or less are none."""
    mine, theirs = _WORD.findall(fold(one)), _WORD.findall(fold(other))
    return any(a < b and c < d for a, b, c, d in _changes(mine, theirs))


def _changes(mine: list[str], theirs: list[str]) -> list[tuple[int, int, int, int]]:
    """[start, end) in the one and in the other of each stretch that differs; what is hardly apart is one stretch."""
    found: list[tuple[int, int, int, int]] = []
    for kind, a, b, c, d in SequenceMatcher(None, mine, theirs, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        if found and a - found[-1][1] <= _WITHIN:
            found[-1] = (found[-1][0], b, found[-1][2], d)
        else:
            found.append((a, b, c, d))
    return found
