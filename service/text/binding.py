"""Which sentences are not to be parted: a condition and its consequence, a rule and its exception.

Told by how a sentence opens and how the one before it ends; nothing is understood.
"""

from __future__ import annotations

import re

from service.text.anchors import find_anchors, is_hard
from service.text.folding import fold

# Takes up the sentence before it, whatever stands between the two: without it the reader loses the rule.
_CONTINUES = re.compile(
    r"(?:第[一二三四五六七八九十百\d]+次(?:后)?(?:仍|还|再|依然)|(?:如果?|若|倘若)(?:第[一二三四五六七八九十百\d]+次|仍|还|依然)"
    r"|仍|否则|除非|除外|例外|但|不过|然而|可是|反之|此时|这时|届时)"
    r"|(?:otherwise|however|unless|but|except|if not|if so|if (?:it|this|that|they) still|in (?:this|that) case"
    r"|(?:if|when) the \w+ (?:attempt|try|retry))\b"
)
# A condition of its own: a list may be made of them, so they lean on the sentence before within a paragraph only.
_CONDITION = re.compile(
    r"(?:如果|若(?!干)|假如|倘若|要是|一旦|只有|只要|当(?!前|时(?!间|刻)|地|天|年|日|月|中|今|然|局|初|事))|(?:if|when|once)\b"
)
_MARKER = re.compile(r"(?:[\s>#*+\-_“\"「『（(]|\d{1,3}[.)、）]|[①-⑳])+")
_INTRODUCES = re.compile(r"[:：]\W*$")
_UNFINISHED = re.compile(r"[,，;；、]\s*$")
_APART = re.compile(r"\n[\s>]*\n")
_LONGEST_NAME = 60
_SAYS = re.compile(r"[。！？!?;；，,|]|[.:：]$")
_WORDS = re.compile(r"[\u3400-\u9fff]{1,2}|[^\W\d_\u3400-\u9fff]+")
_ITEM = re.compile(r"\s*(?:[-*+•·]\s|\d{1,3}[.)、）]|[(（]\d{1,3}[)）]|[①-⑳])")


def bound(first: str, gap: str, second: str) -> bool:
    """Whether two neighbouring sentences (or blocks), with `gap` between them, should stay together."""
    if _INTRODUCES.search(first[-8:]):
        return True
    marker = _MARKER.match(second)
    opening = fold(second[marker.end() if marker else 0 :][:40])
    if _CONTINUES.match(opening):
        return True
    if _APART.search(gap) or _ITEM.match(second):
        return False
    return _UNFINISHED.search(first[-8:]) is not None or _CONDITION.match(opening) is not None


def names_only(line: str) -> bool:
    """Whether a line only names something, an error code or an option: what is said of it follows."""
    marker = _MARKER.match(line)
    said = line[marker.end() if marker else 0 :].strip()
    if not said or len(said) > _LONGEST_NAME or _SAYS.search(said):
        return False
    names = [anchor for anchor in find_anchors(said) if is_hard(anchor)]
    if len(names) != 1:
        return False
    rest = said[: names[0].start] + " " + said[names[0].end :]
    return len(_WORDS.findall(rest)) <= 2
