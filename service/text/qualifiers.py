"""What a question narrows its subject by: "passwords of privileged accounts", 特权账号的密码.

A rule about passwords does not answer for privileged accounts where nothing that was found speaks of them. Only
forms that surely narrow are read: an English adjective before its noun, a Chinese word before 的 and its noun.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from service.text.analysis import analyse, content_terms
from service.text.folding import fold
from service.text.language import HAN, language
from service.text.stopwords import STOP_WORDS

# Endings of adjectives and participles that narrow a noun; words of degree and of asking are none.
_ADJECTIVE = re.compile(r"[a-z]{3,}(?:ed|al|ive|ary|ical|ous|ent|ant|ory)")
_NARROWS_NOTHING = frozenset(
    "different recent current important general total annual several various normal usual typical additional initial"
    " original final actual overall related required needed used called named based allowed supported expected"
    " provided recommended maximal minimal optional individual need present most least local special".split()
)
_SAID_OF_SUBJECT = re.compile(
    r"\b(?:is|are|was|were|be|been|being|has|have|had|get|got)(?: \w+ly| not| later| first| also)? $"
)
# "Commercial use" is held by "used commercially": letters that two words of one family share.
_FAMILY = 5
_PAIR = re.compile(r"(?<![a-z])([a-z]+) ([a-z]{3,})(?![a-z])")
_OF = re.compile(rf"([{HAN}]{{2,8}})的([{HAN}]{{2,6}})")
_ZH_NARROWS_NOTHING = re.compile(
    "这|那|哪|什么|我|你|他|它|其|所有|全部|每|最|不同|相关|具体|主要|一般|默认|正确|完整|当前|对应|可以|现在|目前|如今|今[年天]"
)


@dataclass(frozen=True, slots=True)
class Qualifier:
    """`text` narrows `head`; both as written, folded."""

    text: str
    head: str


def qualifiers(question: str) -> tuple[Qualifier, ...]:
    return tuple(_qualifiers(fold(question), question, language(question)))


def _qualifiers(folded: str, written: str, spoken: str) -> Iterator[Qualifier]:
    if spoken == "zh":
        for found in _OF.finditer(folded):
            if not _ZH_NARROWS_NOTHING.search(found[1]):
                yield Qualifier(found[1], found[2])
        return
    at = 0
    while (pair := _PAIR.search(folded, at)) is not None:
        at = pair.end(1)
        word, head = pair.groups()
        # What follows "was" is said of the subject and narrows nothing; a name is no kind of thing to narrow.
        if _SAID_OF_SUBJECT.search(folded, 0, pair.start()) or written[pair.start(2)].isupper():
            continue
        if _ADJECTIVE.fullmatch(word) and not {word, head} & (STOP_WORDS | _NARROWS_NOTHING):
            yield Qualifier(word, head)


def unheld(question: str, held: Collection[str]) -> Qualifier | None:
    """The first qualifier of which the found texts hold nothing, while they speak of what it narrows. `held` are
    their terms."""
    for qualifier in qualifiers(question):
        own = content_terms(qualifier.text) or analyse(qualifier.text)
        if (
            own
            and not any(_held(term, held) for term in own)
            and any(t in held for t in analyse(qualifier.head))
        ):
            return qualifier
    return None


def _held(term: str, held: Collection[str]) -> bool:
    if term in held:
        return True
    family = term[:_FAMILY]
    return len(family) == _FAMILY and family.isascii() and any(other.startswith(family) for other in held)
