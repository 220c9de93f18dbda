"""Whether a passage speaks of another case than the question: another version, a sibling, or a part of the subject.

"Before dry cleaning" says nothing of steam cleaning, 高温预警期间 nothing of 霜冻预警期间, release 3.3 nothing of
3.4, and what holds of 试用的阀门 need not hold of 阀门. Told by forms: the same preposition or marker, the same head,
another word before it. Where no form is found nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from service.text.analysis import content_terms, stem
from service.text.folding import fold
from service.text.language import HAN
from service.text.stopwords import EN_FUNCTION, EN_QUESTION

SIBLING, NARROWER = 1.0, 0.5

_NUMBER = r"\d+(?:\.\d+)+(?:\.x)?"
_VERSION = re.compile(
    rf"(?P<lead>(?:(?:since|from|as of|starting with|before|prior to|until|up to)\s+)?"
    rf"(?:(?:the\s+)?(?:versions?|releases?)\s*|版本\s*(?:号\s*)?)?)(?<![\w.])v?(?P<number>{_NUMBER})(?!\w|\.\w|\s*%)"
    rf"(?P<tail>\s*(?:版本?|(?:release|version)(?!\w))?\s*(?:及|或|和)?\s*"
    rf"(?:以后|之后|以上|更高|起|开始|以前|之前|以下|更早|\bor (?:later|newer|earlier|older)\b)?)"
)
_NAMES_VERSION = re.compile(r"version|release|版|v\d")
_FROM = re.compile(r"since|from|as of|starting|以后|之后|以上|更高|起|开始|later|newer")
_UNTIL = re.compile(r"before|prior|until|up to|以前|之前|以下|更早|earlier|older")

# A preposition and the words it governs, up to the next word of grammar, mark or number.
_PREPOSITION = re.compile(
    r"(?<![a-z])(in|at|on|for|during|before|after|under|within|with)((?: [a-z][a-z\-]*){2,6})"
)
_MARKER = re.compile(rf"([{HAN}]{{3,10}}?)(期间|的情况下|之前|之后|以前|以后|时(?![间长限刻候]))")
_COVERB = re.compile(rf"(给|对)([{HAN}]{{3,8}})")
# How many or which of its kind there are makes no sibling: "for how many hours", "for nine hours".
_COUNTS = EN_QUESTION | frozenset(
    "several few some most all each every both other same next last first second third one two"
    " three four five six seven eight nine ten eleven twelve hundred thousand single given certain".split()
)
# Before a shared head these are verbs that any case may have: 发生故障时 holds for 网络故障时 too.
_ANY_CASE = re.compile("(?:发生|出现|遇到|遇上|进行|处于|收到|发出|解除|任何|所有|上述|这种|该类|此类|有关)$")
_NARROWED_ZH = re.compile(rf"(?:^|(?<=[，。；：,;:\n]))([{HAN}]{{2,4}})的([{HAN}]{{2,6}})", re.M)
_NARROWS_NOTHING = re.compile(
    "这|那|我|你|他|它|其|所有|全部|每|最|不同|相关|一般|默认|正确|完整|当前|对应|已|被|后|前|中"
)
_NARROWED_EN = re.compile(r"(?<![a-z])([a-z]{3,}) of (?:the|an?) ([a-z]{3,} [a-z]{3,})(?![a-z])")


@dataclass(frozen=True, slots=True)
class _Versions:
    """A version named, alone or as a bound."""

    number: tuple[int, ...]
    bound: Literal["is", "from", "until"]

    def holds_for(self, other: _Versions) -> bool:
        """Whether what is said of this one is said of the other; of two bounds nothing is known, so it may be."""
        if other.bound != "is":
            return True
        if self.bound == "from":
            return other.number >= self.number
        if self.bound == "until":
            return other.number <= self.number
        short = min(len(self.number), len(other.number))
        return self.number[:short] == other.number[:short]


def another_version(question: str, passage: str) -> bool:
    """Whether the passage names versions, and none of them is, or takes in, one that the question names."""
    asked, named = list(_versions(question)), list(_versions(passage))
    return bool(asked and named) and not any(one.holds_for(other) for one in named for other in asked)


def another_case(question: str, passage: str) -> float:
    """SIBLING where the passage speaks of another version or of a sibling of what is asked about, NARROWER where of a
    part of it only, else 0."""
    asked, said = fold(question), fold(passage)
    if another_version(question, passage) or _sibling(asked, said):
        return SIBLING
    return NARROWER if _narrower(asked, said) else 0.0


def _versions(text: str) -> Iterator[_Versions]:
    for found in _VERSION.finditer(fold(text)):
        if _NAMES_VERSION.search(found.group()):
            around = f"{found['lead']} {found['tail']}"
            number = tuple(int(part) for part in found["number"].split(".") if part.isdigit())
            yield _Versions(
                number, "from" if _FROM.search(around) else "until" if _UNTIL.search(around) else "is"
            )


def _sibling(asked: str, said: str) -> bool:
    for cases in (_governed, _marked, _given):
        for frame, case in cases(asked):
            others = [other for found, other in cases(said) if found == frame]
            compare = _AS.get(frame, _english)
            if any(compare(case, other) for other in others) and not any(case in other for other in others):
                return True
    return False


def _governed(folded: str) -> Iterator[tuple[str, str]]:
    for found in _PREPOSITION.finditer(folded):
        words: list[str] = []
        for word in found[2].split():
            if word in EN_FUNCTION or word in _COUNTS:
                if words:
                    break
                continue
            words.append(stem(word))
        if len(words) > 1:
            yield found[1], " ".join(words)


def _marked(folded: str) -> Iterator[tuple[str, str]]:
    return ((found[2], found[1]) for found in _MARKER.finditer(folded))


def _given(folded: str) -> Iterator[tuple[str, str]]:
    return ((found[1], found[2]) for found in _COVERB.finditer(folded))


def _english(case: str, other: str) -> bool:
    """ "steam clean" and "dry clean": the head of the one with another word before it in the other."""
    *_, modifier, head = case.split()
    words = other.split()
    return any(
        word == head and at > 0 and words[at - 1] != modifier and modifier not in words
        for at, word in enumerate(words)
    )


def _before_marker(case: str, other: str) -> bool:
    """霜冻预警 and 高温预警: the same last two characters, and before them words that share none."""
    shared = 0
    while shared < min(len(case), len(other)) and case[-1 - shared] == other[-1 - shared]:
        shared += 1
    one, two = case[: len(case) - shared][-2:], other[: len(other) - shared][-2:]
    return shared >= 2 and len(one) == len(two) == 2 and not set(one) & set(two) and not _ANY_CASE.search(two)


def _after_coverb(case: str, other: str) -> bool:
    """育苗棚通风 and 成株棚通风: the same two characters after words that share none."""
    for i in (2, 3):
        for j in (2, 3):
            if case[i : i + 2] == other[j : j + 2] and len(case[i : i + 2]) == 2:
                return not set(case[:i]) & set(other[:j])
    return False


_AS = {
    **dict.fromkeys("期间 的情况下 之前 之后 以前 以后 时".split(), _before_marker),
    **dict.fromkeys("给 对".split(), _after_coverb),
}


def _narrower(asked: str, said: str) -> bool:
    """Whether the passage names what the question opens with under words of its own that narrow it."""
    terms = content_terms(asked)
    pairs = [(m[1], m[2]) for m in _NARROWED_ZH.finditer(said) if not _NARROWS_NOTHING.search(m[1])]
    opening = next((term for term in terms if len(term) > 1), "")
    if any(head.startswith(opening) and _of_its_own(modifier, asked, terms) for modifier, head in pairs):
        return bool(opening)
    return any(stem(m[1]) in terms and _of_its_own(m[2], asked, terms) for m in _NARROWED_EN.finditer(said))


def _of_its_own(modifier: str, asked: str, terms: list[str]) -> bool:
    own = content_terms(modifier)
    return bool(own) and modifier not in asked and not any(term in terms for term in own)
