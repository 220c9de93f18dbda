"""What kind of answer a question asks for, what it compares, and under which conditions it asks.

Told by forms that hold for any corpus, in Chinese and English; nothing is understood. Folded text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from service.text.folding import fold
from service.text.polarity_tables import YES_NO_QUESTION

VERSION = "questions-1"

Kind = Literal["value", "yes_no", "how_to", "comparison", "definition", "list", "other"]
ConditionKind = Literal["before", "from", "older", "newer", "platform", "only"]

_ASKS_VALUE = re.compile(
    r"多少|几(?:次|个|天|年|月|小时|分钟|秒|条|种|级|人|台|倍|位|岁|点|号|页|项|层|名|周|元)|多(?:大|长|久|高|重|远|宽|快|深)"
    r"|什么时候|何时|哪(?:一)?年|哪天|上限|下限|最大|最小"
    r"|\bhow (?:many|much|long|old|far|large|big|high|fast|often|tall|deep)\b"
    r"|\b(?:what|which) (?:year|date|percentage|number|amount|size|time|day)\b|\bwhen\b"
)
_HOW_TO = re.compile(
    r"(?:怎么(?!样?的|回事|会)|怎样|如何|咋)(?!样)|步骤|流程"
    r"|\bhow (?:do|does|can|could|should|would|to|is|are)\b|\bsteps?\b|\bprocedure\b"
)
_COMPARES = re.compile(
    r"区别|不同|差异|差别|对比|相比|哪(?:个|种|一个)(?:更|比较)|\bdifferences?\b|\bdiffers?\b|\bcompare[ds]?\b|\bversus\b|\bvs\.?(?=\s)"
)
_DEFINES = re.compile(
    r"什么(?:是|叫)|是什么(?!时候|地方|版本|类型)|(?:是|指)(?:啥|什么)意思|的?(?:含义|定义)"
    r"|\bwhat (?:is|are) (?:an? )?[^ ]+(?: [^ ]+)?\s*\??$|\bwhat does .+ mean\b|\bdefin(?:e|ition)\b"
)
_LISTS = re.compile(
    r"哪些|有哪(?:几)?(?:种|类|个)|列出|列举|都有什么"
    r"|\bwhich .+ are there\b|\blist\b|\bwhat (?:types|kinds|options|modes)\b"
)
# Two sides, each as it is written between the words that compare them.
_SIDE = r"[^，。！？,?!]{1,40}?"
_SIDES = tuple(
    re.compile(form)
    for form in (
        rf"(?P<a>{_SIDE})\s*(?:和|与|跟|同|及|、)\s*(?P<b>{_SIDE})\s*(?:之间)?(?:的|有(?:什么|何|哪些)?|相比|对比|在.{{1,12}}上)*(?:主要)?(?:区别|不同|差异|差别|相比|对比|哪(?:个|种))",
        rf"(?P<a>{_SIDE})\s*相(?:比|对于?)(?:于)?\s*(?P<b>{_SIDE})(?:有|，|,|的|$)",
        rf"differences? between (?:the )?(?P<a>{_SIDE}) and (?:the )?(?P<b>{_SIDE})\s*(?:[?]|$)",
        rf"how do(?:es)? (?:the )?(?P<a>{_SIDE}) (?:differ|compare) (?:from|to|with) (?:the )?(?P<b>{_SIDE})(?:[?]|$)",
        rf"(?:compare|comparing) (?:the )?(?P<a>{_SIDE}) (?:and|with|to|against) (?:the )?(?P<b>{_SIDE})\s*(?:[?]|$)",
        rf"(?P<a>{_SIDE})\s+(?:versus|vs\.?)\s+(?P<b>{_SIDE})\s*(?:[?]|$|,|:)",
    )
)
_LEADS = re.compile(
    r"^(?:请问|请|想知道|what (?:is|are) the |对比(?:一下)?|比较(?:一下)?|说明)\s*|\s*(?:之间)?(?:的|有什么|有何)$"
)
_VERSION = r"v?\d+(?:\.\d+){0,3}(?:\.x)?"
_CONDITIONS: tuple[tuple[ConditionKind, re.Pattern[str]], ...] = (
    ("before", re.compile(
        rf"{_VERSION}\s*(?:版本?)?\s*(?:及|或)?\s*(?:之前|以前|以下|更早|之前的?版本)"
        rf"|(?:before|prior to|earlier than|older than|up to)\s+(?:version\s+)?{_VERSION}"
    )),
    ("from", re.compile(
        rf"(?:从|自)?\s*{_VERSION}\s*(?:版本?)?\s*(?:及|或)?\s*(?:之后|以后|以上|更高|起|开始)"
        rf"|(?:since|from|after|as of|starting with)\s+(?:version\s+)?{_VERSION}"
    )),
    ("older", re.compile(r"旧版本?|老版本?|早期版本|历史版本|以前的版本"
                         r"|\b(?:old|older|earlier|previous|legacy) (?:version|release)s?\b")),
    ("newer", re.compile(r"新版本?|最新版本?|\b(?:new|newer|newest|latest) (?:version|release)s?\b")),
    ("platform", re.compile(
        r"(?:linux|windows|mac ?os|unix|ubuntu|centos|debian|android|ios|docker|kubernetes|k8s|arm64|x86)(?![a-z0-9])"
    )),
    ("only", re.compile(r"仅(?:限|在|当)?|只(?:在|有|限)|\bonly\b")),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Condition:
    """Under what the question asks; `text` as written, folded."""

    kind: ConditionKind
    text: str


def asks_value(folded: str) -> bool:
    """Whether the question asks for a quantity or a date."""
    return _ASKS_VALUE.search(folded) is not None


def kind_of(folded: str) -> Kind:
    """The first kind that the form of the question tells; a comparison of values is a comparison."""
    if _COMPARES.search(folded) and sides_of(folded):
        return "comparison"
    if YES_NO_QUESTION.search(folded):
        return "yes_no"
    if asks_value(folded):
        return "value"
    if _LISTS.search(folded):
        return "list"
    if _HOW_TO.search(folded):
        return "how_to"
    return "definition" if _DEFINES.search(folded) else "other"


def sides_of(text: str) -> tuple[str, ...]:
    """Both sides of a comparison, as written; none where the question names no two things."""
    folded = fold(text)
    for form in _SIDES:
        found = form.search(folded)
        if found is not None:
            sides = tuple(_LEADS.sub("", _LEADS.sub("", found[name].strip())).strip() for name in "ab")
            # What is compared of both stands behind the second only: VARCHAR 和 CHAR 的最大限制.
            named, _, attribute = sides[1].rpartition("的")
            if named.strip() and attribute and "的" not in sides[0]:
                sides = (sides[0], named.strip())
            if all(sides) and sides[0] != sides[1]:
                return sides
    return ()


def conditions_of(text: str) -> tuple[Condition, ...]:
    """The versions, platforms and limits under which the question asks, in order of the text."""
    return tuple(condition for _, condition in sorted(_conditions(fold(text)), key=lambda pair: pair[0]))


def _conditions(folded: str) -> Iterator[tuple[int, Condition]]:
    for kind, pattern in _CONDITIONS:
        for found in pattern.finditer(folded):
            yield found.start(), Condition(kind, found.group().strip())
