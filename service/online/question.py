"""Question analysis: what must match exactly, what is meant, and what may not be asked.

The question's own words are kept; nothing here rewrites an anchor.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from service.domain.answers import Reason
from service.profiles.rules import Rule, bypass_match, first_match
from service.text.analysis import content_terms, query_terms
from service.text.anchors import Anchor, find_anchors, is_hard
from service.text.folding import fold
from service.text.language import language

# Question forms that ask for a value, in folded text. Forms, not topics: they hold for any corpus.
_ASKS_VALUE = re.compile(
    r"多少|几(?:次|个|天|年|月|小时|分钟|秒|条|种|级|人|台|倍|位|岁|点|号|页|项|层|名|周|元)|多(?:大|长|久|高|重|远|宽|快|深)"
    r"|什么时候|何时|哪(?:一)?年|哪天|上限|下限|最大|最小"
    r"|\bhow (?:many|much|long|old|far|large|big|high|fast|often|tall|deep)\b"
    r"|\b(?:what|which) (?:year|date|percentage|number|amount|size|time|day)\b|\bwhen\b"
)


@dataclass(frozen=True, slots=True)
class Analysis:
    """The parsed question. `hard` are anchors an answer must match exactly; `anchors` all canonical forms.

    `terms` are looked for; `content` is what the question is about, and what evidence has to cover.
    """

    text: str
    folded: str
    language: str
    terms: tuple[str, ...]
    content: tuple[str, ...]
    hard: tuple[Anchor, ...]
    anchors: tuple[str, ...]
    asks_value: bool


def analyse(text: str) -> Analysis:
    found = find_anchors(text)
    folded = fold(text)
    return Analysis(
        text=text,
        folded=folded,
        language=language(text),
        terms=tuple(query_terms(text)),
        content=tuple(content_terms(text)),
        hard=tuple(anchor for anchor in found if is_hard(anchor)),
        anchors=tuple(dict.fromkeys(anchor.canonical for anchor in found)),
        asks_value=_ASKS_VALUE.search(folded) is not None,
    )


def forbidden(analysis: Analysis, out_of_scope: Iterable[Rule]) -> tuple[Reason, str] | None:
    """The reason and rule id when the question may not be answered whatever the documents say."""
    rule = bypass_match(analysis.folded)
    if rule is not None:
        return Reason.POLICY_BYPASS_REQUEST, rule.rule_id
    rule = first_match(out_of_scope, analysis.folded)
    if rule is not None:
        return Reason.QUESTION_OUT_OF_SCOPE, rule.rule_id
    return None
